package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
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

// defaultAddr is where serve listens and where the other words look for it.
const defaultAddr = "127.0.0.1:4010"

func serveCommand() command {
	return command{
		word: "serve", summary: "run the server until it is interrupted",
		about: `A seeded world with shipments, wallets, rates, webhooks and a clock, which any program can use over HTTP.
The same seed always makes the same world, with the same secret key. On an interrupt or SIGTERM it stops
accepting, finishes the requests under way and exits.`,
		examples: []string{
			"serve",
			"serve -addr 127.0.0.1:0 -json     # for scripts: a free port, one line of JSON",
			"serve -clock virtual -seed 7      # time moves only by POST /_mock/clock/advance",
			"serve -state state.json           # go on tomorrow where it ends today",
		},
		define: func(f *flags) action {
			s := serving{
				addr:  f.text("addr", text{value: defaultAddr}, "listen on this `ADDRESS`; port 0 takes a free one"),
				json:  f.Bool("json", false, "print one line of JSON once connections are accepted, and nothing else; of the newest webhooks, it has those that a replay reaches, and GET /_mock/webhooks lists all"),
				seed:  f.Uint64("seed", 1, "the `NUMBER` that the world follows from"),
				clock: f.text("clock", text{value: "real", choices: []string{"real", "virtual"}}, "the `KIND` of time; virtual time moves only when it is told to"),
				scenario: f.text("scenario", text{value: "default"},
					"what is special about the world, such as `WORDS` lowfunds-rows100000; GET /_mock/scenarios lists them"),
				strict: f.Bool("strict", false, "refuse what the server would otherwise tolerate, and check its own answers"),
				assume: f.text("assume", text{}, "`ASSUMPTIONS` to change, such as PerPageCap=10,LastPageNull=true; contrary makes the other legitimate choice at each; GET /_mock/assumptions lists them"),
				rules:  f.text("rules", text{file: true}, "read the compliance rules from this JSON `FILE`, in place of the built-in ones"),
				state:  f.text("state", text{file: true}, "restore every world from this `FILE` when there is one, and save them to it at the end"),
				drain:  f.Duration("drain", 5*time.Second, "the `TIME` that requests under way may take once the server is asked to stop"),
				hosts:  f.text("hosts", text{}, "further host `NAMES`, with commas between them, that /_mock/ answers to and the certificate of -tls is for"),
				token:  f.text("token", text{}, "the `TOKEN` that opens /_mock/ to other machines as the header X-Mock-Token; without, a random one if they can reach the server"),
				anywhere: f.Bool("deliver-anywhere", false,
					"send webhook notifications to other machines too, not to this one only"),
				maxBody:      f.Int64("max-body", 1<<20, "answer longer request bodies with 413; in `BYTES`"),
				maxHeader:    f.Int("max-header", 64<<10, "answer longer request headers with 431; in `BYTES`"),
				maxWorlds:    f.Int("max-worlds", 10_000, "the `NUMBER` of worlds that may be open at once"),
				maxRows:      f.Int("max-rows", 20_000, "the `NUMBER` of records that each world may store beside those it began with"),
				maxBytes:     f.Int64("max-bytes", 256<<20, "the memory that the requests and webhooks of each world may take beside those that it began with; in `BYTES`"),
				journal:      f.Int("journal", 1024, "the `NUMBER` of calls that each world remembers; 0 for none"),
				journalBytes: f.Int("journal-bytes", 2<<10, "how much of each body it remembers; in `BYTES`"),
				maxJournal:   f.Int64("max-journal", 128<<20, "the memory of all worlds' journals together, beyond which each remembers fewer calls; in `BYTES`"),
				tls:          f.Bool("tls", false, "serve HTTPS with a certificate made for localhost, 127.0.0.1 and ::1"),
				tlsCA:        f.text("tls-ca", text{file: true}, "with -tls: write the authority that clients must trust to this `FILE`; without, to one that is removed at the end"),
				h2c:          f.Bool("h2c", false, "serve HTTP/2 without TLS too, for clients that begin with it"),
				log: f.text("log", text{value: "auto", choices: []string{"auto", "text", "json", "off"}},
					"the `FORM` in which each request is logged to standard error; auto is text on a terminal, else off"),
				verbose: f.Bool("verbose", false, "log to standard error"),
			}
			return s.run
		},
	}
}

// serving is the flags of serve.
type serving struct {
	addr, clock             *string
	scenario, state         *string
	seed                    *uint64
	drain                   *time.Duration
	json, anywhere, verbose *bool
	tls, h2c                *bool
	tlsCA, log, hosts       *string
	token, assume, rules    *string
	strict                  *bool
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
	Webhooks  []string `json:"webhooks"` // the newest that a replay reaches; GET /_mock/webhooks lists all
	Console   string   `json:"console"`
	Token     string   `json:"token,omitempty"` // the header X-Mock-Token, for /_mock/ from other machines
	CA        string   `json:"ca,omitempty"`    // with -tls: the file for curl --cacert
}

