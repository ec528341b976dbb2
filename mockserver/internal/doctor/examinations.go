package doctor

import (
	"bytes"
	"fmt"
	"net/http"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/delivery"
)

// examination is a row of the table: what is sent, and how its answer is judged.
type examination struct {
	delivery, wanted string
	make             func(e *examiner) Finding
}

const (
	wantAccepted = "2xx"
	wantRefused  = "4xx"
)

// examinations is the table. The first row is what is in order; the rest is rough, and the last row
// shows that the receiver has survived it.
func examinations() []examination {
	return []examination{
		{"valid", wantAccepted, valid},
		{"answered at once", "an answer within 2 s", prompt},
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
		{"slow", "an answer, or the connection closed, before the sender gives up", slow},
		{"valid, after all this", wantAccepted, stillWell},
	}
}

// accepted judges an answer that has to be a success.
func accepted(r reaction, advice string) Finding {
	return judged(r, r.accepted(), advice)
}

// refused judges an answer that has to be a refusal.
func refused(r reaction, advice string) Finding {
	if r.status >= 500 {
		advice = "A 5xx says that the receiver failed, and makes the service send again: refuse with 4xx. " + advice
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
	advice := fmt.Sprintf("Is this the key that the receiver has? It is to look for the hexadecimal HMAC-SHA512 of the raw body in %s.", e.SignatureHeader)
	switch {
	case r.redirect():
		advice = "Deliveries follow no redirects: subscribe the address that it leads to, with the slash at its end where there is one."
	case r.status == http.StatusNotFound, r.status == http.StatusMethodNotAllowed:
		advice = "Is this the path of the receiver, and does it take POST?"
	case r.status >= 500:
		advice = "The receiver fails on a delivery that is in order: read its log."
	}
	return accepted(r, advice)
}

// promptly is how long an answer may take without being a risk.
const promptly = 2 * time.Second

func prompt(e *examiner) Finding {
	r := e.send(e.signed(notification("shipment.updated", 2)))
	f := judged(r, r.accepted() && r.took <= promptly, "Verify, put the delivery into a queue, answer, and work afterwards: the service gives up on slow receivers and sends again.")
	f.Saw = fmt.Sprintf("%s after %s", r, r.took.Round(time.Millisecond))
	return f
}

func oddFormatting(e *examiner) Finding {
	body := bytes.Replace(notification("shipment.updated", 3), []byte(`"amount":136,`), []byte("\"amount\" : 136.0 ,\r\n\t"), 1)
	body = bytes.Replace(body, []byte("Lagos"), []byte(`\u004cagos`), 1)
	return accepted(e.send(e.signed(body)), "Verify the bytes as they came: a body that is parsed and written again has other bytes (136.0 becomes 136) and another signature.")
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
	return refused(e.send(p), "The signature is to be made over the body that came, not over a header or a part of it.")
}

func duplicate(e *examiner) Finding {
	p := e.signed(notification("shipment.created", 7))
	p.id = e.newID()
	first := e.send(p)
	p.body = bytes.NewReader(notification("shipment.created", 7))
	second := e.send(p)
	f := judged(second, first.accepted() && second.accepted(), "A delivery that was seen before is a success: anything else makes the service send it yet again.")
	if f.Verdict == Good {
		f.Advice = "Look yourself: shipment " + shipmentID(7) + " must have been created once, not twice."
	}
	f.Saw = first.String() + ", then " + second.String()
	return f
}

func outOfOrder(e *examiner) Finding {
	late := e.send(e.signed(notification("shipment.delivered", 8)))
	early := e.send(e.signed(notification("shipment.updated", 8)))
	f := judged(early, late.accepted() && early.accepted(), "Deliveries arrive in any order: accept them all, and compare updated_at before you overwrite.")
	if f.Verdict == Good {
		f.Advice = "Look yourself: shipment " + shipmentID(8) + " must still be delivered, not in transit again."
	}
	f.Saw = late.String() + ", then " + early.String()
	return f
}

func unknownEvent(e *examiner) Finding {
	return accepted(e.send(e.signed(notification("shipment.teleported", 9))),
		"The kinds of events are not all known: accept and ignore those that you do not use, or they are sent again and again.")
}

func rotatedKey(e *examiner) Finding {
	if e.OtherKey == "" {
		return Finding{Saw: "not sent: name the receiver's second key with -other-key", Verdict: Skipped}
	}
	body := notification("shipment.created", 10)
	p := e.signed(body)
	p.signature = delivery.Sign(e.OtherKey, body)
	return accepted(e.send(p), "Take several keys at once: while keys are changed, deliveries signed with the old one are still under way.")
}

func malformed(e *examiner) Finding {
	body := notification("shipment.created", 11)
	return refused(e.send(e.signed(body[:len(body)/2])), "It was signed, and still is no JSON: refuse it, and do not take half of it.")
}

func wrongContentType(e *examiner) Finding {
	p := e.signed(notification("shipment.created", 12))
	p.kind = "application/x-www-form-urlencoded"
	r := e.send(p)
	return judged(r, r.accepted() || r.refused(), "Whatever the header says, read the raw bytes: some frameworks have parsed a form already and left nothing.")
}

// redirected sends what is left of a delivery when something before the receiver redirected it.
func redirected(e *examiner) Finding {
	return refused(e.send(post{method: http.MethodGet}),
		"A proxy that redirects turns a delivery into a GET without body: refuse it with 405, or the delivery is lost and counts as taken.")
}

// oversize is longer than any notification.
const oversize = 16 << 20

func oversized(e *examiner) Finding {
	body := notification("shipment.created", 14)
	body = append(body[:len(body)-1], bytes.Repeat([]byte(" "), oversize)...)
	r := e.send(e.signed(append(body, '}')))
	closed := r.err != nil && !r.patienceEnded()
	return judged(r, r.refused() || closed, "Read no more than a limit (http.MaxBytesReader, 1 MiB is plenty): whoever knows the address can fill your memory.")
}

func slow(e *examiner) Finding {
	r := e.sendStalled(e.signed(notification("shipment.created", 15)))
	f := judged(r, !r.patienceEnded(), "Give up on slow senders (http.Server's ReadTimeout): each one holds a connection for as long as it likes.")
	if f.Verdict == Bad {
		f.Saw = fmt.Sprintf("still waiting for the second byte after %s", e.Patience)
	}
	return f
}

func stillWell(e *examiner) Finding {
	return accepted(e.send(e.signed(notification("shipment.created", 16))), "Something of the above has broken the receiver: read its log.")
}
