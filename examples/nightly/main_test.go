package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// Nights share shipments. In the first, the response to a purchase is lost, another purchase is lost before it takes
// effect, and the budget suffices for a part.
func TestNights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := mockserver.New(mockserver.WithScenario("shipments30"), mockserver.WithoutListener())
		defer server.Close()
		lost := []fault.Rule{
			{Operation: shipping.OpPurchase, Nth: 1, Committed: true, Fault: fault.Drop()},
			{Operation: shipping.OpPurchase, Nth: 2, Fault: fault.Drop()},
		}
		shippingtest.NoError(t, server.Inject(lost...))
		folder := t.TempDir()
		j := job{client: server.Client(t), wallet: server.Wallets()[0], folder: folder,
			list: filepath.Join(folder, "shipments.txt")}
		path := filepath.Join(folder, "batch.journal")
		var older []byte // the journal after the first night
		for _, run := range []struct {
			night, budget string
			from, to      int
			code          int
			advice        string
			buys          bool
		}{
			// An unknown purchase, and over budget. Then the purchase is settled, and the rest is over budget.
			{"2026-11-26", "250000 NGN", 0, 20, 75, "run night 2026-11-26 again", true},
			{"2026-11-26", "250000 NGN", 0, 20, 3, "the budget of this night is spent: keep the open ship", true},
			{"2026-11-27", "2000000 NGN", 10, 30, 0, "", true}, // the budget of another night
			{"2026-11-28", "2000000 NGN", 0, 30, 0, "", true},
			// Once, without counts that are all 0.
			{"2026-11-28", "1 USD", 0, 30, 2, "correct the currency of -budget", false},
			{"2026-11-30", "1 NGN", 0, 0, 2, "no shipments were read: correct the list: ", false}, // an export that failed
			{"2026-11-29", "1 NGN", 0, 30, 0, "", false},                                          // no new shipments
			// One wrong id stopped the whole night.
			{"2026-11-29", "2000000 NGN", 0, 31, 2, "XXX\" is left out: shipping: batch: Item has the key \"SH-XX", true},
		} {
			var err error
			if j.budget, err = shipping.ParseBudget(run.budget); err != nil {
				t.Fatal(err)
			}
			ids := append(server.Shipments()[:30:30], "SH-"+strings.Repeat("X", 3000)+" SH-MAGICFAILALWAYS")[run.from:run.to]
			shippingtest.NoError(t, os.WriteFile(j.list, []byte(strings.Join(ids, "\n")), 0o600))
			j.night = run.night
			before := server.Requests(shipping.OpPurchase)
			results, _ := os.ReadFile(filepath.Join(folder, "documents.csv"))
			again, err := j.run(t.Context())
			code, advice := j.exit(again, err)
			if after, _ := os.ReadFile(filepath.Join(folder, "documents.csv")); len(ids) == 0 && !bytes.Equal(after, results) {
				t.Error("an empty list emptied documents.csv")
			}
			if text := fmt.Sprint(err, advice); code != run.code || !strings.Contains(text, run.advice) {
				t.Errorf("%s: exit %d, %s; want %d, %q", run.night, code, text, run.code, run.advice)
			}
			shippingtest.Diff(t, run.night+" buys", run.buys, server.Requests(shipping.OpPurchase) > before)
			server.CheckInvariants(t)
			server.Lint(t) // nothing was bought twice
			if older == nil {
				older = shippingtest.Must(os.ReadFile(path))(t)
			}
		}
		reconcile(t, folder)
		closing := []string{"-out", folder, "-note", "ticket 4711", "-outcome"}
		if err := commandOf([]string{"resolve"})(t.Context(), append(closing, "charge", "SH-MAGICFAILALWAYS")); err == nil {
			t.Error("an outcome that is not one was taken")
		}
		if err := commandOf([]string{"resolve"})(t.Context(), append(closing, "charged", "RD-1")); err == nil {
			t.Error("a request was taken for a shipment")
		}
		shippingtest.NoError(t, commandOf([]string{"resolve"})(t.Context(), append(closing, "charged", "SH-MAGICFAILALWAYS")))
		all := strings.Join(append(server.Shipments(), "SH-MAGICFAILALWAYS"), "\n")
		shippingtest.NoError(t, os.WriteFile(j.list, []byte(all), 0o600))
		if code, advice := j.exit(j.run(t.Context())); code != 0 {
			t.Errorf("after resolve: exit %d, %s", code, advice)
		}
		for _, row := range table(t, filepath.Join(folder, "documents.csv")) {
			if noted := row["note"] == "ticket 4711"; noted != (row["state"] == "closed") {
				t.Errorf("the note of a person: %v", row)
			}
		}
		bought := server.Requests(shipping.OpPurchase)
		// A charge above its cost was reported by one run only, and by none after a kill. It stops all nights.
		overcharge := fault.Rule{Operation: shipping.OpPurchase, Nth: 1, Committed: true, Fault: fault.Respond(200, nil,
			`{"status":true,"message":"","data":{"status":"processing","charged_amount":90000000}}`)}
		shippingtest.NoError(t, server.Inject(overcharge))
		const charged = "SH-MAGICCUSTOMSONLY"
		const next = "keep the open shipments in the list of the next night"
		for _, night := range [][2]string{
			{"2026-12-01", charged}, {"2026-12-01", charged + " SH-MAGICGENERATESLOWLY"},
			{"2026-12-02", "SH-MAGICGENERATESLOWLY"},
		} {
			shippingtest.NoError(t, os.WriteFile(j.list, []byte(night[1]), 0o600))
			j.night = night[0]
			again, err := j.run(t.Context())
			code, advice := j.exit(again, err)
			text := j.forOperators(err)
			if n := server.Requests(shipping.OpPurchase) - bought; n != 1 || code != 1 ||
				!strings.Contains(text, "nightly resolve -out "+folder+" -note TICKET -outcome charged "+charged+"; until") ||
				!strings.HasPrefix(advice, "a person must do what these lines state, then run night") {
				t.Errorf("%s: exit %d after %d purchases, %s, %s", night, code, n, text, advice)
			}
		}
		shippingtest.NoError(t, commandOf([]string{"resolve"})(t.Context(), append(closing, "charged", charged)))
		j.night = "2026-12-01" // the last line advised to raise the budget above the wrong charge
		if code, advice := j.exit(j.run(t.Context())); code != 3 ||
			advice != "more than the budget of this night is spent: "+next {
			t.Errorf("the night of the charge: exit %d, %s", code, advice)
		}
		j.night = "2026-12-02"
		if code, advice := j.exit(j.run(t.Context())); code != 0 || server.Requests(shipping.OpPurchase) != bought+2 {
			t.Errorf("after resolve: exit %d, %s", code, advice)
		}
		shippingtest.NoError(t, os.WriteFile(j.list, []byte(all), 0o600))
		missing := j
		missing.list += ".none"
		if code, _ := missing.exit(missing.run(t.Context())); code != 2 {
			t.Errorf("a list that is missing: exit %d", code)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if again, err := j.run(ended); err == nil || !again {
			t.Errorf("after SIGTERM: %v, again %v", err, again)
		}
		before := shippingtest.Must(os.ReadFile(filepath.Join(folder, "wallet.csv")))(t)
		for status, want := range map[int]string{503: "run night", 409: "run night", 423: "run night", 200: "run night",
			401: ": correct SHIPPING_SECRET_KEY", 404: ": correct -wallet"} {
			server.ClearFaults()
			unread := fault.Rule{Operation: shipping.OpListTransactions, Fault: fault.Status(status, nil)}
			shippingtest.NoError(t, server.Inject(unread))
			again, err := j.run(t.Context())
			if _, advice := j.exit(again, err); !strings.Contains(fmt.Sprint(err, advice), want) {
				t.Errorf("a wallet that cannot be read, %d: %v, %s", status, err, advice)
			}
		}
		if after, err := os.ReadFile(filepath.Join(folder, "wallet.csv")); !bytes.Equal(after, before) {
			t.Errorf("the file of the last night is gone: %v", err)
		}
		server.ClearFaults()
		if code, advice := j.exit(j.run(t.Context())); code != 0 {
			t.Errorf("once the service can read the list: exit %d, %s", code, advice)
		}
		for name, least := range map[string]int{"rates.csv": 80, "wallet.csv": 200, "documents.csv": 30, "causes.csv": 1} {
			text, err := os.ReadFile(filepath.Join(folder, name))
			if lines := strings.Count(string(text), "\n"); err != nil || lines < least {
				t.Errorf("%s has %d lines: %v", name, lines, err)
			}
		}
		// An older copy of the journal, and a new one, bought everything again that they did not have.
		shippingtest.NoError(t, os.Rename(path, filepath.Join(folder, "moved")))
		results := filepath.Join(folder, "documents.csv")
		last := shippingtest.Must(os.ReadFile(results))(t)
		evidence := map[string]string{} // by shipment
		for _, row := range table(t, results) {
			evidence[row["shipment"]] = row["not bought"]
		}
		purchases := server.Requests(shipping.OpPurchase)
		write := func(path, text string) func() error {
			return func() error { return os.WriteFile(path, []byte(text), 0o600) }
		}
		buysInvoice := func() error { // of a request that the service no longer shows
			purchases++
			_, err := j.client.Regulatory.AnalyzeAndPoll(t.Context(), &shipping.AnalyzeRequest{FileURL: server.Invoices()[0]},
				&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAutomated})
			return errors.Join(err, server.Inject(fault.Rule{Operation: shipping.OpGetRequest, Fault: fault.Status(404, nil)}))
		}
		heading, unknown := "shipment,state,request,night,charged\n", "SH-9,completed,RD-9,2026-11-28,5\n"
		const lacks = "purchases that batch.journal lacks"
		for _, test := range []struct {
			before func() error
			note   string
			wallet string
			code   int
			want   string
		}{
			{func() error { return nil }, "", "", 2, "batch.journal is missing"},
			{func() error { return nil }, "ticket 4712", server.Wallets()[1], 2, "-record: wallet"},
			{func() error { return nil }, "", server.Wallets()[1], 2, "batch.journal is missing"}, // it was not created
			{write(path, ""), "", "", 2, "exists but is empty"},
			{write(path, string(older)), "", "", 2, "documents.csv shows " + lacks},
			{write(j.list, all), "", server.Wallets()[1], 2, "documents.csv shows " + lacks},
			{write(j.list, all), "ticket 4712", server.Wallets()[1], 2, "-wallet shows none of the journal's charges"},
			// Purchases whose shipments were not in the list of the night were forgotten, and those of a killed night, whose
			// documents.csv has no rows.
			{write(j.list, server.Shipments()[0]), "", "", 2, lacks},
			{write(results, ""), "", "", 2, "the wallet shows " + lacks},
			{write(j.list, all), "", server.Wallets()[1], 2, "-wallet shows none of the journal's charges"},
			{write(results, "order,"+heading), "", "", 2, "documents.csv has other columns"},
			{write(results, string(last)+"\ntotal,5 \"NGN\"\n"), "", "", 2, lacks}, // a person has edited it
			// The wallet no longer showed its older payments, so that these were purchased again.
			{write(results, heading+unknown), "ticket 4712", "", 2, "lacks (such as RD-9 for SH-9)"},
			{func() error { return errors.Join(os.Remove(path), os.Remove(results), write(j.list, all)()) }, "", "", 2,
				"first night, run night 2026-12-02 again with -record TICKET"},
			// Documents that failed, or had not come, were closed with the purchase: the job ended with 0. After a loss, those
			// of other lists were forgotten.
			{func() error { return errors.Join(os.Remove(path), write(j.list, server.Shipments()[0])()) }, "ticket 4712", "", 1,
				"failed: run nightly retry RD-"},
			{buysInvoice, "", "", 2, "for an unknown shipment"},
			{func() error { return nil }, "ticket 4713", "", 2, "the service no longer shows what RD-"},
		} {
			shippingtest.NoError(t, test.before())
			run := j
			run.note, run.wallet = test.note, cmp.Or(test.wallet, j.wallet)
			again, err := run.run(t.Context())
			code, _ := run.exit(again, err)
			if n := server.Requests(shipping.OpPurchase); n != purchases || code != test.code ||
				!strings.Contains(run.forOperators(err), test.want) {
				t.Errorf("%q: exit %d after %d purchases, %v", test.want, code, n-purchases, err)
			}
		}
		for _, row := range table(t, results) {
			if want := evidence[row["shipment"]]; row["not bought"] != want {
				t.Errorf("not bought after -record: %v, want %q", row, want)
			}
		}
		server.ClearFaults()
		// The wrong wallet was noticed only in the second night.
		first := j
		first.folder, first.wallet = t.TempDir(), server.Wallets()[1]
		shippingtest.NoError(t, write(j.list, charged)())
		purchases = server.Requests(shipping.OpPurchase)
		again, err := first.run(t.Context())
		code, _ := first.exit(again, err)
		if n := server.Requests(shipping.OpPurchase); n != purchases || code != 2 ||
			!strings.Contains(first.forOperators(err), ": correct -wallet") {
			t.Errorf("the wrong wallet in a first night: exit %d after %d purchases, %v", code, n-purchases, err)
		}
		// A first night that was killed before it had results did not notice, and everything was bought again.
		killed := j
		killed.folder = t.TempDir()
		if first, begun, second := killed.lost(), killed.begin(nil), killed.lost(); errors.Join(first, begun) != nil ||
			second == nil {
			t.Errorf("before the first night: %v, %v, and without the journal after a kill: %v", first, begun, second)
		}
	})
}

