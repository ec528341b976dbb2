package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/fault"
)

func serve(t *testing.T, options ...mockserver.Option) *mockserver.Server {
	t.Helper()
	server := mockserver.New(append(options, mockserver.WithVirtualClock(time.Time{}))...)
	t.Cleanup(server.Close)
	t.Setenv(shipping.EnvBaseURL, server.URL)
	t.Setenv(shipping.EnvSecretKey, server.SecretKey)
	return server
}

func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	return out.String()
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// column returns a column of a CSV without its heading.
func column(t *testing.T, text, name string) []string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.Index(rows[0], name)
	var cells []string
	for _, row := range rows[1:] {
		cells = append(cells, row[i])
	}
	return cells
}

func TestDemonstrationNeedsNoSetUp(t *testing.T) {
	t.Setenv(shipping.EnvBaseURL, "")
	folder := t.TempDir()
	out := mustRun(t, "-out", folder)
	for _, want := range []string{"of 215 rows read", "Running total", "ledger.csv and ledger.html are in " + folder} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	page := read(t, folder, "ledger.html")
	for _, want := range []string{"<svg", "prefers-color-scheme: dark", "default-src 'none'", "Payment for shipment label, DHL Express Worldwide", "Regulatory documents, ", `class="bar" style="width: 100.0%"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the report has no %q", want)
		}
	}
	for _, never := range []string{"<script", "src=", "href=", "url(", "http:", "https:"} {
		if strings.Contains(page, never) {
			t.Errorf("the report is not self-contained: %q", never)
		}
	}
}

// The sum of the CSV is the balance of the wallet, and the report has the same. Reversed payments counted as 0 and their
// reversals as income, so that the running total was too large.
func TestTheTotalIsTheBalance(t *testing.T) {
	server := serve(t)
	for _, wallet := range server.Wallets() {
		folder := t.TempDir()
		out := mustRun(t, "-wallet", wallet, "-out", folder)
		var got shipping.Amount
		for _, cell := range column(t, read(t, folder, csvName), "amount") {
			amount, err := shipping.ParseAmount(cell)
			if err == nil {
				got, err = got.Add(amount)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if balance, _ := server.Balance(wallet); got != balance || !strings.Contains(out, "Running total") || !strings.Contains(out, money(balance)) {
			t.Errorf("the CSV of %s adds up to %s, the balance is %s, and the program prints\n%s", wallet, got, balance, out)
		}
	}
}

// The service begins to refuse after some pages; the next run continues, also if the rows written after
// the last page that counts is only half there.
func TestAnUnfinishedExportGoesOn(t *testing.T) {
	server := serve(t)
	whole := t.TempDir()
	args := []string{"-wallet", server.Wallets()[0], "-per-page", "5"}
	mustRun(t, append(args, "-out", whole)...)

	folder := t.TempDir()
	args = append(args, "-out", folder)
	refusing := fault.Rule{Operation: shipping.OpListTransactions, Fault: fault.Status(http.StatusForbidden, nil)}
	err := run(t.Context(), args, &watcher{word: "rows read", then: func() {
		if err := server.Inject(refusing); err != nil {
			t.Error(err)
		}
	}})
	server.ClearFaults()
	if err == nil || !strings.Contains(err.Error(), "run the same command again") {
		t.Fatalf("the first run: %v", err)
	}
	if _, err := os.Stat(filepath.Join(folder, csvName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an unfinished CSV has its name already: %v", err)
	}
	part, err := os.OpenFile(filepath.Join(folder, partName), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.WriteString("2026-01-01T00:00:00Z,TR-HALF"); err != nil {
		t.Fatal(err)
	}
	part.Close()
	if err := run(t.Context(), []string{"-wallet", server.Wallets()[1], "-out", folder}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "choose another -out") {
		t.Errorf("another wallet into the same folder: %v", err)
	}
	mustRun(t, args...)
	if d := cmp.Diff(read(t, whole, csvName), read(t, folder, csvName)); d != "" {
		t.Errorf("the CSV of two runs (-one +two):\n%s", d)
	}
	for _, name := range []string{partName, tokenName} {
		if _, err := os.Stat(filepath.Join(folder, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left over: %v", name, err)
		}
	}
}

// watcher calls a function once a text is written.
type watcher struct {
	word string
	then func()
	done bool
}

func (w *watcher) Write(p []byte) (int, error) {
	if !w.done && bytes.Contains(p, []byte(w.word)) {
		w.done = true
		w.then()
	}
	return len(p), nil
}

func TestRowsThatArriveMeanwhileAreNotCountedTwice(t *testing.T) {
	server := serve(t)
	before := t.TempDir()
	args := []string{"-wallet", server.Wallets()[0], "-per-page", "20"}
	mustRun(t, append(args, "-out", before)...)
	if err := server.Inject(fault.Rule{Operation: shipping.OpListTransactions, Nth: 3, Fault: fault.InsertRows(7)}); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	out := mustRun(t, append(args, "-out", folder)...)
	ids := column(t, read(t, folder, csvName), "transaction_id")
	old := column(t, read(t, before, csvName), "transaction_id")
	seen := map[string]int{}
	for _, id := range ids {
		seen[id]++
	}
	for _, id := range old {
		if seen[id] != 1 {
			t.Errorf("%s is in the CSV %d times", id, seen[id])
		}
	}
	if len(seen) != len(ids) {
		t.Errorf("%d rows, %d of them different\n%s", len(ids), len(seen), out)
	}
}

func TestARowSaysWhatABookkeeperShouldKnow(t *testing.T) {
	t.Parallel()
	amount := func(text string) shipping.Amount {
		a, err := shipping.ParseAmount(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	var unreadable shipping.Amount
	if err := unreadable.UnmarshalJSON([]byte(`"lots"`)); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		transaction shipping.Transaction
		amount      string
		doubt       string
		unbooked    bool
	}{
		"money out":       {shipping.Transaction{Amount: amount("19.99"), FlatAmount: 1999, Flow: shipping.FlowOut, Status: shipping.TransactionSuccess}, "-19.99", "", false},
		"money in":        {shipping.Transaction{Amount: amount("0.29"), FlatAmount: 29, Flow: shipping.FlowIn, Status: shipping.TransactionPending}, "0.29", "", false},
		"reversed":        {shipping.Transaction{Amount: amount("5"), FlatAmount: 500, Flow: shipping.FlowOut, Reversed: true, Status: shipping.TransactionSuccess}, "-5", "reversed: ", false},
		"flat amount off": {shipping.Transaction{Amount: amount("19.99"), FlatAmount: 1998, Flow: shipping.FlowOut, Status: shipping.TransactionSuccess}, "-19.99", "flat_amount is 1998, not the amount 19.99 times 100", false},
		"unknown flow":    {shipping.Transaction{Amount: amount("1"), FlatAmount: 100, Flow: "around", Status: shipping.TransactionSuccess}, "", `its flow is "around"`, true},
		"unreadable":      {shipping.Transaction{Amount: unreadable, Flow: shipping.FlowOut, Status: shipping.TransactionSuccess}, "", "amount is not a decimal number", true},
	} {
		row, booked := line(&tc.transaction)
		if row[7] != tc.amount || !strings.Contains(row[10], tc.doubt) || (tc.doubt == "") != (row[10] == "") || booked == tc.unbooked {
			t.Errorf("%s: amount %q, doubt %q, booked %t", name, row[7], row[10], booked)
		}
	}
	row, _ := line(&shipping.Transaction{Description: `=HYPERLINK("x")`, Flow: shipping.FlowOut})
	if row[2] != `'=HYPERLINK("x")` || row[0] != "" {
		t.Errorf("a description that looks like a formula: %q, a time that is not there: %q", row[2], row[0])
	}
}

