package batch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// echoing is a service that sends the key of the client back in one member of its responses to one operation.
type echoing struct {
	walletService
	operation, member string // a member of data, of its first document, or of the envelope
	refuse            bool
}

func (s *echoing) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.walletService.RoundTrip(r)
	operation := path.Base(r.URL.Path)
	if r.Method == http.MethodGet {
		operation = "get"
	}
	if err != nil || operation != s.operation {
		return response, err
	}
	var body map[string]any
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		return nil, err
	}
	if s.refuse {
		response.StatusCode = http.StatusBadRequest
		body["status"] = false
	}
	data, _ := body["data"].(map[string]any)
	where, member, nested := strings.Cut(s.member, ".")
	switch list, _ := data[where].([]any); {
	case nested && len(list) > 0:
		list[0].(map[string]any)[member] = shippingtest.Key
	case nested:
		data[where] = []any{map[string]any{member: shippingtest.Key}}
	case where == "message":
		body[where] = shippingtest.Key
	default:
		data[where] = shippingtest.Key
	}
	text, err := json.Marshal(body)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return response, err
}

// A service that sent the key back as the currency of a confirmation had it written to the journal. No text of a
// service brings the key into a journal, a report, an event or an error.
func TestBatch_KeepsTheKeyOutOfJournalsAndReports(t *testing.T) {
	t.Parallel()
	members := []string{
		"message", "request_id", "status", "currency", "transaction_id", "shipment_id", "source", "charged_amount", "error_code", "failure",
		"available_documents.document_type", "available_documents.currency", "available_documents.amount", "available_documents.name",
		"documents.document_type", "documents.currency", "documents.status", "documents.failure", "line_items.item_id",
	}
	synctest.Test(t, func(t *testing.T) {
		for _, operation := range []string{"analyze", "purchase", "get"} {
			for _, member := range members {
				for _, refuse := range []bool{false, true} {
					service := &echoing{operation: operation, member: member, refuse: refuse}
					service.put("[withheld: it contains the secret key]", "draft") // a request whose id was the key
					service.purchase = func(int) purchaseFault {
						return purchaseFault{Report: `"charged_amount":100,"currency":"NGN","transaction_id":"TX-1"`, Lose: operation == "get"}
					}
					checkEcho(t, fmt.Sprintf("%s, %s, refused %t", operation, member, refuse), service)
				}
			}
		}
	})
}

func checkEcho(t *testing.T, name string, service *echoing) {
	file := filepath.Join(t.TempDir(), "journal")
	journal := openJournal(t, file)
	defer journal.Close()
	var printed strings.Builder
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // of virtual time, for an unknown status
	defer cancel()
	for range 2 {
		report, err := batch.Run(ctx, walletClient(t, service), walletItems(1), &batch.Options{
			Select: shipping.SelectAll, Budget: nairaBudget(t, "1000"), Journal: journal, Poll: shipping.PollOptions{MaxFailures: 2},
			Progress: func(event batch.Event) {
				fmt.Fprintf(&printed, "%+v %v %+v\n", event.Item, event.Err, event.Purchase)
				if r := event.Request; r != nil {
					fmt.Fprintln(&printed, r.RequestID, r.Status, r.Currency, r.TransactionID)
				}
			},
		})
		fmt.Fprintf(&printed, "%+v %v %#v\n", report, err, report.Results[0].Err)
	}
	printed.Write(contentOf(t, file))
	if text := printed.String(); strings.Contains(text, shippingtest.Key) {
		at := strings.Index(text, shippingtest.Key)
		t.Errorf("%s: the key is in …%s…", name, text[max(0, at-300):min(len(text), at+60)])
	}
}
