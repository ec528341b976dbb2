package pgstore_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/shipping-go/shipping/stores/pgstore"
)

// dsnVariable is where the tests, and the processes they start, find the server.
const dsnVariable = "PGSTORE_TEST_DSN"

// TestMain starts a PostgreSQL of its own for the tests; a process that a test started works instead.
func TestMain(m *testing.M) {
	if os.Getenv(workerVariable) != "" {
		os.Exit(work())
	}
	code, err := withServer(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

func withServer(run func() int) (code int, err error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(found) == 0 {
		return 0, errors.New("these tests need PostgreSQL's server: run stores/run.sh, which installs it")
	}
	bin := found[len(found)-1]
	dir, err := os.MkdirTemp("", "pgstore")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var as []string
	if os.Geteuid() == 0 { // PostgreSQL refuses to run as root
		postgres, err := user.Lookup("postgres")
		if err != nil {
			return 0, err
		}
		uid, err := strconv.Atoi(postgres.Uid)
		if err != nil {
			return 0, err
		}
		if err := os.Chown(dir, uid, -1); err != nil {
			return 0, err
		}
		as = []string{"runuser", "-u", "postgres", "--"}
	}
	data := filepath.Join(dir, "data")
	call := func(name string, args ...string) error {
		line := append(append(as[:len(as):len(as)], filepath.Join(bin, name)), args...)
		command := exec.Command(line[0], line[1:]...)
		command.Dir = dir // the server must be able to enter where it is started
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", name, err, out)
		}
		return nil
	}
	if err := call("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8"); err != nil {
		return 0, err
	}
	options := "-c listen_addresses='' -c unix_socket_directories=" + dir
	if err := call("pg_ctl", "-D", data, "-l", filepath.Join(dir, "log"), "-o", options, "-w", "start"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, call("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")) }()
	if err := os.Setenv(dsnVariable, "host="+dir+" user=postgres dbname=postgres"); err != nil {
		return 0, err
	}
	return run(), nil
}

// connect returns a pool of connections to the server, whose tables are there.
func connect(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), os.Getenv(dsnVariable))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if err := pgstore.Migrate(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	return pool
}
