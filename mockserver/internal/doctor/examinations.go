package doctor

import (
	"bytes"
	"fmt"
	"net/http"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/delivery"
)

// examination is a row of the table: a delivery, and the judgement of its response.
type examination struct {
	delivery, wanted string
	make             func(e *examiner) Finding
}

const (
	wantAccepted = "2xx"
	wantRefused  = "4xx"
)

// examinations returns the table. The first delivery is valid; the next ones are unusual or invalid, and the last one
// checks that the receiver still works.
func examinations() []examination {
	return []examination{
		{"valid", wantAccepted, valid},
		{"response time", "a response within 2 s", prompt},
		{"odd formatting", wantAccepted, oddFormatting},
		{"bad signature", wantRefused, badSignature},
		{"missing signature", wantRefused, missingSignature},
		{"changed body", wantRefused, changedBody},
		{"duplicate", wantAccepted + ", both times", duplicate},
		{"out of order", wantAccepted + ", both times", outOfOrder},
		{"unknown event", wantAccepted, unknownEvent},
		{"rotated key", wantAccepted, rotatedKey},
		{"malformed JSON", wantRefused, malformed},
		{"wrong content type", "2xx or 4xx", wrongContentType},
		{"redirected", wantRefused, redirected},
		{"oversized", wantRefused + ", or the connection closed", oversized},
		{"slow", "a response, or the connection closed, before the sender gives up", slow},
		{"valid, after all this", wantAccepted, stillWell},
	}
}

// accepted judges a response that must be a success.
func accepted(r reaction, advice string) Finding {
	return judged(r, r.accepted(), advice)
}

// refused judges a response that must be a refusal.
func refused(r reaction, advice string) Finding {
	if r.status >= 500 {
		advice = "A 5xx means that the receiver failed, so the service retries: refuse with 4xx. " + advice
	}
	return judged(r, r.refused(), advice)
}

func judged(r reaction, good bool, advice string) Finding {
	if good {
		return Finding{Saw: r.String(), Verdict: Good}
	}
	return Finding{Saw: r.String(), Verdict: Bad, Advice: advice}
}

func valid(e *examiner) Finding {
	r := e.send(e.signed(notification("shipment.created", 1)))
	e.unreachable = r.unconnected()
	advice := fmt.Sprintf("Does the receiver have this key? It must compare the hexadecimal HMAC-SHA512 of the raw body with %s.", e.SignatureHeader)
	switch {
	case r.redirect():
		advice = "Deliveries do not follow redirects: subscribe the target of the redirect, including a trailing slash."
	case r.status == http.StatusNotFound, r.status == http.StatusMethodNotAllowed:
		advice = "Is this the path of the receiver, and does it accept POST?"
	case r.status >= 500:
		advice = "The receiver fails on a valid delivery: read its log."
	}
	return accepted(r, advice)
}

// promptly is the time within which a receiver should respond.
const promptly = 2 * time.Second

func prompt(e *examiner) Finding {
	r := e.send(e.signed(notification("shipment.updated", 2)))
	f := judged(r, r.accepted() && r.took <= promptly, "Verify the delivery, queue it, respond, and process it afterwards: the service times out on slow receivers and retries.")
	f.Saw = fmt.Sprintf("%s after %s", r, r.took.Round(time.Millisecond))
	return f
}

func oddFormatting(e *examiner) Finding {
	body := bytes.Replace(notification("shipment.updated", 3), []byte(`"amount":136,`), []byte("\"amount\" : 136.0 ,\r\n\t"), 1)
	body = bytes.Replace(body, []byte("Lagos"), []byte(`\u004cagos`), 1)
	return accepted(e.send(e.signed(body)), "Verify the received bytes: a body that is parsed and encoded again has other bytes (136.0 becomes 136) and another signature.")
}

func badSignature(e *examiner) Finding {
	p := e.signed(notification("shipment.created", 4))
	p.signature = delivery.Sign(e.Key+"?", []byte("something else"))
	return refused(e.send(p), "Anyone could send you events: compare the signature, in constant time, before anything else.")
}

