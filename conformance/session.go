package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"
)

// maxAnswer limits how much of a response is read.
const maxAnswer = 64 << 20

// session is one run of the checks against a target.
type session struct {
	settings
	ctx      context.Context
	service  description
	target   Target
	base     string
	client   *http.Client
	report   Report
	refusals []refusal // for the checks of the error body
	webhooks []map[string]any
	event    string // a shipment event that can be replayed; empty if there is none

	unproven []unproven
	charged  int // how many purchases were sent that a service may charge

	suspended *suspension
	limited   bool // a request since the last check was not processed, because the service limits their rate
}

const limitedRate = "the service limits the rate of requests (HTTP status 429): run it again later"

// suspension is the reason why no check is made and no request is sent.
type suspension struct {
	verdict Verdict // NotRun or Skipped
	reason  string
}

// suspend gives every check until resume the verdict, so that a report always lists every check. The reason of an
// outer suspension stays.
func (s *session) suspend(v Verdict, reason string) (resume func()) {
	if s.suspended != nil {
		return func() {}
	}
	s.suspended = &suspension{v, reason}
	return func() { s.suspended = nil }
}

// refusal is the response to a request that must be refused.
type refusal struct {
	to       string
	response response
	rule     bool // a rule of the specification was broken, and nothing else was wrong
}

func newSession(ctx context.Context, target Target, set settings) *session {
	base := strings.TrimSuffix(strings.TrimRight(target.BaseURL, "/"), "/v1")
	return &session{
		settings: set, ctx: ctx, service: readDescription(), target: target, base: base,
		client: &http.Client{
			Transport:     set.transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		report: Report{BaseURL: base, Writes: set.writes},
	}
}

// add puts a result into the report, and returns its verdict. The text of a service may repeat the key, or hold escape
// sequences of terminals.
func (s *session) add(heading, check string, v Verdict, detail string) Verdict {
	switch {
	case s.suspended != nil:
		v, detail = s.suspended.verdict, s.suspended.reason
	case s.limited:
		v, detail = NotRun, limitedRate
	}
	s.limited = false
	s.report.Results = append(s.report.Results, Result{heading, check, v, printable(s.key.Text(detail))})
	return v
}

// judge passes a check that has no problems, and fails another with the first few. It reports whether the check passed.
func (s *session) judge(heading, check string, problems []string) bool {
	if len(problems) == 0 {
		return s.add(heading, check, Pass, "") == Pass
	}
	s.add(heading, check, Fail, summary(problems))
	return false
}

// judgeKnown is judge for a check whose evidence may be missing: unknown is the reason, and empty otherwise.
func (s *session) judgeKnown(heading, check string, problems []string, unknown string) bool {
	if len(problems) == 0 && unknown != "" {
		s.notRun(heading, check, unknown)
		return false
	}
	return s.judge(heading, check, problems)
}

// printable replaces control characters, which a terminal would interpret; line breaks stay.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// notRun reports a check that could not be made.
func (s *session) notRun(heading, check, reason string) { s.add(heading, check, NotRun, reason) }

// assume reports whether the service behaves as assumed at an open point of the specification.
func (s *session) assume(heading, check string, holds bool, otherwise string) {
	if holds {
		otherwise = ""
	}
	s.add(heading, check, Assumption, otherwise)
}

// summary joins problems, one a line, and counts those beyond the first five.
func summary(problems []string) string {
	const shown = 5
	if more := len(problems) - shown; more > 0 {
		problems = append(problems[:shown:shown], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(problems, "\n")
}

// reach requests one rate, and reports whether the service responds.
func (s *session) reach() bool {
	a := s.get("/v1/rates?perPage=1")
	s.limited = false
	if a.lost == nil {
		return true
	}
	s.judge(headingEnvelope, "the service responds", []string{fmt.Sprintf("no response from %s: %v; check the address, and that the service is running", s.base, a.lost)})
	return false
}

// response is the response to one request.
type response struct {
	lost     error // no response, or only a part of it
	status   int
	header   http.Header
	body     []byte
	envelope map[string]any // nil if the body is not a JSON object
}

// without is the part that a request lacks.
type without int

const (
	nothing without = iota
	key
	contentType
)

func (s *session) get(path string) response { return s.send(http.MethodGet, path, nil, nothing) }

func (s *session) post(path string, body any) response {
	return s.send(http.MethodPost, path, body, nothing)
}

// send sends one request, with the key unless that is to be left out.
func (s *session) send(method, path string, body any, lacks without) response {
	secret := s.key.Reveal()
	if lacks == key {
		secret = ""
	}
	return s.sendAs(secret, method, path, body, lacks)
}

// sendAs sends one request with a key; an empty one is not sent.
func (s *session) sendAs(secret, method, path string, body any, lacks without) response {
	if s.suspended != nil {
		return response{lost: errors.New(s.suspended.reason)}
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.patience)
	defer cancel()
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return response{lost: err}
		}
		content = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, content)
	if err != nil {
		return response{lost: err}
	}
	if method != http.MethodGet {
		// A request that changes something is sent once: on a new connection, with a body, and without GetBody, which
		// net/http needs to repeat it.
		if req.GetBody = nil; body == nil {
			req.Body = io.NopCloser(strings.NewReader(""))
		}
		s.client.CloseIdleConnections()
	}
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	if body != nil && lacks != contentType {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return response{lost: err}
	}
	defer resp.Body.Close()
	a := response{status: resp.StatusCode, header: resp.Header}
	s.limited = s.limited || a.status == http.StatusTooManyRequests
	a.body, a.lost = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if a.lost == nil && len(a.body) > maxAnswer {
		a.lost = fmt.Errorf("the response is longer than %d bytes", maxAnswer)
	}
	if a.lost == nil {
		a.envelope = parseObject(a.body)
	}
	return a
}

// parseObject reads a JSON object and keeps its numbers as they are written. It returns nil for anything else.
func parseObject(text []byte) map[string]any {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil
	}
	return object
}

