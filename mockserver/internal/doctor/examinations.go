package doctor

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// examination is a row of the table: a delivery, and the judgement of its response. Its place in the table is the
// number of its shipment.
type examination struct {
	delivery, wanted string
	event            string
	body             func([]byte) []byte // changes the body before it is signed
	edit             func(*post)         // changes the signed delivery
	rotated          bool                // signed with the other key
	forged           bool                // signed with a key that the receiver does not have
	outdated         bool                // signed at a time that is longer ago than the tolerance of the dialect
	// the event of a second delivery; the same event means the same delivery again
	then   string
	well   func(reaction) bool
	advice string
	check  string // what only the user can see: "shipment SH-… " and this
}

const (
	wantAccepted = "2xx"
	wantRefused  = "4xx"

	oversize = 16 << 20 // longer than any notification

	created, updated = "shipment.created", "shipment.updated"
)

func accepted(r reaction) bool { return r.is(2) }
func refused(r reaction) bool  { return r.is(4) }

// examinations returns the table. The first delivery is valid; the next ones are unusual or invalid, and the last one
// checks that the receiver still works.
func examinations(within time.Duration) []examination {
	return []examination{
		{delivery: "valid", wanted: wantAccepted, event: created, well: accepted},
		{delivery: "response time", wanted: "a response within " + within.String(), event: updated,
			well: func(r reaction) bool { return r.is(2) && r.took <= within },
			advice: "Verify the delivery, queue it, respond, and process it afterwards: the service times out on slow " +
				"receivers and retries."},
		{delivery: "odd formatting", wanted: wantAccepted, event: updated, well: accepted,
			body: func(body []byte) []byte {
				body = bytes.Replace(body, []byte(`"amount":136,`), []byte("\"amount\" : 136.0 ,\r\n\t"), 1)
				return bytes.Replace(body, []byte("Lagos"), []byte(`\u004cagos`), 1)
			},
			advice: "Verify the received bytes: a body that is parsed and encoded again has other bytes (136.0 becomes 136) " +
				"and another signature."},
		{delivery: "bad signature", wanted: wantRefused, event: created, well: refused, forged: true,
			advice: "Anyone could send you events: compare the signature, in constant time, before anything else."},
		{delivery: "missing signature", wanted: wantRefused, event: created, well: refused,
			edit:   func(p *post) { p.signature = "" },
			advice: "Anyone could send you events: refuse deliveries without a signature."},
		{delivery: "changed body", wanted: wantRefused, event: created, well: refused,
			edit:   func(p *post) { p.body = bytes.Replace(p.body, []byte(`"pending"`), []byte(`"PENDING"`), 1) },
			advice: "Compute the signature of the received body, not of a header or a part of the body."},
		{delivery: "duplicate", wanted: wantAccepted + ", both times", event: created, then: created, well: accepted,
			advice: "Respond to a duplicate with success: otherwise the service retries it.",
			check:  "must have been created once, not twice"},
		{delivery: "out of order", wanted: wantAccepted + ", both times", event: "shipment.delivered", then: updated,
			well:   accepted,
			advice: "Deliveries arrive in any order: accept them all, and compare updated_at before you overwrite.",
			check:  "must still be delivered, not in transit again"},
		{delivery: "unknown event", wanted: wantAccepted, event: "shipment.teleported", well: accepted,
			advice: "Not all kinds of events are documented: accept and ignore unknown ones, or the service retries them."},
		{delivery: "rotated key", wanted: wantAccepted, event: created, rotated: true, well: accepted,
			advice: "Accept several keys: during key rotation, deliveries signed with the old key are still under way."},
		{delivery: "malformed JSON", wanted: wantRefused, event: created, well: refused,
			body:   func(body []byte) []byte { return body[:len(body)/2] },
			advice: "The signature is valid, but the body is not JSON: refuse it completely."},
		{delivery: "wrong content type", wanted: "2xx or 4xx", event: created,
			edit:   func(p *post) { p.kind = "application/x-www-form-urlencoded" },
			well:   func(r reaction) bool { return r.is(2) || r.is(4) },
			advice: "Read the raw bytes regardless of the Content-Type: some frameworks parse a form and leave an empty body."},
		// A delivery as it arrives after a proxy has redirected it.
		{delivery: "redirected", wanted: wantRefused, event: created, well: refused,
			edit: func(p *post) { *p = post{method: http.MethodGet, id: p.id} },
			advice: "A proxy that redirects turns a delivery into a GET without body: refuse it with 405, or the delivery " +
				"is lost but counts as delivered."},
		{delivery: "oversized", wanted: wantRefused + ", or the connection closed", event: created,
			body: func(body []byte) []byte { return append(body, bytes.Repeat([]byte(" "), oversize)...) },
			well: func(r reaction) bool { return r.is(4) || r.err != nil && !r.late() },
			advice: "Limit the body (http.MaxBytesReader, 1 MiB is enough): anyone who knows the address can exhaust your " +
				"memory."},
		{delivery: "slow", wanted: "a response, or the connection closed, before the sender gives up", event: created,
			edit:   func(p *post) { p.stalls = true },
			well:   func(r reaction) bool { return !r.late() },
			advice: "Time out slow senders (http.Server's ReadTimeout): each one holds a connection."},
		{delivery: "old timestamp", wanted: wantRefused, event: created, well: refused, outdated: true,
			advice: "Compare the signed time with your clock: otherwise anyone who captured a delivery can send it again " +
				"later."},
		{delivery: "valid, after all this", wanted: wantAccepted, event: created, well: accepted,
			advice: "One of the deliveries above has broken the receiver: read its log."},
	}
}