func missingSignature(e *examiner) Finding {
	p := e.signed(notification("shipment.created", 5))
	p.signature = ""
	return refused(e.send(p), "Anyone could send you events: no signature is a wrong signature.")
}

func changedBody(e *examiner) Finding {
	body := notification("shipment.created", 6)
	p := e.signed(body)
	p.body = bytes.NewReader(bytes.Replace(body, []byte(`"pending"`), []byte(`"PENDING"`), 1))
	return refused(e.send(p), "Compute the signature of the received body, not of a header or a part of the body.")
}

func duplicate(e *examiner) Finding {
	p := e.signed(notification("shipment.created", 7))
	p.id = e.newID()
	first := e.send(p)
	p.body = bytes.NewReader(notification("shipment.created", 7))
	second := e.send(p)
	f := judged(second, first.accepted() && second.accepted(), "Respond to a duplicate with success: otherwise the service retries it.")
	if f.Verdict == Good {
		f.Advice = "Check yourself: shipment " + shipmentID(7) + " must have been created once, not twice."
	}
	f.Saw = first.String() + ", then " + second.String()
	return f
}

func outOfOrder(e *examiner) Finding {
	late := e.send(e.signed(notification("shipment.delivered", 8)))
	early := e.send(e.signed(notification("shipment.updated", 8)))
	f := judged(early, late.accepted() && early.accepted(), "Deliveries arrive in any order: accept them all, and compare updated_at before you overwrite.")
	if f.Verdict == Good {
		f.Advice = "Check yourself: shipment " + shipmentID(8) + " must still be delivered, not in transit again."
	}
	f.Saw = late.String() + ", then " + early.String()
	return f
}

func unknownEvent(e *examiner) Finding {
	return accepted(e.send(e.signed(notification("shipment.teleported", 9))),
		"Not all kinds of events are documented: accept and ignore unknown ones, or the service retries them.")
}

func rotatedKey(e *examiner) Finding {
	if e.OtherKey == "" {
		return Finding{Saw: "not sent: set the receiver's second key with -other-key", Verdict: Skipped}
	}
	body := notification("shipment.created", 10)
	p := e.signed(body)
	p.signature = delivery.Sign(e.OtherKey, body)
	return accepted(e.send(p), "Accept several keys: during key rotation, deliveries signed with the old key are still under way.")
}

func malformed(e *examiner) Finding {
	body := notification("shipment.created", 11)
	return refused(e.send(e.signed(body[:len(body)/2])), "The signature is valid, but the body is not JSON: refuse it completely.")
}

func wrongContentType(e *examiner) Finding {
	p := e.signed(notification("shipment.created", 12))
	p.kind = "application/x-www-form-urlencoded"
	r := e.send(p)
	return judged(r, r.accepted() || r.refused(), "Read the raw bytes regardless of the Content-Type: some frameworks parse a form and leave an empty body.")
}

// redirected sends the request to which a proxy's redirect turns a delivery.
func redirected(e *examiner) Finding {
	return refused(e.send(post{method: http.MethodGet}),
		"A proxy that redirects turns a delivery into a GET without body: refuse it with 405, or the delivery is lost but counts as delivered.")
}

// oversize is longer than any notification.
const oversize = 16 << 20

func oversized(e *examiner) Finding {
	body := notification("shipment.created", 14)
	body = append(body[:len(body)-1], bytes.Repeat([]byte(" "), oversize)...)
	r := e.send(e.signed(append(body, '}')))
	closed := r.err != nil && !r.patienceEnded()
	return judged(r, r.refused() || closed, "Limit the body (http.MaxBytesReader, 1 MiB is enough): anyone who knows the address can exhaust your memory.")
}

func slow(e *examiner) Finding {
	r := e.sendStalled(e.signed(notification("shipment.created", 15)))
	f := judged(r, !r.patienceEnded(), "Time out slow senders (http.Server's ReadTimeout): each one holds a connection.")
	if f.Verdict == Bad {
		f.Saw = fmt.Sprintf("still waiting for the second byte after %s", e.Patience)
	}
	return f
}

func stillWell(e *examiner) Finding {
	return accepted(e.send(e.signed(notification("shipment.created", 16))), "One of the deliveries above has broken the receiver: read its log.")
}
