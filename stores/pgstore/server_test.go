package pgstore_test

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

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
	if err := pgstore.Migrate(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	return pool
}

// openPool returns a pool that may call a function before each connection.
func openPool(t *testing.T, dsn string, before func(context.Context, *pgx.ConnConfig) error) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.BeforeConnect = before
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func execute(t *testing.T, pool *pgxpool.Pool, statements string, arguments ...any) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), statements, arguments...); err != nil {
		t.Fatal(err)
	}
}
