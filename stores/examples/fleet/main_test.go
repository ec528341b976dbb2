package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/stores/internal/servers"
)

// TestMain starts a PostgreSQL, and lets the test's own binary be the program, so that it can be killed.
func TestMain(m *testing.M) {
	if os.Getenv("FLEET_IS_THE_PROGRAM") != "" {
		main()
		return
	}
	servers.Main(m, func() (func() error, error) {
		server, err := servers.StartPostgres()
		if err != nil {
			return nil, err
		}
		return server.Close, os.Setenv("DATABASE_URL", server.DSN())
	})
}

// serve starts the reference server, and returns the arguments that buy for some of its shipments.
func serve(t *testing.T, shipments int, budget string) (*mockserver.Server, []string) {
	t.Helper()
	server := mockserver.New(mockserver.WithAssumptions(func(a *assumption.Set) { a.GenerationScale = 0.05 }))
	t.Cleanup(server.Close)
	t.Setenv("SHIPPING_BASE_URL", server.URL)
	t.Setenv("SHIPPING_SECRET_KEY", server.SecretKey)
	return server, []string{
		"-in", list(t, server.Shipments()[:shipments]...), "-batch", rand.Text(), "-budget", budget, "-lease", "3s", "-settle", "1s",
	}
}

func list(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shipments.txt")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Three machines share a batch. One dies after a purchase; the others buy the rest.
func TestThreeMachinesOneOfWhichDies(t *testing.T) {
	const shipments = 14
	server, args := serve(t, shipments, "5000000")
	var machines []*exec.Cmd
	var outputs []*bufio.Scanner
	for range 3 {
		machine := exec.CommandContext(t.Context(), os.Args[0], args...)
		machine.Env = append(os.Environ(), "FLEET_IS_THE_PROGRAM=1")
		machine.Stderr = os.Stderr
		out, err := machine.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := machine.Start(); err != nil {
			t.Fatal(err)
		}
		machines, outputs = append(machines, machine), append(outputs, bufio.NewScanner(out))
		if len(machines) == 1 {
			for outputs[0].Scan() && !strings.Contains(outputs[0].Text(), "bought") {
			}
		}
	}
	if err := machines[0].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for i, machine := range machines {
		last := ""
		for outputs[i].Scan() {
			last = outputs[i].Text()
		}
		switch err := machine.Wait(); {
		case i == 0 && err == nil:
			t.Error("the machine ended before it could die")
		case i > 0 && (err != nil || !strings.HasPrefix(last, "14 of 14 completed")):
			t.Errorf("machine %d: %v: %s", i, err, last)
		}
	}
	checkOneDebitEach(t, server, shipments)
}

func checkOneDebitEach(t *testing.T, server *mockserver.Server, shipments int) {
	t.Helper()
	client := server.Client(t)
	debits := map[string]int{}
	for transaction, err := range client.Transactions.All(t.Context(), &shipping.TransactionListOptions{Wallet: server.Wallets()[0]}) {
		if err != nil {
			t.Fatal(err)
		}
		if id, ok := strings.CutPrefix(transaction.Description, "Regulatory documents for "); ok {
			request, err := client.Regulatory.Get(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			debits[request.ShipmentID]++
		}
	}
	for id, n := range debits {
		if n != 1 {
			t.Errorf("%s was debited %d times", id, n)
		}
	}
	if len(debits) != shipments {
		t.Errorf("%d shipments were debited, want %d", len(debits), shipments)
	}
	if err := server.Check(); err != nil {
		t.Error(err)
	}
}

func TestOneBudgetForAllMachines(t *testing.T) {
	server, args := serve(t, 6, "20000")
	var out bytes.Buffer
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatal(err)
	}
	bought := server.Requests(shipping.OpPurchase)
	if !strings.Contains(out.String(), "over budget") || bought == 0 {
		t.Errorf("%d purchases\n%s", bought, &out)
	}
	out.Reset()
	if err := run(t.Context(), args, &out); err != nil || !strings.Contains(out.String(), " 0 bought here") || server.Requests(shipping.OpPurchase) != bought {
		t.Errorf("the next machine: %v\n%s", err, &out)
	}
}

func TestItSaysWhatToDo(t *testing.T) {
	server, args := serve(t, 1, "1")
	var help bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "DATABASE_URL") {
		t.Errorf("help: %v\n%s", err, &help)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	in := list(t)
	for name, tc := range map[string]struct {
		ctx      context.Context
		args     []string
		database string
		message  string
	}{
		"nothing said":   {t.Context(), nil, "", "-in, -batch and -budget"},
		"an empty list":  {t.Context(), []string{"-in", in, "-batch", "b", "-budget", "1"}, "", "a shipment's id on each line"},
		"no list":        {t.Context(), []string{"-in", in + "x", "-batch", "b", "-budget", "1"}, "", "no such file"},
		"no amount":      {t.Context(), []string{"-budget", "much"}, "", "not a decimal number"},
		"no database":    {t.Context(), args, "host=" + t.TempDir(), "nothing was bought; set DATABASE_URL"},
		"bad database":   {t.Context(), args, "postgres://:port", "DATABASE_URL"},
		"is interrupted": {ended, args, os.Getenv("DATABASE_URL"), "context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("DATABASE_URL", tc.database)
			if err := run(tc.ctx, tc.args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), tc.message) {
				t.Errorf("%v", err)
			}
		})
	}
	if n := server.Requests(shipping.OpPurchase); n != 0 {
		t.Errorf("%d purchases", n)
	}
}