// reconcile compares the charge of each shipment with the transactions of the wallet. No column of either file
// made this possible.
func reconcile(t *testing.T, folder string) {
	t.Helper()
	paid := map[string]map[string]string{} // by reference
	for _, row := range table(t, filepath.Join(folder, "wallet.csv")) {
		paid[row["reference"]] = row
	}
	nights := map[string]int{}
	for _, row := range table(t, filepath.Join(folder, "documents.csv")) {
		if row["state"] == "draft" {
			continue
		}
		nights[row["night"]]++
		transaction := paid[row["request"]]
		if row["charged"] == "" || transaction["amount"] != "-"+row["charged"] ||
			transaction["currency"] != row["currency"] || transaction["shipment"] != row["shipment"] {
			t.Errorf("%v was paid by %v", row, transaction)
		}
	}
	shippingtest.Diff(t, "purchases by night", 4, len(nights))
}

// table reads a CSV file as a map for each row, by the names of the columns.
func table(t *testing.T, path string) (rows []map[string]string) {
	t.Helper()
	text := shippingtest.Must(os.ReadFile(path))(t)
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	shippingtest.NoError(t, err)
	for _, record := range records[1:] {
		row := map[string]string{}
		for i, name := range records[0] {
			row[name] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// Under which keys -record stores payments.
func TestSetKeys(t *testing.T) {
	t.Parallel()
	payments := []batch.Record{{RequestID: "RD-1", ShipmentID: "SH-1"}, {RequestID: "RD-2", ShipmentID: "SH-1"},
		{RequestID: "RD-3", ShipmentID: "SH-2"}, {RequestID: "RD-4", ShipmentID: "SH-3"}, {RequestID: "RD-5"},
		{RequestID: "RD-6", Key: "SH-4", ShipmentID: "SH-4"}}
	unknown := setKeys(payments, []batch.Record{{Key: "SH-2", Step: batch.StepCompleted},
		{Key: "SH-3", Step: batch.StepFailed}}) // the second one is a failed analysis
	got := strings.Join(unknown, " ") + ":"
	for _, payment := range payments {
		got += " " + payment.Key
	}
	shippingtest.Diff(t, "unknown requests, and keys", "RD-5: SH-1 RD-2 RD-3 SH-3 RD-5 SH-4", got)
}

// What a script does again, and what the person on duty reads.
func TestExit(t *testing.T) {
	j, busy := &job{night: "2026-11-28", folder: "/nights"}, errors.New("busy")
	list := inputError{errors.New("correct line 3")}
	down, limit := &shipping.Error{StatusCode: 503}, &shipping.Error{StatusCode: 429}
	needs := &shipping.BudgetError{Budget: shipping.Budget{Currency: "NGN"}, Needed: shippingtest.Amount(t, "50")}
	unpaid := errors.Join(shipping.ErrInsufficientFunds, needs)
	of := func(amount string) shipping.Budget {
		return shipping.Budget{Amount: shippingtest.Amount(t, amount), Currency: "NGN"}
	}
	spent := &shipping.BudgetError{Budget: of("50"), Needed: of("40").Amount, Left: of("1").Amount}
	dear := &shipping.BudgetError{Budget: of("50"), Needed: of("79.50").Amount}
	dollars := &shipping.BudgetError{Problem: "the draft is priced in NGN: set a budget in that currency"}
	refused := &shipping.Error{StatusCode: 401}
	broken := fmt.Errorf("%w: CUSTOMS", shipping.ErrRequestFailed)
	other := fmt.Errorf("%w: FDA", shipping.ErrRequestFailed)
	open := func(errs ...error) error {
		report := &batch.Report{Results: []batch.Result{{State: batch.StateWaiting, Err: context.Canceled}}}
		for i, err := range errs {
			result := batch.Result{Key: fmt.Sprint("SH-", i), RequestID: fmt.Sprint("RD-", i), State: batch.StateError, Err: err}
			if _, over := err.(*shipping.BudgetError); over {
				result.State, report.Results[0].State = batch.StateOverBudget, batch.StateClosed
				report.Results[0].Err = nil
			} else if errors.Is(err, shipping.ErrRequestFailed) {
				result.State, result.Documents = batch.StateFailed, []shipping.DocumentType{"FDA"}
			}
			report.Results = append(report.Results, result)
		}
		return openError{report, j}
	}
	const run = "run night 2026-11-28 again"
	const person = "a person must do what these lines state, then " + run
	const another = run + ": it continues, and purchases nothing twice"
	const others = "; a person must do what the other lines state"
	for _, test := range []struct {
		again  bool
		err    error
		code   int
		advice string
	}{
		{false, nil, 0, ""},
		{false, open(spent), 3, "the budget of this night is spent: keep the open shipments in the list of the next night, " +
			"or raise -budget and " + run + ": the purchases that lacked money (1) need 40.00 NGN in the wallet"},
		// The budget of the night was said to be spent: with 0 spent, for a shipment that no night buys, or in USD.
		{false, open(dear, spent), 1, person + ": the purchases that lacked money (2) need 119.50 NGN in the wallet, and a " +
			"budget of 119.50 NGN"},
		{false, open(dollars), 1, person},
		{false, open(spent, busy), 1, person + ": the purchases that lacked money (1) need 40.00 NGN in the wallet"},
		{true, batch.ErrInUse, 75, another},
		{true, open(), 75, another},
		{true, open(limit, busy, busy), 75, another + others},
		{true, errors.Join(list, open()), 75, another + others},
		// An empty wallet stops all purchases, so another run completes few of the others.
		{true, errors.Join(list, open(unpaid, unpaid, busy, limit)), 2, person + ": the purchases that lacked money (2) " +
			"need 100.00 NGN in the wallet, and a budget of 100.00 NGN; others (1), whose cost or outcome is not known, may " +
			"need more"},
		{true, open(unpaid), 1, person + ": the purchases that lacked money (1) need 50.00 NGN in the wallet, and a budget " +
			"of 50.00 NGN; others (1), whose cost or outcome is not known, may need more"},
		{true, open(down), 75, "once the service responds, " + another},
		{false, errors.Join(list, open(busy)), 2, person},
		{false, &fs.PathError{Op: "write", Path: "documents.csv", Err: syscall.ENOSPC}, 1, person},
		{false, batch.ErrDamaged, 2, person},
	} {
		if code, advice := j.exit(test.again, test.err); code != test.code || advice != test.advice {
			t.Errorf("%v: exit %d, %q, want %d, %q", test.err, code, advice, test.code, test.advice)
		}
	}
	lines := j.forOperators(open(dear, refused, broken, other))
	shippingtest.Contains(t, "the text for operators", lines,
		"over budget: no night with this budget buys these: raise -budget, or leave them out\n  1: ",
		"error: do what each line states, or ask the service, then run night 2026-11-28 again\n",
		"failed: run nightly retry RD-2 RD-3, then run night 2026-11-28 again, which purchases nothing for these; if they "+
			"fail again, ask the service; to give up, run nightly resolve -out /nights -note TICKET -outcome charged SH-2 "+
			"SH-3\n")
	text := j.forOperators(errors.New("if this process opened it, use that File or close it; if not, wait until the " +
		"other process ends; batch.Resolve lets Regulatory.Retry run the batch again"))
	if text != "wait until the night that runs has ended; nightly resolve lets nightly retry run night 2026-11-28 again" {
		t.Error(text)
	}
}

// A text that the library no longer has is not replaced, and an operator reads Go names.
func TestTexts_AreThoseOfTheLibrary(t *testing.T) {
	var library strings.Builder
	for _, pattern := range []string{"../../*.go", "../../batch/*.go", "../../internal/*/*.go"} {
		for _, name := range shippingtest.Must(filepath.Glob(pattern))(t) {
			library.Write(shippingtest.Must(os.ReadFile(name))(t))
		}
	}
	sources := regexp.MustCompile(`" ?\+\s+"`).ReplaceAllString(library.String(), "")
	_, advice, _ := strings.Cut(sources, "func (r Result) remedy() remedy {") // of open items
	advice, _, _ = strings.Cut(advice, "func (r *run) remedy(")
	advice = strings.Join(regexp.MustCompile(`"[^"]*"`).FindAllString(advice, -1), "\n")
	if left := regexp.MustCompile(`batch\.\w+`).FindString((&job{}).forOperators(errors.New(advice))); left != "" {
		t.Errorf("no text replaces %s", left)
	}
	texts := (&job{}).texts()
	for i := 0; i < len(texts); i += 2 {
		if !strings.Contains(sources, strings.TrimPrefix(texts[i], "WithDialect ")) { // the field is written before it
			t.Errorf("no text has %q", texts[i])
		}
	}
}

// The error of a file that cannot be written did not name an action.
func TestFiles_ThatCannotBeWritten(t *testing.T) {
	j := &job{folder: filepath.Join(t.TempDir(), "none")}
	for _, err := range []error{j.write("documents.csv", nil), j.begin(nil)} {
		shippingtest.Contains(t, "the error", err, filepath.Join(j.folder, "documents.csv")+" cannot be written: make room "+
			"on the disk, or let the user of this job write to the folder: ")
	}
}

// An error named all options, and not the one that is wrong.
func TestOptions(t *testing.T) {
	t.Setenv("SHIPPING_SECRET_KEY", "sk-1")
	t.Setenv("SHIPPING_BASE_URL", "http://127.0.0.1:1")
	all := map[string]string{"-night": "2026-11-26", "-wallet": "VA-1", "-budget": "1 NGN", "-out": t.TempDir()}
	for _, test := range []struct{ option, value, want string }{
		{"-night", "2026-11-26", ""},
		{"-night", "2026-11-31", `nightly: -night must be a date such as 2026-11-26, not "2026-11-31"`},
		{"-night", "", "nightly: -night is missing: pass the date"},
		{"-wallet", "", "nightly: -wallet is missing"},
		{"-budget", "", "nightly: -budget is missing"},
		{"-budget", "1", "three letters"},
		{"-out", "", "nightly: -out is missing"},
		{"-out", "/none", "nightly: the folder /none of -out does not exist"},
		{"-record", "ticket", `nightly: "4711" belongs to no option`},
		{"-out", "ex", `nightly: -out must be an absolute path, not "ex"`},
	} {
		var args []string
		for option, value := range all {
			if option == test.option {
				value = test.value
			}
			args = append(args, option, value)
		}
		if test.option == "-record" {
			args = append(args, test.option, test.value, "4711")
		}
		_, err := parse(args)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %q: %v", test.option, test.value, err)
		}
	}
	// The error of the dialect was printed for each request.
	err := commandOf([]string{"retry"})(t.Context(), []string{"RD-1", "RD-2"})
	if strings.Count(fmt.Sprint(err), "has no route") != 1 {
		t.Error(err)
	}
}
