package wire

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
)

// Every response has its Content-Length: on a connection, to HEAD, and in a recorder.
func TestReply_HasItsLength(t *testing.T) {
	t.Parallel()
	serve := func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.URL.Query().Get("size"))
		p := Reply{Status: http.StatusOK, Body: make([]byte, size)}
		if err := p.Write(w); err != nil {
			t.Error(err)
		}
	}
	srv := httptest.NewServer(http.HandlerFunc(serve))
	defer srv.Close()
	for _, size := range []int{0, 1, 2048, 6000} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			target := fmt.Sprintf("%s/?size=%d", srv.URL, size)
			req, err := http.NewRequestWithContext(t.Context(), method, target, nil)
			if err != nil {
				t.Fatal(err)
			}
			sent, err := srv.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if err := sent.Body.Close(); err != nil {
				t.Error(err)
			}
			recorder := httptest.NewRecorder()
			serve(recorder, httptest.NewRequest(method, target, nil))
			for where, got := range map[string]http.Header{"connection": sent.Header, "recorder": recorder.Header()} {
				if length := got["Content-Length"]; len(length) != 1 || length[0] != strconv.Itoa(size) {
					t.Errorf("%s of %d bytes, %s: Content-Length %q", method, size, where, length)
				}
			}
		}
	}
}
