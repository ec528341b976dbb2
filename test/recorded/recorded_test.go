// Package recorded_test replays recorded responses with go-vcr, as docs/testing.md shows.
package recorded_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
)

// record returns a transport that replays a cassette, or records it if it does not exist.
func record(path string) (*recorder.Recorder, error) {
	// Without this hook, the cassette contains the secret key.
	withoutKey := func(i *cassette.Interaction) error {
		i.Request.Headers.Del("Authorization")
		return nil
	}
	return recorder.New(path,
		recorder.WithHook(withoutKey, recorder.AfterCaptureHook),
		recorder.WithMatcher(cassette.NewDefaultMatcher(cassette.WithIgnoreAuthorization(), cassette.WithIgnoreUserAgent())))
}

func TestRates_FromACassette(t *testing.T) {
	server := mockserver.New()
	defer server.Close()
	cassettePath := filepath.Join(t.TempDir(), "rates")
	first, err := list(t, server, cassettePath)
	if err != nil {
		t.Fatal(err)
	}
	server.Close() // the second run reads the cassette only
	second, err := list(t, server, cassettePath)
	if err != nil || first != second {
		t.Errorf("replayed %q, recorded %q: %v", second, first, err)
	}
	recorded, err := os.ReadFile(cassettePath + ".yaml")
	if err != nil || strings.Contains(string(recorded), server.SecretKey) {
		t.Errorf("the cassette contains the key, or cannot be read: %v", err)
	}
}

// list returns the id of the first rate.
func list(t *testing.T, server *mockserver.Server, path string) (string, error) {
	t.Helper()
	transport, err := record(path)
	if err != nil {
		return "", err
	}
	defer transport.Stop()
	client, err := shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL),
		shipping.WithHTTPClient(&http.Client{Transport: transport}))
	if err != nil {
		return "", err
	}
	page, err := client.Rates.List(t.Context(), nil)
	if err != nil {
		return "", err
	}
	return page.Items[0].RateID, nil
}
