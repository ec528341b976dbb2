package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/wait"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/shell"
)

// defaultAddr is the default address of serve and of the other subcommands.
const defaultAddr = "127.0.0.1:4010"

// drainTime is how long requests under way may take when the server stops.
const drainTime = 5 * time.Second

func serveCommand(env environment) *cli.Command {
	clock := env.text("clock", "real", "real or virtual; a virtual clock moves only on request")
	clock.Validator = func(kind string) error {
		if kind != "real" && kind != "virtual" {
			return errors.New("choose real or virtual" + didYouMean(kind, []string{"real", "virtual"}))
		}
		return nil
	}
	idle := env.time("close-idle", 0, "close worlds without a request for this time; 0: never")
	idle.Validator = func(d time.Duration) error {
		if d < 0 {
			return errors.New("-close-idle is negative")
		}
		return nil
	}
	return &cli.Command{
		Name: "serve", Usage: "run the server until it is interrupted",
		Description: `Serves a seeded world over HTTP: shipments, wallets, rates, webhooks and a
clock. The same seed always creates the same world, with the same secret key. On
an interrupt or SIGTERM the server stops accepting connections, gives requests
under way ` + drainTime.String() + ` to finish, and exits.

-scenario takes terms such as lowfunds-rows100000. -dialect takes the file of a
dialect, and changes such as list.max_per_page=10, from left to right; strict
refuses all that the server tolerates by default; contrary makes the other valid
choice at each open point of the specification. GET /_mock/dialect lists them.`,
		Metadata: examples(
			"serve",
			"serve -addr 127.0.0.1:0 -json -stdin   # for programs: a free port",
			"serve -clock virtual -seed 7           # POST /_mock/clock/advance",
		),
		Flags: []cli.Flag{
			env.text("addr", defaultAddr, "the address to listen on; port 0 takes a free one"),
			env.toggle("json", "print only one line of JSON, once the server is ready"),
			env.toggle("stdin", "stop when standard input, or its program, ends"),
			env.number("seed", 1, "the random seed of the world"),
			env.text("scenario", "default", "the initial data of the world"),
			clock,
			env.text("dialect", "", "a file, contrary, strict, FIELD=VALUE, …"),
			env.toggle("one-world", "only POST /_mock/worlds opens worlds, not keys"),
			idle,
			env.toggle("deliver-anywhere", "send notifications to other machines, too"),
			env.text("token", "", "the X-Mock-Token that /_mock/ requires; default: random"),
			env.text("hosts", "", "more host names for /_mock/ and -tls: a,b"),
			env.toggle("tls", "serve HTTPS with a new certificate for localhost"),
			env.text("tls-ca", "", "with -tls: the file for the certificate to trust"),
			env.toggle("verbose", "log requests and events to standard error"),
		},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			warnings := env.idle(cmd.Root().Commands)
			if ca := cmd.String("tls-ca"); ca != "" && ca != env.get(variableOf("tls-ca")) && !cmd.Bool("tls") {
				warnings = append(warnings, "-tls-ca does nothing without -tls")
			}
			for _, text := range warnings {
				fmt.Fprintf(cmd.Root().ErrWriter, "mockserver: warning: %s\n", printableLines(text))
			}
			return serve(ctx, cmd)
		},
	}
}

// ready is the line that -json prints once connections are accepted.
type ready struct {
	URL       string   `json:"url"`
	SecretKey string   `json:"secret_key"`
	Wallets   []string `json:"wallets"`
	Shipments []string `json:"shipments"`
	Invoices  []string `json:"invoices"`
	Webhooks  []string `json:"webhooks"` // those that replays reach; GET /_mock/webhooks lists all
	Console   string   `json:"console"`
	Token     string   `json:"token"`        // the header X-Mock-Token, for /_mock/; "" if it was given
	CA        string   `json:"ca,omitempty"` // with -tls: the file for curl --cacert
}

func describe(w *mockserver.World) ready {
	return ready{URL: w.URL, SecretKey: w.SecretKey, Wallets: w.Wallets(), Shipments: w.Shipments(),
		Invoices: w.Invoices(), Webhooks: w.Receivers()}
}

