package webhook_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"unsafe"

	"github.com/shipping-go/shipping/webhook"
)

// memory makes strings whose memory can be overwritten.
type memory [][]byte

func (m *memory) text(text string) string {
	held := []byte(text)
	*m = append(*m, held)
	return unsafe.String(unsafe.SliceData(held), len(held))
}

func (m *memory) overwrite() {
	for _, held := range *m {
		copy(held, bytes.Repeat([]byte("#"), len(held)))
	}
}

// keptRecords is a log handler that formats what was logged when it is asked to.
type keptRecords struct {
	slog.Handler
	kept *[]slog.Record
}

func (k keptRecords) Handle(_ context.Context, r slog.Record) error {
	*k.kept = append(*k.kept, r)
	return nil
}

// The receiver kept header strings of a request. A server that is not net/http's reuses their memory for the next
// request, so that the ids of notifications, and the keys of the store, changed after ServeHTTP had returned.
func TestReceiver_KeepsNothingOfARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var records []slog.Record
		logHandler := keptRecords{slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}), &records}
		var mu sync.Mutex
		var got, stored []string
		store := &recordingStore{Store: webhook.NewMemoryStore(webhook.StoreOptions{}), ids: &stored}
		release := make(chan struct{})
		receiver := newReceiver(t, func(_ context.Context, n *webhook.Notification) error {
			<-release
			mu.Lock()
			defer mu.Unlock()
			got = append(got, n.ID+" "+n.EventID+" "+string(n.Event)+" "+string(n.Body))
			return nil
		}, webhook.WithWorkers(2, 10), webhook.WithStore(store), webhook.WithLogger(slog.New(logHandler)))
		send := func(id, signature string) int {
			var held memory
			request := httptest.NewRequest(http.MethodPost, "/", io.NopCloser(bytes.NewReader([]byte(body))))
			request.Method, request.RequestURI, request.RemoteAddr = held.text(http.MethodPost), held.text("/"), held.text("192.0.2.1:1")
			for name, value := range map[string]string{
				webhook.DefaultIDHeader: id, webhook.DefaultEventIDHeader: "event of " + id, webhook.DefaultSignatureHeader: signature,
			} {
				request.Header[held.text(http.CanonicalHeaderKey(name))] = []string{held.text(value)}
			}
			answer := httptest.NewRecorder()
			receiver.ServeHTTP(answer, request)
			held.overwrite()
			return answer.Code
		}
		signature := webhook.Sign(key, []byte(body))
		for range 2 { // deliveries, and their duplicates
			for _, id := range []string{"WD-1", "WD-2"} {
				if code := send(id, signature); code != http.StatusOK {
					t.Errorf("%s: %d", id, code)
				}
			}
		}
		if code := send("WD-3", "forged"); code != http.StatusUnauthorized {
			t.Errorf("forged: %d", code)
		}
		close(release)
		if err := receiver.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		want := fmt.Sprintf("[WD-1 event of WD-1 shipment.updated %[1]s WD-2 event of WD-2 shipment.updated %[1]s]", body)
		if fmt.Sprint(got) != want {
			t.Errorf("handled %q, want %s", got, want)
		}
		for _, record := range records {
			if err := logHandler.Handler.Handle(t.Context(), record); err != nil {
				t.Fatal(err)
			}
		}
		if bytes.Contains(log.Bytes(), []byte("##")) || len(records) != 3 {
			t.Errorf("logged %d records:\n%s", len(records), &log)
		}
		if text := fmt.Sprint(stored); bytes.Contains([]byte(text), []byte("##")) || len(stored) != 6 {
			t.Errorf("the store has the ids %s", text)
		}
	})
}

// recordingStore keeps the ids that it gets.
type recordingStore struct {
	webhook.Store
	ids *[]string
}

func (s *recordingStore) Claim(ctx context.Context, id, claim string) (webhook.ClaimState, error) {
	*s.ids = append(*s.ids, id)
	return s.Store.Claim(ctx, id, claim)
}

func (s *recordingStore) Accept(ctx context.Context, id, claim string) error {
	*s.ids = append(*s.ids, id)
	return s.Store.Accept(ctx, id, claim)
}
