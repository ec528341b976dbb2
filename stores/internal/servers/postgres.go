package servers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
)

// Postgres is a PostgreSQL with an empty database.
type Postgres struct {
	dir, bin string
	as       []string // what comes before a command, so that it does not run as root
}

// StartPostgres starts a server. It searches for PostgreSQL in Debian's folder and in the PATH.
func StartPostgres() (*Postgres, error) {
	bin, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	p := &Postgres{dir: dir, bin: bin}
	err = p.leaveRoot()
	if err == nil {
		err = p.call("initdb", "-D", p.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8")
	}
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return p, nil
}

func postgresPrograms() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err == nil && len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", missing("PostgreSQL's server")
	}
	return filepath.Dir(path), nil
}

// leaveRoot has everything run as postgres: PostgreSQL refuses to run as root.
func (p *Postgres) leaveRoot() error {
	if os.Geteuid() != 0 {
		return nil
	}
	postgres, err := user.Lookup("postgres")
	if err != nil {
		return err
	}
	uid, err := strconv.Atoi(postgres.Uid)
	if err != nil {
		return err
	}
	p.as = []string{"runuser", "-u", "postgres", "--"}
	return os.Chown(p.dir, uid, -1)
}

// DSN returns the connection string.
func (p *Postgres) DSN() string { return "host=" + p.dir + " user=postgres dbname=postgres" }

// Start starts it again after Stop.
func (p *Postgres) Start() error {
	options := "-c listen_addresses='' -c unix_socket_directories=" + p.dir
	return p.call("pg_ctl", "-D", p.data(), "-l", filepath.Join(p.dir, "log"), "-o", options, "-w", "start")
}

// Stop stops it at once, like a crash.
func (p *Postgres) Stop() error {
	return p.call("pg_ctl", "-D", p.data(), "-m", "immediate", "-w", "stop")
}

// Close stops it and removes its data.
func (p *Postgres) Close() error { return errors.Join(p.Stop(), os.RemoveAll(p.dir)) }

func (p *Postgres) data() string { return filepath.Join(p.dir, "data") }

func (p *Postgres) call(name string, args ...string) error {
	line := append(append(p.as[:len(p.as):len(p.as)], filepath.Join(p.bin, name)), args...)
	command := exec.Command(line[0], line[1:]...)
	command.Dir = p.dir // the server must be able to enter its working directory
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}