// serve serves until the context ends.
func serve(ctx context.Context, cmd *cli.Command) error {
	debug.SetGCPercent(400) // the heap is small, and each page of a list is garbage once it is sent
	addr, stderr := cmd.String("addr"), cmd.Root().ErrWriter
	opts, err := options(cmd)
	if err != nil {
		return err
	}
	srv := mockserver.New(opts...)
	defer srv.Close()
	if err := srv.Err(); err != nil {
		return explainListen(ctx, cmd, err)
	}
	if !isLoopback(addr) {
		fmt.Fprintf(stderr, "mockserver: warning: %s can be reached from other machines, and its secret key is derived "+
			"from the seed; /_mock/ needs the token; to prevent this, listen on 127.0.0.1\n", addr)
	}
	about := describe(srv.World)
	about.Console = srv.URL + "/_mock/"
	if cmd.String("token") == "" {
		about.Token = srv.Token()
		about.Console += "?" + url.Values{"token": {about.Token}}.Encode()
	}
	if cmd.Bool("tls") {
		temporary, err := os.MkdirTemp("", "mockserver-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		about.CA = cmp.Or(cmd.String("tls-ca"), filepath.Join(temporary, "ca.pem"))
		if err := os.WriteFile(about.CA, srv.CA(), 0o644); err != nil {
			return fmt.Errorf("cannot write the certificate: %w; choose another file with -tls-ca", err)
		}
	}
	announce := greet
	if cmd.Bool("json") {
		announce = func(w io.Writer, r ready) error { return json.NewEncoder(w).Encode(r) }
	}
	if err := announce(cmd.Root().Writer, about); err != nil {
		return fmt.Errorf("cannot write to standard output: %w", err)
	}
	if cmd.Bool("stdin") {
		var ended context.CancelFunc
		ctx, ended = context.WithCancel(ctx)
		defer ended()
		go func() {
			_, _ = io.Copy(io.Discard, cmd.Root().Reader) // an error ends the input too
			ended()
		}()
	}
	closeIdle(ctx, srv, cmd.Duration("close-idle"))
	<-ctx.Done()
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	err = srv.Shutdown(patience)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("requests still under way after %s were cut off (%w)", drainTime, err)
	}
	return err
}

// closeIdle closes idle worlds until the context ends; never if idle is 0.
func closeIdle(ctx context.Context, srv *mockserver.Server, idle time.Duration) {
	for idle > 0 && wait.Sleep(ctx, max(idle/10, 10*time.Millisecond)) == nil {
		srv.CloseIdle(idle)
	}
}

// options returns the options of the server from the flags.
func options(cmd *cli.Command) ([]mockserver.Option, error) {
	d, err := readDialect(cmd.String("dialect"))
	if err != nil {
		return nil, err
	}
	opts := []mockserver.Option{
		mockserver.WithDialect(d), mockserver.WithAddr(cmd.String("addr")), mockserver.WithSeed(cmd.Uint64("seed")),
		mockserver.WithScenario(cmd.String("scenario")),
	}
	if cmd.Bool("one-world") {
		opts = append(opts, mockserver.WithOneWorld())
	}
	if cmd.Bool("deliver-anywhere") {
		opts = append(opts, mockserver.WithDeliverAnywhere())
	}
	if token := cmd.String("token"); token != "" {
		opts = append(opts, mockserver.WithToken(token))
	}
	if hosts := cmd.String("hosts"); hosts != "" {
		for host := range strings.SplitSeq(hosts, ",") {
			opts = append(opts, mockserver.WithHosts(strings.TrimSpace(host)))
		}
	}
	if cmd.Bool("tls") {
		opts = append(opts, mockserver.WithTLS())
	}
	if cmd.String("clock") == "virtual" {
		opts = append(opts, mockserver.WithVirtualClock(time.Time{}))
	}
	level := slog.LevelWarn
	if cmd.Bool("verbose") {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(cmd.Root().ErrWriter, &slog.HandlerOptions{Level: level}))
	return append(opts, mockserver.WithLogger(log)), nil
}

