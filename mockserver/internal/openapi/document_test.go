package openapi_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/openapi"
)

func write(t *testing.T, operations []shipping.Operation, controls []openapi.Control) []byte {
	t.Helper()
	document, err := openapi.Write(operations, controls, openapi.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func TestWrite_SameTablesGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	if !bytes.Equal(write(t, shipping.Operations(), nil), write(t, shipping.Operations(), nil)) {
		t.Error("two documents of one table differ")
	}
}

func TestWrite_LeavesOutAnOperationThatNobodyHasDescribed(t *testing.T) {
	t.Parallel()
	table := append(shipping.Operations(), shipping.Operation{Name: "parcels.list", Method: "GET", Route: "/v1/parcels"})
	if !bytes.Equal(write(t, table, nil), write(t, shipping.Operations(), nil)) {
		t.Error("an operation without a description changes the document")
	}
}

func TestWrite_EveryNamedSchemaAndFailureIsUsed(t *testing.T) {
	t.Parallel()
	text := string(write(t, shipping.Operations(), []openapi.Control{{Method: "GET", Path: "/_mock/healthz", Summary: "health", Enveloped: true}}))
	var document struct {
		Components struct{ Schemas, Responses map[string]json.RawMessage }
	}
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	for name := range document.Components.Schemas {
		if !strings.Contains(text, `"#/components/schemas/`+name+`"`) {
			t.Errorf("nothing refers to the schema %s", name)
		}
	}
	for name := range document.Components.Responses {
		if !strings.Contains(text, `"#/components/responses/`+name+`"`) {
			t.Errorf("nothing refers to the failure %s", name)
		}
	}
}

func TestWrite_ControlRoutesShareAPathAndSayWhatTheyAnswerWith(t *testing.T) {
	t.Parallel()
	text := write(t, nil, []openapi.Control{
		{Method: "GET", Path: "/_mock/webhooks", Summary: "list"},
		{Method: "PATCH", Path: "/_mock/webhooks/{webhook_id}", Summary: "change"},
		{Method: "POST", Path: "/_mock/webhooks", Summary: "add"},
		{Method: "GET", Path: "/_mock/metrics", Summary: "metrics", Media: []string{"text/plain"}, Query: []openapi.Parameter{{Name: "world", About: "which one", Example: "home"}}},
	})
	type operation struct {
		ID          string   `json:"operationId"`
		Tags        []string `json:"tags"`
		RequestBody any      `json:"requestBody"`
		Parameters  []struct{ Name, In string }
		Responses   map[string]struct{ Content map[string]any }
	}
	var document struct {
		Paths map[string]map[string]operation
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	if got := document.Paths["/_mock/webhooks"]; got["get"].ID != "control.get.mock.webhooks" || got["post"].RequestBody == nil {
		t.Errorf("%+v", got)
	}
	change := document.Paths["/_mock/webhooks/{webhook_id}"]["patch"]
	if len(change.Parameters) != 1 || change.Parameters[0].Name != "webhook_id" || change.Parameters[0].In != "path" {
		t.Errorf("%+v", change)
	}
	if _, plain := document.Paths["/_mock/metrics"]["get"].Responses["200"].Content["text/plain"]; !plain {
		t.Error("metrics are not text/plain")
	}
	if p := document.Paths["/_mock/metrics"]["get"].Parameters; len(p) != 1 || p[0].Name != "world" || p[0].In != "query" { // S31, U2
		t.Errorf("metrics take %+v", p)
	}
}
