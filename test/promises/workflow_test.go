package promises_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// A workflow sends its purchase once, whatever becomes of it. If the response is lost and the record has no list of
// purchased documents, only the workflow that made the draft knows that nobody else has purchased.
func TestWorkflow_ALostPurchase(t *testing.T) {
	t.Parallel()
	offer := `"available_documents":[{"document_type":"FDA","mode":"automated","amount":5,"currency":"NGN"}]`
	draft := shippingtest.Record("draft", offer)
	resume := func(ctx context.Context, c *shipping.Client) error {
		return shippingtest.Err(c.Regulatory.Resume(ctx, "RD-1", &shipping.AnalyzeAndPollOptions{Select: everything}))
	}
	for name, test := range map[string]struct {
		do    func(context.Context, *shipping.Client) error
		reads []httpmock.Responder
		posts int // the analysis is one too
		want  shipping.PurchaseOutcome
	}{
		"AnalyzeAndPoll, a draft": {analyzeAndPoll, []httpmock.Responder{draft}, 2, shipping.OutcomeUnknown},
		"AnalyzeAndPoll, purchased": {analyzeAndPoll, []httpmock.Responder{shippingtest.Record("completed")}, 2,
			shipping.OutcomeCharged},
		"Resume, a draft": {resume, []httpmock.Responder{draft}, 1, shipping.OutcomeUnknown},
		"Resume, purchased": {resume, []httpmock.Responder{draft, shippingtest.Record("completed")}, 1,
			shipping.OutcomeUnknown},
	} {
		synctest.Test(t, func(t *testing.T) {
			service := stages(draft, shippingtest.NoResponse(), shippingtest.InTurn(test.reads...))
			err := test.do(t.Context(), shippingtest.NewClient(t, service))
			if got, posts := shippingtest.Outcome(nil, err),
				service.Count(http.MethodPost); got != test.want || posts != test.posts {
				t.Errorf("%s: outcome %q, want %q; %d requests with POST, want %d: %v", name, got, test.want, posts,
					test.posts, err)
			}
		})
	}
}
