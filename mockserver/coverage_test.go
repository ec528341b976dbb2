package mockserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
)

func TestCoverage_CountsWhatAllServersHaveShown(t *testing.T) {
	t.Parallel()
	coverage := mockserver.NewCoverage()
	if got := coverage.Ratio(); got != 0 {
		t.Errorf("%v has been seen of nothing", got)
	}
	first := start(t, mockserver.WithoutListener(), mockserver.WithCoverage(coverage))
	get(t, first, "/v1/rates")
	get(t, first, "/v1/transactions").want(t, 400)
	second := start(t, mockserver.WithoutListener(), virtual(), mockserver.WithCoverage(coverage))
	draft := analyzeShipment(t, second, second.Shipments()[0])
	post(t, second, regulatoryPath+"/purchase", `{"request_id":"`+draft.ID+`","document_types":["CUSTOMS"]}`).want(t, 200)
	do(t, second, http.MethodGet, "/v1/rates", "", "Authorization", "").want(t, 401)

	seen := map[string]int{}
	for _, row := range coverage.Rows() {
		if row.Seen > 0 {
			seen[row.Section+" "+row.Item] = row.Seen
		}
	}
	for _, want := range []string{
		"operations " + shipping.OpListRates, "operations " + shipping.OpListTransactions, "operations " + shipping.OpPurchase,
		"states draft", "states processing", "documents CUSTOMS", "refusals invalid_request", "refusals unauthorized",
	} {
		if seen[want] == 0 {
			t.Errorf("%s was not seen: %v", want, seen)
		}
	}
	if seen["operations "+shipping.OpListRates] != 2 || len(seen) != 9 {
		t.Errorf("seen is %v", seen)
	}
	if second.Coverage() != coverage {
		t.Error("a server has another coverage than it was given")
	}
	var rows []mockserver.CoverageRow
	get(t, first, "/_mock/coverage").data(t, &rows)
	if len(rows) != len(coverage.Rows()) {
		t.Errorf("%d rows over HTTP", len(rows))
	}
}

func TestCoverage_RequireFailsASuiteThatHasSeenTooLittle(t *testing.T) {
	t.Parallel()
	coverage := mockserver.NewCoverage()
	srv := start(t, mockserver.WithoutListener(), mockserver.WithCoverage(coverage))
	get(t, srv, "/v1/rates")
	var out strings.Builder
	if code := coverage.Require(0, 0.5, &out); code != 1 || !strings.Contains(out.String(), "required 50 %") || !strings.Contains(out.String(), fmt.Sprintf("operations  1 of %d  not seen: ", len(shipping.Operations()))) {
		t.Errorf("code %d:\n%s", code, &out)
	}
	out.Reset()
	if code := coverage.Require(0, 0.01, &out); code != 0 || out.Len() != 0 {
		t.Errorf("code %d:\n%s", code, &out)
	}
	if code := coverage.Require(2, 0.5, &out); code != 2 || out.Len() != 0 {
		t.Errorf("a failed suite ends with %d:\n%s", code, &out)
	}
}
