package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/internal/shell"
)

// defaultAddr is the default address of serve and of the other subcommands.
const defaultAddr = "127.0.0.1:4010"

// defaultMaxBody is the default of -max-body: that of the assumption MaxBody.
const defaultMaxBody = 1 << 20

func serveCommand() command {
	return command{
		word: "serve", summary: "run the server until it is interrupted",
		about: `Serves a seeded world over HTTP: shipments, wallets, rates, webhooks and a clock.
The same seed always creates the same world, with the same secret key. On an interrupt or SIGTERM the server
stops accepting connections, finishes the requests under way and exits.`,
		examples: []string{
			"serve",
			"serve -addr 127.0.0.1:0 -json -stdin   # for programs: a free port, one line of JSON, and no server that stays behind",
			"serve -clock virtual -seed 7      # time moves only by POST /_mock/clock/advance",
			"serve -state state.json           # save all data on exit and restore it on start",
		},
		define: func(f *flags) action {
			s := serving{
				stdin: f.Bool("stdin", false, "stop when standard input ends, as it does when the program that started the server has ended"),
				addr:  f.text("addr", text{value: defaultAddr}, "listen on this `ADDRESS`; port 0 takes a free one"),
				json:  f.Bool("json", false, "print only one line of JSON, once connections are accepted; its webhooks are those that replays reach"),
				seed:  f.Uint64("seed", 1, "the random seed of the world, a `NUMBER`"),
				clock: f.text("clock", text{value: "real", choices: []string{"real", "virtual"}}, "the `KIND` of clock; a virtual clock moves only with POST /_mock/clock/advance"),
				scenario: f.text("scenario", text{value: "default"},
					"the `SCENARIO` of the world, such as lowfunds-rows100000; GET /_mock/ lists the terms"),
				strict: f.Bool("strict", false, "refuse everything that the server tolerates by default, and check every response"),
				assume: f.text("assume", text{}, "`ASSUMPTIONS` to change, such as PerPageCap=10,LastPageNull=true; contrary changes all to the other valid choice; GET /_mock/assumptions lists them"),
				rules:  f.text("rules", text{file: true}, "replace the built-in compliance rules by those in this JSON `FILE`"),
				state:  f.text("state", text{file: true}, "restore all worlds from this `FILE` if it exists, and save them to it on exit"),
				drain:  f.Duration("drain", 5*time.Second, "the maximum `TIME` for requests under way when the server stops"),
				hosts:  f.text("hosts", text{}, "additional host `NAMES`, separated by commas, that /_mock/ accepts and the certificate of -tls covers"),
				token:  f.text("token", text{}, "the `TOKEN` that other machines need for /_mock/, in the header X-Mock-Token; default: random if other machines can reach the server"),
				anywhere: f.Bool("deliver-anywhere", false,
					"send webhook notifications to other machines too"),
				maxBody:      f.Int64("max-body", defaultMaxBody, "the maximum length of a request body in `BYTES`; longer ones are refused with 413"),
				maxHeader:    f.Int("max-header", 64<<10, "the maximum length of a request header in `BYTES`; longer ones are refused with 431"),
				maxWorlds:    f.Int("max-worlds", 10_000, "the maximum `NUMBER` of open worlds"),
				maxRows:      f.Int("max-rows", 20_000, "the maximum `NUMBER` of records that each world stores in addition to its initial ones"),
				maxBytes:     f.Int64("max-bytes", 256<<20, "the maximum memory of the requests and webhooks of each world, in addition to its initial ones, in `BYTES`"),
				journal:      f.Int("journal", 1024, "the `NUMBER` of requests in the journal of each world; a quarter more for older failed ones; 0 for none"),
				journalBytes: f.Int("journal-bytes", 2<<10, "the maximum length of a body in the journal, in `BYTES`"),
				maxJournal:   f.Int64("max-journal", 128<<20, "the maximum memory of all journals together, in `BYTES`; beyond it they keep fewer requests"),
				tls:          f.Bool("tls", false, "serve HTTPS with a new certificate for localhost, 127.0.0.1 and ::1"),
				tlsCA:        f.text("tls-ca", text{file: true}, "with -tls: write the CA certificate that clients must trust to this `FILE`; default: a temporary file"),
				log: f.text("log", text{value: "auto", choices: []string{"auto", "text", "json", "off"}},
					"the `FORMAT` of the request log on standard error; auto is text on a terminal, else off"),
				verbose: f.Bool("verbose", false, "log events of the server to standard error"),
			}
			return s.run
		},
	}
}