// Whatever the rows are, a report comes out of it.
func TestBooksOfOddRows(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), csvName)
	var lines bytes.Buffer
	rows := csv.NewWriter(&lines)
	_ = rows.Write(columns())
	for _, row := range [][]string{
		{"2026-03-01T10:00:00Z", "TR-3", "<b>Label</b> for RD-ABCD1234", "SH-1", "out", "success", "2.5", "-2.5", "USD", "false", ""},
		{"2026-03-01T09:00:00Z", "TR-2", "Top-up", "", "in", "pending", "10.001", "10.001", "USD", "false", ""},
		{"", "TR-1", "", "", "out", "success", "1", "-1", "USD", "false", "unknown flow"},
		{"2026-01-01T09:00:00Z", "TR-0", "Lost", "", "out", "success", "unreadable", "", "EUR", "false", "amount is not a decimal number"},
	} {
		_ = rows.Write(row)
	}
	rows.Flush()
	if err := os.WriteFile(path, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	books, err := readBooks(path, map[string]string{"SH-1": "Kite"})
	if err != nil || len(books) != 2 || books[0].Currency != "EUR" || books[1].Currency != "USD" {
		t.Fatalf("%+v, %v", books, err)
	}
	want := []figure{{"Money in", "10.001"}, {"Money out", "-3.50"}, {"Running total", "6.501"}, {"Still pending", "10.001"}, {"Rows reversed", "0"}, {"Rows in doubt", "1"}}
	if d := cmp.Diff(want, books[1].Figures()); d != "" {
		t.Errorf("figures (-want +got):\n%s", d)
	}
	page, err := render("VA-1", books)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"&lt;b&gt;Label&lt;/b&gt;, Kite", "(no description)", "not booked", "1 March 2026: 6.501"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the report has no %q", want)
		}
	}
	if empty, err := render("VA-1", nil); err != nil || !strings.Contains(string(empty), "No transactions") {
		t.Errorf("an empty wallet: %v", err)
	}
}

func TestItSaysWhatToDo(t *testing.T) {
	server := serve(t)
	var help bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-carriers") {
		t.Errorf("help: %v\n%s", err, &help)
	}
	if err := run(t.Context(), nil, &help); err == nil || !strings.Contains(err.Error(), "-wallet VA-") {
		t.Errorf("without a wallet: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := run(ended, []string{"-wallet", server.Wallets()[0], "-out", t.TempDir()}, &help); err == nil || !strings.Contains(err.Error(), "nothing is lost") {
		t.Errorf("interrupted: %v", err)
	}
	path := filepath.Join(t.TempDir(), "carriers.csv")
	for content, says := range map[string]string{"": "shipment_id and carrier", "shipment,carrier\n": `it is "shipment,carrier"`} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run(t.Context(), []string{"-wallet", server.Wallets()[0], "-out", t.TempDir(), "-carriers", path}, &help); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("carriers %q: %v", content, err)
		}
	}
}

// A service that decides otherwise where the specification leaves it open has the same books.
func TestAServiceThatChoosesOtherwise(t *testing.T) {
	rows := func(options ...mockserver.Option) []string {
		server, folder := serve(t, options...), t.TempDir()
		mustRun(t, "-wallet", server.Wallets()[0], "-out", folder)
		ids := column(t, read(t, folder, csvName), "transaction_id")
		slices.Sort(ids)
		return ids
	}
	if want, got := rows(), rows(mockserver.WithAssumptions(assumption.Contrary)); len(want) == 0 || !slices.Equal(want, got) {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
}
