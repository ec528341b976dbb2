package pgstore_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/goods"
	"github.com/shipping-go/shipping/stores/pgstore"
)

// workerVariable holds the assignment of a process that a test started.
const workerVariable = "PGSTORE_TEST_WORKER"

// assignment is a batch that processes share.
type assignment struct {
	Batch, URL, Key string
	Shipments       []string
	Lease           time.Duration
	// Orders begins the keys of the items; empty for those by default. A process of a test with several of them begins
	// when its standard input ends.
	Orders string
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
		item := batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: id}}
		if a.Orders != "" {
			item.Key = a.Orders + id
		}
		items = append(items, item)
	}
	if a.Orders != "" {
		tell("ready")
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
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
	for _, result := range report.Results {
		repeats := a.Orders != "" && strings.Contains(fmt.Sprint(result.Err), "bought a second time")
		if result.State != batch.StateCompleted && !repeats {
			return fmt.Errorf("%d of %d completed: %+v", report.Count(batch.StateCompleted), len(items), report.Results)
		}
	}
	return nil
}

// assign starts a service on a real socket, and returns a batch of shipments there.
func assign(t *testing.T, n int) (assignment, *mockserver.Server) {
	t.Helper()
	server := mockserver.New(mockserver.WithScenario("instant"))
	t.Cleanup(server.Close)
	shipments := make([]string, n)
	for i := range shipments {
		var err error
		if shipments[i], err = server.AddShipment(goods.Shipment{}); err != nil {
			t.Fatal(err)
		}
	}
	err := server.Inject(fault.Rule{Operation: shipping.OpPurchase, Fault: fault.Latency(20 * time.Millisecond)})
	shippingtest.NoError(t, err)
	return assignment{Batch: t.Name() + rand.Text(), URL: server.URL, Key: server.SecretKey,
		Shipments: shipments, Lease: 3 * time.Second}, server
}

// start begins a process that shares the batch. The lines it writes come from the reader.
func (a assignment) start(t *testing.T) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	return a.startWith(t, nil)
}

func (a assignment) startWith(t *testing.T, stdin io.Reader) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	text := shippingtest.Must(json.Marshal(a))(t)
	process := exec.CommandContext(t.Context(), os.Args[0])
	process.Env = append(os.Environ(), workerVariable+"="+string(text))
	process.Stdin, process.Stderr = stdin, os.Stderr
	out, err := process.StdoutPipe()
	shippingtest.NoError(t, err)
	shippingtest.NoError(t, process.Start())
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
			shippingtest.NoError(t, err)
			id, ok := strings.CutPrefix(transaction.Description, "Regulatory documents for ")
			if !ok {
				continue
			}
			request := shippingtest.Must(client.Regulatory.Get(t.Context(), id))(t)
			debits[request.ShipmentID]++
		}
	}
	for _, id := range a.Shipments {
		shippingtest.Diff(t, "charges of shipment "+id, 1, debits[id])
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
			shippingtest.NoError(t, killed.Process.Kill())
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

// Two machines have lists of the same shipments under other keys, and begin at the same moment. Each looked up the
// shipment before the other had recorded its purchase, and both purchased it.
func TestBatch_TwoProcessesWithOtherKeysChargeEachShipmentOnce(t *testing.T) {
	t.Parallel()
	connect(t)
	const rounds = 5 // go test -count=4 makes 20
	for round := range rounds {
		a, server := assign(t, 84)
		var processes []*exec.Cmd
		var lines []*bufio.Scanner
		begin, begun := io.Pipe()
		for _, orders := range []string{"ORD-", "PO-"} {
			a.Orders = orders
			process, rest := a.startWith(t, begin)
			processes, lines = append(processes, process), append(lines, rest)
		}
		for _, rest := range lines {
			if !rest.Scan() {
				t.Fatal("a process ended before it began")
			}
		}
		shippingtest.NoError(t, begun.Close())
		for n, process := range processes {
			if err := finish(process, lines[n]); err != nil {
				t.Errorf("round %d: %v", round, err)
			}
		}
		a.chargedOnce(t, server)
	}
	t.Attr("cases", fmt.Sprintf("%d rounds", rounds))
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