// readDialect returns the dialect of a flag: files and settings such as contrary or list.max_per_page=10, separated by
// commas. Later ones change the decisions of earlier ones.
func readDialect(text string) (*dialect.Dialect, error) {
	d := new(dialect.Dialect)
	for path, rest := range files(text) {
		if path != "" {
			file, err := dialect.Read(path)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil, fmt.Errorf("-dialect: %w; name an existing file (.json or .dialect), or write contrary, strict or "+
					"FIELD=VALUE", err)
			case err != nil:
				return nil, fmt.Errorf("-dialect: %w", err)
			}
			d.Overlay(file)
		}
		if err := d.Apply(rest); err != nil && !strings.Contains(rest, "=") {
			return nil, fmt.Errorf("-dialect: %w, or an existing file", err)
		} else if err != nil {
			return nil, err
		}
	}
	return d, d.Check()
}

// files splits a text at its file names: it yields "" and the text before the first, then each name and the text up to
// the next. A file without the usual extension must exist, and does not follow FIELD=VALUE.
func files(text string) iter.Seq2[string, string] {
	return func(yield func(path, rest string) bool) {
		path, rest := "", ""
		for part := range strings.SplitSeq(text, ",") {
			name := strings.TrimSpace(part)
			about, err := os.Stat(name)
			isFile := strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".dialect") ||
				err == nil && !about.IsDir() && !strings.Contains(rest, "=") && new(dialect.Dialect).Apply(name) != nil
			if isFile {
				if !yield(path, rest) {
					return
				}
				path, rest = strings.TrimSpace(part), ""
				continue
			}
			rest += "," + part
		}
		yield(path, rest)
	}
}

// isLoopback reports whether an address is reached from this machine only.
func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && delivery.IsLoopback(host)
}

// wsaAddrInUse is the error of Windows for a port in use; package syscall has no name for it.
const wsaAddrInUse = syscall.Errno(10048)

// explainListen explains why the server could not listen on its address. For a port in use it reports whether the other
// program is a mockserver.
func explainListen(ctx context.Context, cmd *cli.Command, err error) error {
	addr := cmd.String("addr")
	switch {
	case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, wsaAddrInUse):
		owner := "another program"
		if isLoopback(addr) && ask(ctx, cmd, "http://"+addr, "/_mock/healthz", &struct{}{}) == nil {
			owner = "another mockserver"
		}
		return fmt.Errorf("%s is used by %s: stop it, or use a free port with -addr 127.0.0.1:0", addr, owner)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("this user may not listen on %s: choose a port above 1023, or a free one with -addr 127.0.0.1:0",
			addr)
	}
	return err
}

// greet prints the address, the key and commands to copy.
func greet(w io.Writer, r ready) error {
	var b strings.Builder
	curl := "  curl -H " + shell.Quote("Authorization: Bearer "+r.SecretKey) + " "
	fmt.Fprintf(&b, "Reference server of the shipping service on %s\n\n", printableLines(r.URL))
	for _, s := range r.settings()[:4] {
		if s.value != "" {
			fmt.Fprintf(&b, "  export %s=%s\n", s.name, shell.Quote(s.value))
		}
	}
	fmt.Fprintf(&b, "\n%s%s\n", curl, shell.Quote(r.URL+"/v1/rates?perPage=2"))
	if len(r.Wallets) > 0 {
		fmt.Fprintf(&b, "%s%s\n", curl, shell.Quote(r.URL+"/v1/transactions?"+url.Values{"perPage": {"2"},
			"wallet": {r.Wallets[0]}}.Encode()))
	}
	if len(r.Shipments) > 0 {
		body, err := json.Marshal(map[string]string{"shipment_id": r.Shipments[0]})
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s-H 'Content-Type: application/json' \\\n       -d %s %s\n", curl, shell.Quote(string(body)),
			shell.Quote(r.URL+"/v1/regulatory-documents/analyze"))
	}
	if r.CA != "" {
		fmt.Fprintf(&b, "\nFor Go: SSL_CERT_FILE=%[1]s   For curl: --cacert %[1]s\n", shell.Quote(r.CA))
	}
	fmt.Fprintf(&b, "\nAll wallets, shipments, invoices and webhooks: curl -H %s %s\nConsole and control API: %s   "+
		"Stop with Ctrl-C.\n",
		shell.Quote("X-Mock-Token: "+cmp.Or(r.Token, "<TOKEN>")), shell.Quote(r.URL+"/_mock/worlds/home"),
		printableLines(r.Console))
	_, err := io.WriteString(w, b.String())
	return err
}
