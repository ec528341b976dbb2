// Package explain explains why a request was refused: the section of the specification that has the rule, and the
// nearest request that the world would accept.
package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/byname"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Response explains the response of a world with the given X-Request-Id. If the key of the request opens no world, the
// suggestion is for the home world. Its command has the address of the server.
func Response(worlds *world.Worlds, w *world.World, requestID, address string,
	table []operations.Operation) (journal.Why, error) {
	c, rule, err := w.Log.Remembered(requestID)
	if err != nil {
		return journal.Why{}, fmt.Errorf("mockserver: %w", err)
	}
	why := journal.Why{
		EntryID: c.ID, Operation: c.Operation, Status: c.Status, ErrorCode: c.ErrorCode, Message: c.Message, Fault: c.Fault,
		Findings: w.Lint.Of(requestID),
	}
	if c.Fault != "" || c.ErrorCode == "" {
		return why, nil
	}
	why.Rule = rule
	why.Specification = heading(c.Operation, c.ErrorCode, table)
	if c.Operation != "" && !byname.Exists(c.Operation) { // a stub
		return why, nil
	}
	valid := w
	if w == worlds.Unauthenticated {
		valid = worlds.Home()
	}
	op := nearestOperation(&c, table)
	sent := parse(valid, &c, op)
	sent.respell(op.Name)
	why.Nearest = sent.nearest(op, table, address)
	return why, nil
}

// heading returns the section of the specification that has the rule of a refusal.
func heading(operation, code string, table []operations.Operation) string {
	rows := []struct{ operation, code, heading string }{
		{"", wire.CodeUnauthorized, "Authentication, rules 1 and 2"},
		{"", wire.CodeMediaType, "Authentication: Content-Type is application/json for POST and PUT bodies"},
		{"", wire.CodeMalformed, "Endpoints: all bodies and responses are JSON"},
		{"", wire.CodeTooLarge, "Limits: body size limits are not shown"},
		{"", wire.CodeHeaderLarge, "Limits: header size limits are not shown (assumption: 64 KiB)"},
		{"", wire.CodeTimeout, "Limits: timeouts are not shown (assumption: a body arrives within 30 s)"},
		{"", wire.CodeFull, "none: the server is full; close worlds, or reset the world"},
		{"", wire.CodeMethod, "Endpoints"},
		{"", wire.CodeUnavailable, "none: the server could not start"},
		{"", wire.CodeInternal, "none: a defect of this server"},
		{"", string(regulatory.CodeAnalysisFailed), "States and transitions: Regulatory document request states"},
		{shipping.OpReplayWebhook, wire.CodeInvalid, "Endpoints: POST /v1/webhooks/replay, Rules"},
		{shipping.OpListTransactions, wire.CodeNotFound, "Endpoints: GET /v1/transactions"},
	}
	for _, row := range rows {
		if (row.operation == "" || row.operation == operation) && (row.code == "" || row.code == code) {
			return row.heading
		}
	}
	if operation == "" {
		return "Versioning and Endpoints: every path begins with /v1"
	}
	for _, op := range table {
		if op.Name != operation || op.Provisional {
			continue
		}
		if route, regulatory := strings.CutPrefix(op.Route, "/v1/regulatory-documents"); regulatory {
			return "Endpoints: Regulatory documents, " + op.Method + " " + strings.NewReplacer("{", ":", "}", "").Replace(route)
		}
		return "Endpoints: " + op.Method + " " + op.Route
	}
	return "Endpoints: Regulatory documents, editing the draft (provisional: paths and bodies are not shown)"
}

// respell gives misspelt members of the body the names that were perhaps meant, unless the body has these too.
func (r *sentRequest) respell(operation string) {
	known := api.BodyFields(operation)
	for _, name := range slices.Sorted(maps.Keys(r.body)) {
		meant := spelling.Nearest(name, known)
		if _, sent := r.body[meant]; meant != "" && !sent {
			r.body[meant] = r.body[name]
		}
	}
}