// serving holds the flags of serve.
type serving struct {
	addr, clock             *string
	scenario, state         *string
	seed                    *uint64
	drain                   *time.Duration
	json, anywhere, verbose *bool
	tls                     *bool
	tlsCA, log, hosts       *string
	token, assume, rules    *string
	strict, stdin           *bool
	maxBody, maxJournal     *int64
	maxBytes                *int64
	maxHeader               *int
	maxWorlds, maxRows      *int
	journal, journalBytes   *int
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
	Token     string   `json:"token,omitempty"` // the header X-Mock-Token, for /_mock/ from other machines
	CA        string   `json:"ca,omitempty"`    // with -tls: the file for curl --cacert
}

func describeWorld(srv *mockserver.Server) ready {
	r := ready{
		URL: srv.URL, SecretKey: srv.SecretKey, Wallets: srv.Wallets(), Shipments: srv.Shipments(),
		Invoices: srv.Invoices(), Webhooks: srv.Receivers(), Console: srv.URL + "/_mock/", Token: srv.Token(),
	}
	if r.Token != "" {
		r.Console += "?" + url.Values{"token": {r.Token}}.Encode()
	}
	return r
}

// headroom is the size of an allocation that is never touched, so that it uses no physical memory. The garbage
// collector counts it and therefore runs less often: otherwise the small heap of this server is collected many
// times a second under load. It increases the throughput by 2 to 5 %.
const headroom = 16 << 20

// run serves until the context ends.
func (s serving) run(ctx context.Context, p program) int {
	opts, err := s.options(p)
	if err != nil {
		return p.fail("%v", err)
	}
	srv := mockserver.New(opts...)
	defer srv.Close()
	if err := srv.Err(); err != nil {
		return p.fail("%s", explainListen(ctx, err, *s.addr))
	}
	if !isLoopback(*s.addr) {
		fmt.Fprintf(p.stderr, "mockserver: warning: %s can be reached from other machines, and its secret key is derived from the seed; /_mock/ needs the token; to prevent this, listen on 127.0.0.1\n", *s.addr)
	}
	about := describeWorld(srv)
	if *s.tls {
		path, remove, err := writeCA(srv, *s.tlsCA)
		if err != nil {
			return p.fail("cannot write the CA certificate: %v; choose another file with -tls-ca", err)
		}
		defer remove()
		about.CA = path
	}
	defer startFreeing(ctx)()
	announce := banner
	if *s.json {
		announce = func(w io.Writer, r ready) error { return json.NewEncoder(w).Encode(r) }
	}
	if err := announce(p.stdout, about); err != nil {
		return p.fail("cannot write to standard output: %v", err)
	}
	untouched := make([]byte, headroom) // as late as possible: it starts a garbage collection
	defer runtime.KeepAlive(untouched)

	if *s.stdin {
		var ended context.CancelFunc
		ctx, ended = context.WithCancel(ctx)
		defer ended()
		go func() {
			_, _ = io.Copy(io.Discard, p.stdin) // an error ends the input too
			ended()
		}()
	}
	<-ctx.Done()
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), *s.drain)
	defer cancel()
	if err := srv.Shutdown(patience); err != nil {
		if !errors.Is(err, context.DeadlineExceeded) {
			return p.fail("%v", err)
		}
		return p.fail("requests still under way after %s were cut off (%v); allow more time with -drain", *s.drain, err)
	}
	return exitOK
}

