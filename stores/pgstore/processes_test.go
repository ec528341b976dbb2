package pgstore_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/stores/pgstore"
)

// workerVariable holds, for a process that a test started, its assignment.
const workerVariable = "PGSTORE_TEST_WORKER"

// assignment is a batch that processes share.
type assignment struct {
	Batch, URL, Key string
	Shipments       []string
	Lease           time.Duration
}

// work is a process that shares a batch. It writes a line for each step it knows of.
func work() int {
	var a assignment
	if err := json.Unmarshal([]byte(os.Getenv(workerVariable)), &a); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := a.run(context.Background(), func(step string) { fmt.Println(step) }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (a assignment) run(ctx context.Context, tell func(step string)) error {
	pool, err := pgxpool.New(ctx, os.Getenv(dsnVariable))
	if err != nil {
		return err
	}
	defer pool.Close()
	client, err := shipping.NewClient(a.Key, shipping.WithBaseURL(a.URL))
	if err != nil {
		return err
	}
	var items []batch.Item
	for _, id := range a.Shipments {
		items = append(items, batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: id}})
	}
	report, err := batch.Run(ctx, client, items, &batch.Options{
		Concurrency: 4,
		Select:      shipping.SelectAutomated,
		Purchase:    shipping.PurchaseOptions{QuietFor: 500 * time.Millisecond},
		Poll:        shipping.PollOptions{MinInterval: 10 * time.Millisecond, MaxInterval: 100 * time.Millisecond},
		Journal:     pgstore.NewBatchJournal(pool, a.Batch, a.Lease),
		Progress:    func(e batch.Event) { tell(fmt.Sprint(e.Step)) },
	})
	if err != nil {
		return err
	}
	if n := report.Count(batch.StateCompleted); n != len(items) {
		return fmt.Errorf("%d of %d completed: %+v", n, len(items), report.Results)
	}
	return nil
}

// assign starts a service on a real socket, and returns a batch of shipments there.
func assign(t *testing.T, n int) (assignment, *mockserver.Server) {
	t.Helper()
	server := mockserver.New(mockserver.WithDialect(&dialect.Dialect{Time: dialect.Time{Generation: -1}}))
	t.Cleanup(server.Close)
	err := server.Inject(fault.Rule{Operation: shipping.OpPurchase, Fault: fault.Latency(20 * time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	return assignment{Batch: t.Name() + rand.Text(), URL: server.URL, Key: server.SecretKey,
		Shipments: server.Shipments()[:n], Lease: 3 * time.Second}, server
}

// start begins a process that shares the batch. The lines it writes come from the reader.
func (a assignment) start(t *testing.T) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	process := exec.CommandContext(t.Context(), os.Args[0])
	process.Env = append(os.Environ(), workerVariable+"="+string(text))
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	return process, bufio.NewScanner(out)
}

// finish reads the rest of a process's output and waits for its end.
func finish(process *exec.Cmd, lines *bufio.Scanner) error {
	for lines.Scan() {
	}
	return process.Wait()
}

// chargedOnce checks that the wallet has one debit for each shipment.
func (a assignment) chargedOnce(t *testing.T, server *mockserver.Server) {
	t.Helper()
	client := server.Client(t)
	debits := map[string]int{}
	for _, wallet := range server.Wallets() {
		for transaction, err := range client.Transactions.All(t.Context(), &shipping.TransactionListOptions{Wallet: wallet}) {
			if err != nil {
				t.Fatal(err)
			}
			id, ok := strings.CutPrefix(transaction.Description, "Regulatory documents for ")
			if !ok {
				continue
			}
			request, err := client.Regulatory.Get(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			debits[request.ShipmentID]++
		}
	}
	for _, id := range a.Shipments {
		if debits[id] != 1 {
			t.Errorf("shipment %s was charged %d times", id, debits[id])
		}
	}
	if sent := server.Requests(shipping.OpPurchase); len(debits) != len(a.Shipments) || sent < len(a.Shipments) {
		t.Errorf("%d shipments: %d charged in %d purchases", len(a.Shipments), len(debits), sent)
	}
	if err := server.Check(); err != nil {
		t.Error(err)
	}
}

// Two processes share a batch. One is killed, at another point each time; the other takes over its items
// when its claims are over. Without a claim in the database, both would purchase a shipment.
func TestBatch_TwoProcessesOneOfThemKilledChargeEachShipmentOnce(t *testing.T) {
	for _, after := range []int{1, 5, 14} {
		t.Run(fmt.Sprintf("after %d steps", after), func(t *testing.T) {
			t.Parallel()
			connect(t)
			a, server := assign(t, 14)
			killed, lines := a.start(t)
			survivor, rest := a.start(t)
			for range after {
				if !lines.Scan() {
					t.Fatal("the process ended before it was killed")
				}
			}
			if err := killed.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if finish(killed, lines) == nil {
				t.Error("the process was not killed")
			}
			if err := finish(survivor, rest); err != nil {
				t.Error(err)
			}
			a.chargedOnce(t, server)
		})
	}
}

// If the database ends its connections in the middle, the batch reports it or continues; the next run
// buys the rest, and nothing twice.
func TestBatch_ConnectionsThatEndInTheMiddleBuyNothingTwice(t *testing.T) {
	pool := connect(t)
	a, server := assign(t, 14)
	told := 0
	err := a.run(t.Context(), func(string) {
		if told++; told%8 != 0 {
			return
		}
		_, err := pool.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`)
		if err != nil {
			t.Error(err)
		}
	})
	t.Logf("with connections that end: %v", err)
	if err := a.run(t.Context(), func(string) {}); err != nil {
		t.Error(err)
	}
	a.chargedOnce(t, server)
}
