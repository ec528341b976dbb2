package servers

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Redis is an empty Redis, which writes everything to its disk before it responds.
type Redis struct {
	dir, program string
	process      *exec.Cmd
	said         bytes.Buffer
}

// StartRedis starts a server. It searches for redis-server in the PATH.
func StartRedis() (*Redis, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, missing("redis-server")
	}
	dir, err := os.MkdirTemp("", "redis")
	if err != nil {
		return nil, err
	}
	r := &Redis{dir: dir, program: program}
	if err := r.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return r, nil
}

// Socket is the path that it listens on.
func (r *Redis) Socket() string { return filepath.Join(r.dir, "socket") }

// Start starts it again after Stop.
func (r *Redis) Start() error {
	r.process = exec.Command(r.program, "--port", "0", "--unixsocket", r.Socket(), "--dir", r.dir, "--save", "",
		"--appendonly", "yes", "--appendfsync", "always")
	r.said.Reset()
	r.process.Stdout, r.process.Stderr = &r.said, &r.said
	if err := r.process.Start(); err != nil {
		return err
	}
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for range 1000 {
		if r.ready() {
			return nil
		}
		<-again.C
	}
	err := r.Stop()
	return errors.Join(fmt.Errorf("redis-server does not respond:\n%s", &r.said), err)
}

// ready reports whether it responds, and has loaded its data.
func (r *Redis) ready() bool {
	connection, err := net.Dial("unix", r.Socket())
	if err != nil {
		return false
	}
	defer connection.Close()
	if _, err := connection.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	answer, err := bufio.NewReader(connection).ReadString('\n')
	return err == nil && answer == "+PONG\r\n"
}

// Stop stops it at once, like a crash.
func (r *Redis) Stop() error {
	if err := r.process.Process.Kill(); err != nil {
		return err
	}
	if err := r.process.Wait(); r.process.ProcessState == nil {
		return err
	}
	return nil // it ended like a killed process
}

// Close stops it and removes its data.
func (r *Redis) Close() error { return errors.Join(r.Stop(), os.RemoveAll(r.dir)) }