// firstAdvice returns the advice for a refused valid delivery.
func (e *examiner) firstAdvice(r reaction) string {
	switch {
	case r.is(3):
		return "Deliveries do not follow redirects: subscribe the target of the redirect, including a trailing slash."
	case r.status == http.StatusNotFound, r.status == http.StatusMethodNotAllowed:
		return "Is this the path of the receiver, and does it accept POST?"
	case r.is(5):
		return "The receiver fails on a valid delivery: read its log."
	}
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](r.err); unknown {
		return "Trust its certificate: set SSL_CERT_FILE to the file; on macOS and Windows, add it to those that the " +
			"system trusts."
	}
	s := e.Scheme
	advice := fmt.Sprintf("Does the receiver have this key? It must compare %s with the %s HMAC-%s of %s, where "+
		"{body} is the raw body", s.Header, cmp.Or(s.Encoding, "hex"), cmp.Or(s.Hash, "sha512"), s.Signed)
	if s.Timed() {
		advice += ", and both clocks must agree"
	}
	return advice + "."
}

// shipmentID is the identifier of the shipment of an examination.
func shipmentID(number int) string { return fmt.Sprintf("SH-DOCTOR%010d", number) }

// notification returns the body of a delivery: an event and the shipment at that time.
//
// Assumption: its shape is that of the reference server's deliveries.
func notification(event string, number int) []byte {
	status, day := "in-transit", 2
	switch event {
	case created:
		status, day = "pending", 1
	case "shipment.delivered":
		status, day = "delivered", 3
	}
	changed := fmt.Sprintf("2026-01-%02dT09:30:00.000Z", day)
	return fmt.Appendf(nil, `{"event":%q,"data":{"shipment_id":%q,"status":%q,"amount":136,"currency":"USD",`+
		`"address_from":{"city":"Lagos","country":"NG"},"address_to":{"city":"Houston","country":"US"},`+
		`"events":[{"created_at":%[4]q,"description":"Examined by the doctor","location":"Lagos","status":%[3]q}],`+
		`"created_at":"2026-01-01T09:30:00.000Z","updated_at":%[4]q}}`, event, shipmentID(number), status, changed)
}
