package mockserver

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Names of the kinds of faults on the control surface.
const (
	kindStatus      = "status"
	kindRateLimit   = "rate-limit"
	kindRedirect    = "redirect"
	kindLatency     = "latency"
	kindDrop        = "drop"
	kindReset       = "reset"
	kindTruncate    = "truncate"
	kindSlowBody    = "slow-body"
	kindEarlyHints  = "early-hints"
	kindMalformed   = "malformed"
	kindContentType = "content-type"
	kindHTML        = "html"
	kindEmpty       = "empty"
	kindRepeatPage  = "repeat-page"
	kindCapPage     = "cap-page"
	kindInsertRows  = "insert-rows"
)

// faultKind is a row of the table by which the control surface knows faults.
type faultKind struct {
	Kind     string   `json:"kind"`
	Needs    []string `json:"needs"` // the fields of the form that it reads
	Effect   string   `json:"effect"`
	fromForm func(FaultForm) Fault
}

func faultKinds() []faultKind {
	none := []string{}
	return []faultKind{
		{kindStatus, []string{"status", "header"}, "answers with a status", func(f FaultForm) Fault { return FaultStatus(f.Status, f.header()) }},
		{kindRateLimit, []string{"retry_after", "duration"}, "answers 429 with a Retry-After in one of its forms", func(f FaultForm) Fault { return FaultRateLimit(f.RetryAfter, time.Duration(f.Duration)) }},
		{kindRedirect, []string{"location"}, "answers 308", func(f FaultForm) Fault { return FaultRedirect(f.Location) }},
		{kindLatency, []string{"duration"}, "delays, on the world's clock", func(f FaultForm) Fault { return FaultLatency(time.Duration(f.Duration)) }},
		{kindDrop, none, "closes the connection without an answer", func(FaultForm) Fault { return FaultDrop() }},
		{kindReset, none, "resets the connection", func(FaultForm) Fault { return FaultReset() }},
		{kindTruncate, []string{"bytes"}, "sends the first bytes of the body and closes", func(f FaultForm) Fault { return FaultTruncate(f.Bytes) }},
		{kindSlowBody, []string{"duration"}, "sends one byte of the body each duration", func(f FaultForm) Fault { return FaultSlowBody(time.Duration(f.Duration)) }},
		{kindEarlyHints, none, "sends 103 before the answer", func(FaultForm) Fault { return FaultEarlyHints() }},
		{kindMalformed, none, "sends half of the JSON as if it were all", func(FaultForm) Fault { return FaultMalformed() }},
		{kindContentType, []string{"content_type"}, "says that the answer is something else", func(f FaultForm) Fault { return FaultContentType(f.ContentType) }},
		{kindHTML, []string{"status"}, "answers with an HTML page, as proxies do", func(f FaultForm) Fault { return FaultHTML(f.Status) }},
		{kindEmpty, none, "answers 200 without a body", func(FaultForm) Fault { return FaultEmpty() }},
		{kindRepeatPage, none, "answers a list with the page before", func(FaultForm) Fault { return FaultRepeatPage() }},
		{kindCapPage, []string{"per_page"}, "answers a list with pages of at most that many", func(f FaultForm) Fault { return FaultCapPage(f.PerPage) }},
		{kindInsertRows, []string{"rows"}, "puts new records at the head of a list before it answers", func(f FaultForm) Fault { return FaultInsertRows(f.Rows) }},
	}
}

// fault makes the fault that a form describes. A field that its kind does not read is a mistake.
func (f FaultForm) fault() (Fault, error) {
	kinds := faultKinds()
	i := slices.IndexFunc(kinds, func(k faultKind) bool { return k.Kind == f.Kind })
	if i < 0 {
		names := make([]string, len(kinds))
		for i, k := range kinds {
			names[i] = k.Kind
		}
		return nil, fmt.Errorf("no fault is of kind %q: choose one of %s", f.Kind, strings.Join(names, ", "))
	}
	form := reflect.ValueOf(f)
	for field, value := range form.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "kind" && !value.IsZero() && !slices.Contains(kinds[i].Needs, name) {
			return nil, fmt.Errorf("%s means nothing to a fault of kind %s, which reads %s", name, f.Kind, strings.Join(append([]string{"kind"}, kinds[i].Needs...), ", "))
		}
	}
	return kinds[i].fromForm(f), nil
}

// ruleForm is a [FaultRule] as the control surface reads and writes it.
type ruleForm struct {
	Number      int        `json:"number,omitempty"` // written only
	Operation   string     `json:"operation,omitempty"`
	Nth         int        `json:"nth,omitempty"`
	First       int        `json:"first,omitempty"`
	EachRequest bool       `json:"each_request,omitempty"`
	Probability float64    `json:"probability,omitempty"`
	From        time.Time  `json:"from,omitzero"`
	Until       time.Time  `json:"until,omitzero"`
	Committed   bool       `json:"committed,omitempty"`
	Point       Failpoint  `json:"point,omitempty"`
	Fault       *FaultForm `json:"fault,omitempty"`
	Off         bool       `json:"off,omitempty"`    // written only; PATCH switches it
	Seen        int        `json:"seen,omitempty"`   // calls it has counted; written only
	Struck      int        `json:"struck,omitempty"` // calls it has struck; written only
}

func (f *ruleForm) rule() (FaultRule, error) {
	rule := FaultRule{
		Operation: f.Operation, Nth: f.Nth, First: f.First, EachRequest: f.EachRequest, Probability: f.Probability,
		From: f.From, Until: f.Until, Committed: f.Committed, Point: f.Point,
	}
	if f.Number != 0 || f.Off || f.Seen != 0 || f.Struck != 0 {
		return rule, fmt.Errorf("number, off, seen and struck are the server's to say: leave them out")
	}
	var err error
	if f.Fault != nil {
		rule.Fault, err = f.Fault.fault()
	}
	return rule, err
}

func (r *armedRule) form() ruleForm {
	form := ruleForm{
		Number: r.number, Operation: r.Operation, Nth: r.Nth, First: r.First, EachRequest: r.EachRequest,
		Probability: r.Probability, From: r.From, Until: r.Until, Committed: r.Committed, Point: r.Point,
		Off: r.off, Seen: r.seen, Struck: r.struck,
	}
	if r.Fault != nil {
		fault := r.Fault.form()
		form.Fault = &fault
	}
	return form
}

// forms returns the rules, in the order in which they are asked.
func (b *faultBook) forms() []ruleForm {
	b.mu.Lock()
	defer b.mu.Unlock()
	forms := make([]ruleForm, len(b.rules))
	for i, rule := range b.rules {
		forms[i] = rule.form()
	}
	return forms
}

// duration is a [time.Duration] that is written as "90s".
type duration time.Duration

// MarshalText implements [encoding.TextMarshaler].
func (d duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("duration %q cannot be read: write it as 250ms, 90s or 1h30m", text)
	}
	*d = duration(parsed)
	return nil
}