func describeWorld(ctx context.Context, srv *mockserver.Server) (ready, error) {
	webhooks, err := replayable(ctx, srv)
	if err != nil {
		return ready{}, fmt.Errorf("the webhooks cannot be listed: %w", err)
	}
	r := ready{
		URL: srv.URL, SecretKey: srv.SecretKey, Wallets: srv.Wallets(), Shipments: srv.Shipments(),
		Invoices: srv.Invoices(), Webhooks: webhooks, Console: srv.URL + "/_mock/", Token: srv.Token(),
	}
	if r.Token != "" {
		r.Console += "?" + url.Values{"token": {r.Token}}.Encode()
	}
	return r, nil
}

// replayable returns the ids of the webhooks that a replay reaches, newest first: they are active and subscribed to
// an event of shipments. It reads the newest 20, so that the line stays short and the start fast.
func replayable(ctx context.Context, srv *mockserver.Server) ([]string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1/_mock/webhooks?perPage=20", nil)
	if err != nil {
		return nil, err
	}
	req.RemoteAddr = "127.0.0.1:0"
	resp := recorded{header: http.Header{}}
	srv.ServeHTTP(&resp, req)
	if resp.status != http.StatusOK {
		return nil, errors.New(http.StatusText(resp.status))
	}
	var all struct {
		Webhooks []struct {
			ID     string   `json:"webhook_id"`
			Events []string `json:"events"`
			Active bool     `json:"active"`
		} `json:"data"`
	}
	if err := json.Unmarshal(resp.Bytes(), &all); err != nil {
		return nil, err
	}
	ids := []string{}
	for _, h := range all.Webhooks {
		if h.Active && slices.ContainsFunc(h.Events, func(event string) bool { return strings.HasPrefix(event, "shipment.") }) {
			ids = append(ids, h.ID)
		}
	}
	return ids, nil
}

// recorded is the response to a request that needs no connection.
type recorded struct {
	bytes.Buffer
	header http.Header
	status int
}

// Header implements [http.ResponseWriter].
func (r *recorded) Header() http.Header { return r.header }

// WriteHeader implements [http.ResponseWriter].
func (r *recorded) WriteHeader(status int) { r.status = status }

// headroom is memory that is reserved and never touched, so it costs none. The collector counts it, and so waits
// for as much garbage before it runs: a heap as small as this server's is else collected many times a second
// under load. It is worth 2 to 5 % of the throughput.
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
		fmt.Fprintf(p.stderr, "mockserver: warning: %s can be reached from other machines; the secret key follows from the seed, and /_mock/ needs the token; listen on 127.0.0.1 unless you want that\n", *s.addr)
	}
	about, err := describeWorld(context.WithoutCancel(ctx), srv) // an interrupt ends the server below
	if err != nil {
		return p.fail("%v", err)
	}
	if *s.tls {
		path, remove, err := keepCA(srv, *s.tlsCA)
		if err != nil {
			return p.fail("the certificate's authority cannot be written: %v; choose another file with -tls-ca", err)
		}
		defer remove()
		about.CA = path
	}
	announce := banner
	if *s.json {
		announce = func(w io.Writer, r ready) error { return json.NewEncoder(w).Encode(r) }
	}
	if err := announce(p.stdout, about); err != nil {
		return p.fail("cannot write to standard output: %v", err)
	}
	untouched := make([]byte, headroom) // not before: it makes the collector run
	defer runtime.KeepAlive(untouched)
	defer startFreeing(ctx)()

	<-ctx.Done()
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), *s.drain)
	defer cancel()
	if err := srv.Shutdown(patience); err != nil {
		if !errors.Is(err, context.DeadlineExceeded) {
			return p.fail("%v", err)
		}
		return p.fail("requests that were still under way after %s were cut off (%v); give them longer with -drain", *s.drain, err)
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
	opts = append(opts, mockserver.WithMaxBody(*s.maxBody), mockserver.WithMaxHeader(*s.maxHeader),
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
	if *s.h2c {
		opts = append(opts, mockserver.WithH2C())
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

// assumptions returns the options of -strict, -assume and -rules. A value may have commas itself: a piece that
// begins with no name belongs to the one before.
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

// keepCA writes what clients must trust to a file, a temporary one where none is named, and returns its path
// and what removes it again.
func keepCA(srv *mockserver.Server, path string) (kept string, remove func(), err error) {
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
	return file.Name(), func() { _ = os.Remove(file.Name()) }, nil // whoever removed it before has done it
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

// wsaAddrInUse is how Windows says that a port is taken; package syscall has no name for it.
const wsaAddrInUse = syscall.Errno(10048)

// explainListen says in plain words why the server did not start: for a port that is taken, by whom,
// as far as that can be told.
func explainListen(ctx context.Context, err error, addr string) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, wsaAddrInUse):
		owner := "another program"
		if isLoopback(addr) && healthy(ctx, "", "", "http://"+addr) == nil {
			owner = "a mockserver that is still running"
		}
		return fmt.Sprintf("%s is taken by %s: stop it, or take a free port with -addr 127.0.0.1:0", addr, owner)
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
	fmt.Fprintf(&b, "\nAbout the server itself: %s   Stop it with Ctrl-C.\n", printable(r.Console))
	_, err := io.WriteString(w, b.String())
	return err
}
