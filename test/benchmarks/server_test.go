package benchmarks

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/test/benchmarks/processor"
	"github.com/shipping-go/shipping/test/benchmarks/service"
)

// BenchmarkServer reads the same bytes from the reference server, with its journal on, and from a bare handler, which
// writes them from memory and checks nothing. Each runs in a separate process. The metric cpu-ns/op is the processor
// time of that process. Run it with -cpu 1.
func BenchmarkServer(b *testing.B) {
	for _, size := range []string{"1KB", "60KB"} {
		for _, side := range []string{"bare", "server"} {
			b.Run("of="+size+"/by="+side, func(b *testing.B) { measureServer(b, side, size) })
		}
	}
}

// BenchmarkStart starts the command mockserver, until it prints the line that it is ready.
func BenchmarkStart(b *testing.B) {
	program := filepath.Join(b.TempDir(), "mockserver")
	build(b, "../..", program, "./mockserver/cmd/mockserver")
	for b.Loop() {
		_, stop := launch(b, exec.Command(program, "serve", "-addr", "127.0.0.1:0", "-json", "-stdin"))
		b.StopTimer()
		stop()
		b.StartTimer()
	}
}

// BenchmarkSize builds a program that does one call and prints the result, by hand and with the client. The metric is
// the size of the stripped program.
func BenchmarkSize(b *testing.B) {
	for _, name := range []string{"raw", "shipping"} {
		b.Run("of="+name, func(b *testing.B) {
			size := 0.0
			for b.Loop() {
				size = sizeOf(b, name)
			}
			b.ReportMetric(0, "ns/op") // the compiler's time
			b.ReportMetric(size, "file-B")
		})
	}
}

// TestSize_OfAProgramThatOnlyLists: the client adds at most 670 KB to a program by hand. It once linked the encoder of
// encoding/json, through a call that decoded a string. Sizes grow by pages of 4 KB.
func TestSize_OfAProgramThatOnlyLists(t *testing.T) {
	if added := sizeOf(t, "shipping") - sizeOf(t, "raw"); added > 670e3 {
		t.Errorf("%.0f bytes more than raw: compare the output of go tool nm -size with that of the last commit; raise the "+
			"limit if the change needs the code that is linked", added)
	} else {
		t.Logf("%.0f bytes more than raw", added)
	}
}

func sizeOf(t testing.TB, name string) float64 {
	program := filepath.Join(t.TempDir(), name)
	build(t, ".", program, "./size/"+name)
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	return float64(info.Size())
}

func build(t testing.TB, folder, program, target string) {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, target)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", target, err, output)
	}
}

// sideVariable makes this test binary serve one side of BenchmarkServer.
const sideVariable = "SHIPPING_BENCHMARK_SIDE"

func TestMain(m *testing.M) {
	if side := os.Getenv(sideVariable); side != "" {
		if err := serve(side); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// ready is the line that a side prints once it accepts connections.
type ready struct {
	Address, Key string
	Paths        map[string]string // by size
}

// serve serves a side until standard input ends, and prints the processor time that it has used meanwhile. Both sides
// hold a reference server, so that the garbage collector has the same work.
func serve(side string) error {
	srv := mockserver.New()
	defer srv.Close()
	if err := srv.Err(); err != nil {
		return err
	}
	shipments, address := srv.Shipments(), strings.TrimPrefix(srv.URL, "http://")
	draft, err := service.Analyze(srv, srv.World, shipments[len(shipments)-1])
	if err != nil {
		return err
	}
	paths := map[string]string{"1KB": "/v1/regulatory-documents/request/" + service.RequestID(draft),
		"60KB": "/v1/rates?perPage=81"}
	if side == "bare" {
		bare := httptest.NewUnstartedServer(service.NewBareHandler(srv))
		// the limits of the reference server
		bare.Config.ReadHeaderTimeout, bare.Config.IdleTimeout = 30*time.Second, 2*time.Minute
		bare.Start()
		defer bare.Close()
		address = bare.Listener.Addr().String()
	}
	if err := json.NewEncoder(os.Stdout).Encode(ready{address, srv.SecretKey, paths}); err != nil {
		return err
	}
	before := processor.Time()
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	_, err = fmt.Println(int64(processor.Time() - before))
	return err
}

func measureServer(b *testing.B, side, size string) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), sideVariable+"="+side, "GOMAXPROCS=1")
	line, stop := launch(b, cmd)
	var server ready
	if err := json.Unmarshal(line, &server); err != nil {
		b.Fatal(err)
	}
	request := fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: service\r\nAuthorization: Bearer %s\r\n\r\n",
		server.Paths[size], server.Key)
	b.SetParallelism(8)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		conn, err := net.Dial("tcp", server.Address)
		if err != nil {
			b.Error(err)
			return
		}
		defer conn.Close()
		reader := bufio.NewReaderSize(conn, 64<<10)
		for pb.Next() {
			if err := exchange(conn, reader, request); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
	used, err := strconv.Atoi(string(stop()))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(used)/float64(b.N), "cpu-ns/op")
}

// exchange sends a request and reads the response.
func exchange(conn io.Writer, reader *bufio.Reader, request []byte) error {
	if _, err := conn.Write(request); err != nil {
		return err
	}
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %w", response.Status, err)
	}
	return nil
}

// launch starts a program and returns the first line that it prints. The function closes the program's standard input,
// waits for its end, and returns the last line.
func launch(b *testing.B, cmd *exec.Cmd) (first []byte, stop func() (last []byte)) {
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		b.Fatalf("%s printed no line (%v)", cmd, cmd.Wait())
	}
	return bytes.Clone(lines.Bytes()), func() (last []byte) {
		_ = in.Close()
		for lines.Scan() {
			last = bytes.Clone(lines.Bytes())
		}
		if err := cmd.Wait(); err != nil {
			b.Fatalf("%s: %v", cmd, err)
		}
		return last
	}
}
