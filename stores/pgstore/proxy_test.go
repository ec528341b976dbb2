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
)

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
	listener, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
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
