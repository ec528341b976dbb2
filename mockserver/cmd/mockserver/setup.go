package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/shipping-go/shipping/mockserver"
)

// controlRequest is a request of the file of the flag -setup.
type controlRequest struct {
	Method string          `json:"method"` // POST if it is empty
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body"`
}

// readSetup reads a file of control requests, and returns a function that sends them to the server of a world.
func readSetup(name string) (func(*mockserver.World) error, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("-setup: %w", err)
	}
	var requests []controlRequest
	read := json.NewDecoder(bytes.NewReader(text))
	read.DisallowUnknownFields()
	if err := read.Decode(&requests); err != nil {
		return nil, fmt.Errorf(`-setup: %s: %w; write a list such as [{"path": "/_mock/shipments", "body": {}}]`, name, err)
	}
	for i, r := range requests {
		if !strings.HasPrefix(r.Path, "/_mock/") {
			return nil, fmt.Errorf("-setup: %s: request %d has the path %q: it must begin with /_mock/", name, i+1, r.Path)
		}
	}
	return func(w *mockserver.World) error {
		for i, r := range requests {
			if err := r.send(w); err != nil {
				return fmt.Errorf("-setup: %s: request %d: %w", name, i+1, err)
			}
		}
		return nil
	}, nil
}

func (r controlRequest) send(w *mockserver.World) error {
	req, err := http.NewRequest(cmp.Or(r.Method, http.MethodPost), w.URL+r.Path, bytes.NewReader(r.Body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	client := http.Client{Transport: w.Transport()}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var refusal struct{ Message string }
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		_ = json.Unmarshal(body, &refusal) // without a refusal, the error has only the status
		err = fmt.Errorf("%s %s: %s: %s", req.Method, r.Path, resp.Status, refusal.Message)
	}
	return err
}
