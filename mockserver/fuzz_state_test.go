package mockserver_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/shipping-go/shipping/mockserver"
)

// FuzzStateFile tests that a state file with any content is either refused or a world that works. A file that is
// accepted, saved, read and saved again is the same, byte for byte. An empty text stands for a good file, in which old
// is replaced by new once, because a fuzzer seldom produces a valid file.
func FuzzStateFile(f *testing.F) {
	s := newStage(f, func(*mockserver.Assumptions) {})
	good := s.smallFile(f)
	if _, err := mockserver.DecodeSnapshot(bytes.NewReader(good)); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte, old, new string) {
		if len(text) == 0 {
			text = bytes.Replace(good, []byte(s.names.Replace(old)), []byte(s.names.Replace(new)), 1)
		}
		snapshot, err := mockserver.DecodeSnapshot(bytes.NewReader(text))
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		if err := snapshot.Encode(&first); err != nil {
			t.Fatalf("it is taken and cannot be saved: %v", err)
		}
		again, err := mockserver.DecodeSnapshot(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("it is taken, and not once it is saved: %v", err)
		}
		if err := again.Encode(&second); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("saved again it is another file (%v):\n%s\n%s", err, first.Bytes(), second.Bytes())
		}
		defer s.clear()
		w := s.fork(t)
		w.Restore(snapshot)
		for _, path := range []string{"/_mock/ledger", "/_mock/regulatory-requests", "/_mock/worlds/home", "/_mock/healthz"} {
			s.answered(t, s.request(t, w, http.MethodGet, path, "perPage=3", "", nil))
		}
		for path, id := range map[string]string{"/v1/rates": "rate_id", "/v1/webhooks": "webhook_id", "/_mock/deliveries": "delivery_id"} {
			if n := s.nameless(t, w, path, id); n > 0 {
				t.Errorf("%d records of %s have no %s, or that of another", n, path, id)
			}
		}
		s.answered(t, s.request(t, w, http.MethodPost, regulatoryPath+"/analyze", "", "", []byte(`{"shipment_id":"{shipment}"}`)))
		s.answered(t, s.request(t, w, http.MethodPost, regulatoryPath+"/purchase", "", "", []byte(`{"request_id":"{draft}","document_types":["CUSTOMS"]}`)))
		if _, err := w.Advance(time.Hour); err != nil {
			t.Error(err)
		}
		s.sound(t, w)
	})
}

// nameless counts the records of a list that have no identifier.
func (s *stage) nameless(t *testing.T, w *mockserver.World, path, id string) int {
	t.Helper()
	var list struct{ Data json.RawMessage }
	var records []map[string]any
	body := s.answered(t, s.request(t, w, http.MethodGet, path, "perPage=1000", "", nil)).Body.Bytes()
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatal(err)
	}
	if json.Unmarshal(list.Data, &records) != nil { // the service's lists have a name
		var named map[string]json.RawMessage
		err := json.Unmarshal(list.Data, &named)
		if err = errors.Join(err, json.Unmarshal(named[path[len("/v1/"):]], &records)); err != nil {
			t.Fatal(err)
		}
	}
	known := map[any]bool{nil: true, "": true}
	nameless := 0
	for _, record := range records {
		if known[record[id]] {
			nameless++
		}
		known[record[id]] = true
	}
	return nameless
}

// smallFile is a state file with one of each thing that a world holds, or a few.
func (s *stage) smallFile(f *testing.F) []byte {
	f.Helper()
	var whole bytes.Buffer
	var file struct {
		Format  string                       `json:"format"`
		Version int                          `json:"version"`
		Worlds  []map[string]json.RawMessage `json:"worlds"`
	}
	if err := errors.Join(s.Snapshot().Encode(&whole), json.Unmarshal(whole.Bytes(), &file)); err != nil {
		f.Fatal(err)
	}
	world := file.Worlds[0]
	for _, name := range []string{"rates", "webhooks", "deliveries", "shipments", "invoices"} {
		var rows []json.RawMessage
		err := json.Unmarshal(world[name], &rows)
		if err == nil {
			world[name], err = json.Marshal(rows[:min(2, len(rows))])
		}
		if err != nil {
			f.Fatal(err)
		}
	}
	text, err := json.Marshal(file)
	if err != nil {
		f.Fatal(err)
	}
	return text
}
