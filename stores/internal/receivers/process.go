package receivers

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping/webhook"
)

// process is a receiver that a test started.
type process struct {
	url     string
	command *exec.Cmd
	stdin   io.Writer
	log     *log
	read    chan struct{} // closed when everything it wrote was read
}

// start starts a process with the assignment, which logs its work.
func start(t *testing.T, a Assignment, log *log) *process {
	t.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{command: exec.Command(os.Args[0]), log: log, read: make(chan struct{})}
	p.command.Env = append(os.Environ(), variable+"="+string(text))
	p.command.Stderr = os.Stderr
	if p.stdin, err = p.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		close(p.read)
		t.Fatal("the receiver did not begin to listen")
	}
	p.url = "http://" + strings.TrimPrefix(lines.Text(), "listening ")
	go func() {
		defer close(p.read)
		for lines.Scan() {
			log.add(lines.Text())
		}
	}()
	return p
}

// kill ends the process at once. After that the log has all that it did.
func (p *process) kill() {
	_ = p.command.Process.Kill() // it may have been killed before
	<-p.read
	_ = p.command.Wait()
}

// release lets it continue with its notifications.
func (p *process) release(t *testing.T) {
	t.Helper()
	if _, err := fmt.Fprintln(p.stdin); err != nil {
		t.Error(err)
	}
}

// deliver sends a notification once and returns the status; 0 without a response in half a minute.
func (p *process) deliver(id string) int {
	const body = `{"event":"shipment.updated","data":{}}`
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, strings.NewReader(body))
	if err != nil {
		return 0
	}
	request.Header.Set(webhook.DefaultSignatureHeader, webhook.Sign(key, []byte(body)))
	request.Header.Set(webhook.DefaultIDHeader, id)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// deliverUntilAccepted sends a notification as a service does, to the receivers in turn, until one accepts it.
// It returns that one.
func deliverUntilAccepted(t *testing.T, id string, to ...*process) *process {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for n := range 6000 {
		p := to[n%len(to)]
		switch status := p.deliver(id); status {
		case http.StatusOK:
			return p
		case http.StatusServiceUnavailable, 0:
			<-again.C
		default:
			t.Errorf("%s got the status %d", id, status)
			return nil
		}
	}
	t.Errorf("%s is not accepted after a minute", id)
	return nil
}

// log is what the receivers of a test did.
type log struct {
	mu    sync.Mutex
	grown sync.Cond
	times map[string]int
}

func newLog() *log {
	l := &log{times: map[string]int{}}
	l.grown.L = &l.mu
	return l
}

func (l *log) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.times[line]++
	l.grown.Broadcast()
}

// count returns how often a line was written.
func (l *log) count(line string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.times[line]
}

// await waits for a line.
func (l *log) await(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.times[line] == 0 {
		l.grown.Wait()
	}
}
