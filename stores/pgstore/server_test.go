package pgstore_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/stores/internal/servers"
	"github.com/shipping-go/shipping/stores/pgstore"
)

// dsnVariable is where the tests, and the processes they start, find the server.
const dsnVariable = "PGSTORE_TEST_DSN"

// TestMain starts a PostgreSQL for the tests; a process that a test started works instead.
func TestMain(m *testing.M) {
	if os.Getenv(workerVariable) != "" {
		os.Exit(work())
	}
	servers.Main(m, func() (func() error, error) {
		server, err := servers.StartPostgres()
		if err != nil {
			return nil, err
		}
		return server.Close, os.Setenv(dsnVariable, server.DSN())
	})
}

// connect returns a pool of connections to the server, whose tables are there.
func connect(t *testing.T) *pgxpool.Pool {
	t.Helper()
	return connectTo(t, os.Getenv(dsnVariable))
}

func connectTo(t *testing.T, dsn string) *pgxpool.Pool {
	t.Helper()
	pool := openPool(t, dsn, nil)
	shippingtest.NoError(t, pgstore.Migrate(t.Context(), pool))
	return pool
}

// openPool returns a pool that may call a function before each connection.
func openPool(t *testing.T, dsn string, before func(context.Context, *pgx.ConnConfig) error) *pgxpool.Pool {
	t.Helper()
	config := shippingtest.Must(pgxpool.ParseConfig(dsn))(t)
	config.BeforeConnect = before
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	shippingtest.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func execute(t *testing.T, pool *pgxpool.Pool, statements string, arguments ...any) {
	t.Helper()
	shippingtest.Must(pool.Exec(t.Context(), statements, arguments...))(t)
}

// proxy is a way to the server that falls silent, as when a machine loses its power: both ends keep their
// connections, and nothing passes any more.
type proxy struct {
	dsn    string
	silent chan struct{} // closed once it is
	close  func()        // ends all connections

	mu     sync.Mutex
	before string // a text of the packet before which it falls silent
}

// vanish has the proxy fall silent before it passes a client's packet that contains the text.
func (p *proxy) vanish(before string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before = before
}

// vanishes reports whether the proxy is silent, or falls silent before a packet.
func (p *proxy) vanishes(packet []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.silent:
		return true
	default:
	}
	if p.before == "" || !bytes.Contains(packet, []byte(p.before)) {
		return false
	}
	close(p.silent)
	return true
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	host, rest, _ := strings.Cut(strings.TrimPrefix(os.Getenv(dsnVariable), "host="), " ")
	dir := t.TempDir()
	listener := shippingtest.Must(net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432")))(t)
	open, end := context.WithCancel(t.Context())
	p := &proxy{dsn: "host=" + dir + " " + rest, silent: make(chan struct{}), close: end}
	var running sync.WaitGroup
	t.Cleanup(func() {
		listener.Close()
		end()
		running.Wait()
	})
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(open, func() { client.Close() })
			server, err := net.Dial("unix", filepath.Join(host, ".s.PGSQL.5432"))
			if err != nil {
				return
			}
			context.AfterFunc(open, func() { server.Close() })
			running.Go(func() { p.pass(server, client) })
			running.Go(func() { _, _ = io.Copy(client, server) })
		}
	})
	return p
}

// pass copies from the client to the server, until the proxy is silent.
func (p *proxy) pass(server, client net.Conn) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := client.Read(buffer)
		if err != nil || p.vanishes(buffer[:n]) {
			return
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}
