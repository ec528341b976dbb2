package mockserver_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

const countries = "/v1/countries"

// asking lists the countries with exactly these headers; net/http adds no Accept-Encoding.
func asking(t *testing.T, srv *mockserver.Server, headers ...string) answer {
	t.Helper()
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	return doWith(t, &http.Client{Transport: transport}, srv, http.MethodGet, countries, "", headers...)
}

// On one machine the bytes cost less than their compression, for the client as well.
func TestCountries_AreNotCompressedOnThisMachine(t *testing.T) {
	t.Parallel()
	srv := start(t)
	if got := asking(t, srv, "Accept-Encoding", "gzip").want(t, http.StatusOK); got.header.Get("Content-Encoding") != "" {
		t.Errorf("over loopback, the response has the encoding %q", got.header.Get("Content-Encoding"))
	}
	inMemory := doWith(t, &http.Client{Transport: srv.Transport()}, srv, http.MethodGet, countries, "", "Accept-Encoding", "gzip")
	if inMemory.want(t, http.StatusOK).header.Get("Content-Encoding") != "" {
		t.Errorf("in memory, the response has the encoding %q", inMemory.header.Get("Content-Encoding"))
	}
	elsewhere := httptest.NewRequest(http.MethodGet, countries, nil) // from 192.0.2.1
	elsewhere.Header.Set("Authorization", "Bearer "+srv.SecretKey)
	elsewhere.Header.Set("Accept-Encoding", "gzip")
	got := httptest.NewRecorder()
	if srv.ServeHTTP(got, elsewhere); got.Code != http.StatusOK || got.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("another machine gets %d with the encoding %q, want 200 with gzip", got.Code, got.Header().Get("Content-Encoding"))
	}
}

func TestCountries_AreCompressedForThoseWhoAsk(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithCompression())
	plain := asking(t, srv).want(t, http.StatusOK)
	if plain.header.Get("Content-Encoding") != "" || plain.header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("not asked, answered with %v", plain.header)
	}
	for accept, zipped := range map[string]bool{
		"gzip": true, "deflate, GZIP;q=0.5": true, "x-gzip": true, "*": true, "br;q=1, *;q=0.1": true,
		"gzip;q=0": false, "*, gzip;q=0": false, "*;q=0": false, "br": false, "identity": false, "gzip;q=lots": false,
	} {
		got := asking(t, srv, "Accept-Encoding", accept).want(t, http.StatusOK)
		if is := got.header.Get("Content-Encoding") == "gzip"; is != zipped {
			t.Errorf("%q is answered with encoding %q", accept, got.header.Get("Content-Encoding"))
			continue
		}
		body := got.body
		if zipped {
			reader, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(reader); err != nil {
				t.Fatal(err)
			}
			if len(got.body)*4 > len(body) {
				t.Errorf("%d of %d bytes are left", len(got.body), len(body))
			}
		}
		if diff := cmp.Diff(string(plain.body), string(body)); diff != "" {
			t.Errorf("%q (-plain +got):\n%s", accept, diff)
		}
	}
}

func TestCountries_AreNotSentToThoseWhoHaveThem(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithCompression())
	plain := asking(t, srv).want(t, http.StatusOK).header.Get("Etag")
	zipped := asking(t, srv, "Accept-Encoding", "gzip").want(t, http.StatusOK).header.Get("Etag")
	if plain == "" || plain == zipped {
		t.Fatalf("tags %s and %s", plain, zipped)
	}
	tests := []struct {
		accept, condition string
		status            int
	}{
		{"", plain, http.StatusNotModified},
		{"gzip", zipped, http.StatusNotModified},
		{"", `"other", W/` + plain, http.StatusNotModified},
		{"gzip", "*", http.StatusNotModified},
		{"gzip", plain, http.StatusOK},
		{"", zipped, http.StatusOK},
		{"", `"other"`, http.StatusOK},
	}
	for _, test := range tests {
		got := asking(t, srv, "Accept-Encoding", test.accept, "If-None-Match", test.condition).want(t, test.status)
		if (len(got.body) == 0) != (test.status == http.StatusNotModified) {
			t.Errorf("%d with %d bytes", got.status, len(got.body))
		}
		if got.header.Get("Etag") == "" || got.header.Get("Vary") == "" {
			t.Errorf("%d without tag or Vary: %v", got.status, got.header)
		}
	}
	asking(t, srv, "Authorization", "Bearer wrong", "If-None-Match", plain).want(t, http.StatusUnauthorized)
}

// The client asks for the compressed list, by net/http, and reads it; the journal has it in plain, and a
// fault spoils the plain one.
func TestCountries_CompressedAreReadByTheClient(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithCompression())
	for range 2 {
		list, err := srv.Client(t).Countries.List(t.Context())
		if err != nil || len(list) != 250 {
			t.Fatalf("%d countries: %v", len(list), err)
		}
	}
	for _, call := range srv.Journal() {
		if !strings.HasPrefix(call.ResponseBody, `{"status":true`) {
			t.Errorf("the journal has %.40q", call.ResponseBody)
		}
	}
	if err := srv.Inject(fault.Rule{Operation: shipping.OpListCountries, Nth: 1, Fault: fault.Malformed()}); err != nil {
		t.Fatal(err)
	}
	if got := asking(t, srv, "Accept-Encoding", "gzip"); got.header.Get("Content-Encoding") != "" {
		t.Errorf("a spoilt answer is compressed: %v", got.header)
	}
}