func (s serving) options(p program) ([]mockserver.Option, error) {
	opts, err := s.assumptions()
	if err != nil {
		return nil, err
	}
	opts = append(opts, []mockserver.Option{
		mockserver.WithAddr(*s.addr), mockserver.WithSeed(*s.seed), mockserver.WithScenario(*s.scenario), mockserver.WithState(*s.state),
	}...)
	if *s.maxBody != defaultMaxBody { // otherwise it would be an assumption that is changed
		opts = append(opts, mockserver.WithMaxBody(*s.maxBody))
	}
	opts = append(opts, mockserver.WithMaxHeader(*s.maxHeader),
		mockserver.WithMaxWorlds(*s.maxWorlds), mockserver.WithMaxRows(*s.maxRows), mockserver.WithMaxBytes(*s.maxBytes),
		mockserver.WithMaxJournal(*s.maxJournal), mockserver.WithJournal(*s.journal, *s.journalBytes))
	if *s.token != "" {
		opts = append(opts, mockserver.WithToken(*s.token))
	}
	if *s.hosts != "" {
		opts = append(opts, mockserver.WithHosts(strings.Split(strings.ReplaceAll(*s.hosts, " ", ""), ",")...))
	}
	if *s.tls {
		opts = append(opts, mockserver.WithTLS())
	}
	if *s.clock == "virtual" {
		opts = append(opts, mockserver.WithVirtualClock(time.Time{}))
	}
	if *s.anywhere {
		opts = append(opts, mockserver.WithDeliveryTargets())
	}
	if handler := accessLog(*s.log, p); handler != nil {
		opts = append(opts, mockserver.WithAccessLog(slog.New(handler)))
	}
	if *s.verbose {
		opts = append(opts, mockserver.WithLogger(slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	}
	return opts, nil
}

// contrary is the name of [mockserver.Contrary] in -assume.
const contrary = "contrary"

// assumptions returns the options of -strict, -assume and -rules. A value may contain commas: a part that
// does not begin with a name belongs to the previous one.
func (s serving) assumptions() ([]mockserver.Option, error) {
	var opts []mockserver.Option
	if *s.strict {
		opts = append(opts, mockserver.WithAssumptions(mockserver.Strict))
	}
	var settings []string
	for piece := range strings.SplitSeq(*s.assume, ",") {
		if !strings.Contains(piece, "=") && len(settings) > 0 && piece != contrary && !slices.Contains(mockserver.AssumptionNames(), piece) {
			settings[len(settings)-1] += "," + piece
		} else if piece != "" {
			settings = append(settings, piece)
		}
	}
	for _, setting := range settings {
		if setting = strings.TrimSpace(setting); setting == contrary {
			opts = append(opts, mockserver.WithAssumptions(mockserver.Contrary))
			continue
		}
		name, value, given := strings.Cut(setting, "=")
		if !given {
			value = "true"
		}
		opts = append(opts, mockserver.WithAssumption(name, value))
	}
	if *s.rules == "" {
		return opts, nil
	}
	rules, err := os.ReadFile(*s.rules)
	if err != nil {
		return nil, fmt.Errorf("-rules: %w", err)
	}
	return append(opts, mockserver.WithComplianceRules(rules)), nil
}

// writeCA writes the CA certificate to a file, by default a temporary one, and returns its path and a function that
// removes a temporary file.
func writeCA(srv *mockserver.Server, path string) (kept string, remove func(), err error) {
	if path != "" {
		return path, func() {}, os.WriteFile(path, srv.CA(), 0o644)
	}
	file, err := os.CreateTemp("", "mockserver-ca-*.pem")
	if err != nil {
		return "", nil, err
	}
	_, err = file.Write(srv.CA())
	if err = errors.Join(err, file.Close()); err != nil {
		return "", nil, errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), func() { _ = os.Remove(file.Name()) }, nil // the file may be gone already
}

// isLoopback reports whether an address is reached from this machine only.
func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.Unmap().IsLoopback())
}

// wsaAddrInUse is the error of Windows for a port in use; package syscall has no name for it.
const wsaAddrInUse = syscall.Errno(10048)

// explainListen explains why the server could not listen on an address. For a port in use it reports whether the
// other program is a mockserver.
func explainListen(ctx context.Context, err error, addr string) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, wsaAddrInUse):
		owner := "another program"
		if isLoopback(addr) && healthy(ctx, "", "", "http://"+addr) == nil {
			owner = "another mockserver"
		}
		return fmt.Sprintf("%s is used by %s: stop it, or use a free port with -addr 127.0.0.1:0", addr, owner)
	case errors.Is(err, syscall.EACCES):
		return fmt.Sprintf("this user may not listen on %s: choose a port above 1023, or a free one with -addr 127.0.0.1:0", addr)
	}
	return err.Error()
}

// banner prints the address, the key and commands to copy.
func banner(w io.Writer, r ready) error {
	var b strings.Builder
	authorization := shell.Quote("Authorization: Bearer " + r.SecretKey)
	fmt.Fprintf(&b, `Reference server of the shipping service on %s

  export SHIPPING_BASE_URL=%s
  export SHIPPING_SECRET_KEY=%s

  curl -H %s %s
`, printable(r.URL), shell.Quote(r.URL), shell.Quote(r.SecretKey), authorization, shell.Quote(r.URL+"/v1/rates?perPage=2"))
	if len(r.Wallets) > 0 {
		transactions := r.URL + "/v1/transactions?" + url.Values{"perPage": {"2"}, "wallet": {r.Wallets[0]}}.Encode()
		fmt.Fprintf(&b, "  curl -H %s %s\n", authorization, shell.Quote(transactions))
	}
	if len(r.Shipments) > 0 {
		body, err := json.Marshal(map[string]string{"shipment_id": r.Shipments[0]})
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "  curl -H %s -H 'Content-Type: application/json' \\\n       -d %s %s\n",
			authorization, shell.Quote(string(body)), shell.Quote(r.URL+"/v1/regulatory-documents/analyze"))
	}
	if r.CA != "" {
		fmt.Fprintf(&b, "\nFor curl, and for Go's SSL_CERT_FILE: --cacert %s\n", shell.Quote(r.CA))
	}
	fmt.Fprintf(&b, "\nAll wallets, shipments, invoices and webhooks: curl %s\nConsole and control API: %s   Stop with Ctrl-C.\n",
		shell.Quote(r.URL+"/_mock/worlds/home"), printable(r.Console))
	_, err := io.WriteString(w, b.String())
	return err
}