// problems returns the problems of a response that must be a success with status 200.
func (a response) problems() []string {
	if a.lost == nil && a.status != http.StatusOK {
		return []string{fmt.Sprintf("HTTP status %d; want 200: %s", a.status, a.excerpt())}
	}
	return a.problemsOfSuccess()
}

// problemsOfSuccess returns the problems of a response that must be a success, with any 2xx status: the
// specification names none for the operations of regulatory documents.
//
// Specification: "Response envelope (all endpoints)".
func (a response) problemsOfSuccess() []string {
	switch {
	case a.lost != nil:
		return []string{"no complete response: " + a.lost.Error()}
	case a.status < 200 || a.status > 299:
		return []string{fmt.Sprintf("HTTP status %d; want a success: %s", a.status, a.excerpt())}
	case a.envelope == nil:
		return []string{"the body is not a JSON object: " + a.excerpt()}
	}
	problems := object(map[string]*schema{"status": value("boolean"), "message": value("string"), "data": {}}).problems("", a.envelope)
	if a.envelope["status"] == false {
		problems = append(problems, "status is false on a success")
	}
	return problems
}

// succeeded reports whether the service performed the operation.
func (a response) succeeded() bool {
	return a.lost == nil && a.status >= 200 && a.status <= 299 && (a.envelope == nil || a.envelope["status"] != false)
}

func (a response) data() map[string]any {
	data, _ := a.envelope["data"].(map[string]any)
	return data
}

// record returns the record of a regulatory request and its place: data itself or, because the specification does not
// show where in data the record is, data.request.
func (a response) record() (place string, value any) {
	data := a.data()
	if inner, wrapped := data["request"].(map[string]any); wrapped && data["request_id"] == nil {
		return "data.request", inner
	}
	return "data", a.envelope["data"]
}

// request returns the members of the record.
func (a response) request() map[string]any {
	_, value := a.record()
	members, _ := value.(map[string]any)
	return members
}

// message returns the envelope's message, or nothing.
func (a response) message() string {
	message, _ := a.envelope["message"].(string)
	return message
}

// excerpt shows the beginning of the body.
func (a response) excerpt() string {
	const shown = 200
	if len(a.body) > shown {
		return fmt.Sprintf("%q…", a.body[:shown])
	}
	return fmt.Sprintf("%q", a.body)
}

// refused records a response that must be a refusal, and returns a problem if it is not one.
func (s *session) refused(to string, a response, rule bool) []string {
	switch {
	case a.lost != nil:
		return []string{"no complete response: " + a.lost.Error()}
	case a.status == http.StatusTooManyRequests:
		return []string{limitedRate}
	case a.succeeded():
		return []string{fmt.Sprintf("%s succeeded with HTTP status %d: %s", to, a.status, a.excerpt())}
	}
	s.refusals = append(s.refusals, refusal{to, a, rule})
	return nil
}

// pause waits, and reports false when the context ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
