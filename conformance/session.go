package conformance

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/shipping-go/shipping/internal/redact"
)

// maxAnswer limits how much of a response is read.
const maxAnswer = 64 << 20

// session is one run of the checks against a target: it sends the requests, and holds the evidence that several
// subjects need.
type session struct {
	settings
	ctx      context.Context
	service  description
	target   Target
	base     string
	client   *http.Client
	report   Report
	refusals []response // for the checks of the error body
	replay   request    // that must succeed
	noReplay missing

	accepted  bool                // an operation that requires the key was performed
	keyStatus int                 // of a request with a wrong key
	observed  map[string]observed // by field of the dialect
	unlisted  map[string]string   // statuses that neither the specification nor the dialect lists, as in record.states
}

func newSession(ctx context.Context, target Target, set settings) *session {
	base := strings.TrimSuffix(strings.TrimRight(target.BaseURL, "/"), "/v1")
	return &session{
		settings: set, ctx: ctx, service: readDescription(), target: target, base: base,
		client: &http.Client{
			Transport:     set.transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		report: Report{BaseURL: base, Writes: set.writes}, observed: map[string]observed{}, unlisted: map[string]string{},
	}
}

// check is a row of a table of checks: what the specification requires under a heading, and the problems that the
// evidence shows.
type check struct {
	heading, what string
	missing       missing // evidence: the check is not made
	problems      []string
	open          bool // an open point of the specification: the problems are differences from the assumption
}

const (
	stated = false // a check of what the specification states
	open   = true
)

// missing is the reason why evidence is missing, and the verdict of the checks that need it. It is empty if the
// evidence is complete.
type missing struct {
	verdict Verdict // NotRun, Skipped or Unseen
	reason  string
}

// unless returns the reason and the verdict if a condition does not hold.
func unless(holds bool, verdict Verdict, reason string) (m missing) {
	if !holds {
		m = missing{verdict, reason}
	}
	return m
}

// judge puts the rows of a table into the report. A check whose evidence is missing is not made. A check with problems
// fails, and shows the first five.
func (s *session) judge(checks []check) {
	for _, c := range checks {
		verdict, detail := Pass, strings.Join(c.problems[:min(5, len(c.problems))], "\n")
		if more := len(c.problems) - 5; more > 0 {
			detail += fmt.Sprintf("\nand %d more", more)
		}
		switch {
		case c.missing != missing{}:
			verdict, detail = c.missing.verdict, c.missing.reason
		case c.open:
			verdict = Assumption
		case len(c.problems) > 0:
			verdict = Fail
		}
		s.report.Results = append(s.report.Results, CheckResult{c.heading, c.what, verdict, s.printable(detail)})
	}
}

// printable returns a text of the service without the key and without control characters, which a terminal would
// interpret.
func (s *session) printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s.key.Text(text))
}

// request contains the parts of a request, except its operation.
type request struct {
	id    string         // in the place of a placeholder of the path
	query url.Values     // nil: none
	body  map[string]any // of a request other than GET; nil: an empty object
	lacks string         // a header that is left out
	key   string         // instead of the account's
}

// response is the response to one request. It may be missing: it was not sent, or the service limits the rate of
// requests.
type response struct {
	missing    missing
	op         *operation
	key        redact.Key // which the body may contain
	to         string     // the request, in words
	lost       error      // no response, or only a part of it
	status     int
	body       []byte
	envelope   map[string]any // nil if the body is not a JSON object
	problem    bool           // the Content-Type is that of problem details
	retryAfter time.Duration  // of a response that limits the rate of requests
}

// call sends one request to the operation of a name; see send.
func (s *session) call(name string, r request, needs ...missing) response {
	i := slices.IndexFunc(s.service.operations, func(op *operation) bool { return op.Name == name })
	return s.send(s.service.operations[i], r, needs...)
}

// send sends one request to an operation, unless something that it needs is missing.
func (s *session) send(op *operation, r request, needs ...missing) response {
	segments := strings.Split(op.path, "/")
	for i, segment := range segments {
		if strings.HasPrefix(segment, "{") {
			segments[i] = url.PathEscape(r.id)
		}
	}
	target := strings.Join(segments, "/")
	target = strings.TrimSuffix(target+"?"+r.query.Encode(), "?")
	a := response{op: op, key: s.key, to: op.method + " " + target, missing: cmp.Or(needs...)}
	if op.method != http.MethodGet && r.body == nil {
		r.body = map[string]any{}
	}
	if r.lacks != "" {
		a.to += " without " + r.lacks
	} else if r.body != nil {
		a.to += " with " + jsonOf(r.body)
	}
	if a.missing != (missing{}) {
		return a
	}
	answered := s.exchange(a, target, r)
	if op.method == http.MethodGet && answered.isBadRead() && s.ctx.Err() == nil {
		answered = s.exchange(a, target, r)
	}
	for until := time.Now().Add(s.patience); s.awaitsRate(answered, r, until); {
		answered = s.exchange(a, target, r)
	}
	return answered
}

// isBadRead reports whether a read got no response that can be judged. The read is sent again once, because a service
// that sometimes loses a response conforms.
func (a response) isBadRead() bool {
	return a.lost != nil || a.status >= 500 || a.status/100 == 2 && a.envelope == nil
}

// awaitsRate reports whether a request may be sent again after a 429: it waits for the time in Retry-After. For the
// purchase of a request, and for a wait beyond the patience, it returns false at once.
func (s *session) awaitsRate(a response, r request, until time.Time) bool {
	_, purchases := r.body["request_id"]
	if a.status != http.StatusTooManyRequests || a.retryAfter <= 0 || purchases ||
		time.Now().Add(a.retryAfter).After(until) {
		return false
	}
	select {
	case <-s.ctx.Done():
		return false
	case <-time.After(a.retryAfter):
		return true
	}
}

// exchange sends a request once.
func (s *session) exchange(a response, target string, r request) response {
	ctx, cancel := context.WithTimeout(s.ctx, s.patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, a.op.method, s.base+target, nil)
	if err != nil {
		a.lost = err
		return a
	}
	if a.op.method != http.MethodGet {
		// A request that changes something is sent once: on a new connection, with a body, and without GetBody, which
		// net/http needs to repeat it.
		text := jsonOf(r.body)
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		req.Header.Set("Content-Type", "application/json")
		s.client.CloseIdleConnections()
	}
	if secret := cmp.Or(r.key, s.key.Reveal()); secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	req.Header.Del(r.lacks)
	resp, err := s.client.Do(req)
	if err != nil {
		a.lost = err
		return a
	}
	defer resp.Body.Close()
	a.read(resp)
	isKeyed := a.op.Assumption == "" && r.key == "" && r.lacks != "Authorization"
	s.accepted = s.accepted || isKeyed && a.succeeded()
	return a
}

// retryAfter reads a Retry-After header: seconds, or a time.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil && seconds <= 86_400 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return time.Until(at)
	}
	return 0
}

// read reads a response.
func (a *response) read(resp *http.Response) {
	if a.status = resp.StatusCode; a.status == http.StatusTooManyRequests {
		a.missing = missing{NotRun, "the service limits the rate of requests (HTTP status 429): run it again later"}
		a.retryAfter = retryAfter(resp.Header.Get("Retry-After"))
	}
	contentType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	a.problem = contentType == "application/problem+json"
	a.body, a.lost = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if a.lost == nil && len(a.body) > maxAnswer {
		a.lost = fmt.Errorf("the response is longer than %d bytes", maxAnswer)
	}
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	decoder.UseNumber() // numbers stay as they are written
	if object := map[string]any(nil); a.lost == nil && decoder.Decode(&object) == nil {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			a.envelope = object
		}
	}
}

// problems returns the problems of a response that must be the success that the description of its operation shows.
func (a response) problems() []string {
	switch {
	case a.lost != nil:
		return []string{"no complete response: " + a.lost.Error()}
	case fmt.Sprint(a.status) != a.op.status && (a.op.status != "2XX" || a.status/100 != 2):
		return []string{fmt.Sprintf("HTTP status %d; want %s: %s", a.status,
			strings.Replace(a.op.status, "2XX", "a success", 1), a.excerpt())}
	case a.envelope == nil:
		return []string{"the body is not a JSON object: " + a.excerpt()}
	}
	return a.op.response.problems("", a.envelope)
}

// succeeded reports whether the service performed the operation.
func (a response) succeeded() bool {
	return a.lost == nil && a.status/100 == 2 && a.envelope["status"] != false
}

func (a response) data() map[string]any {
	data, _ := a.envelope["data"].(map[string]any)
	return data
}

// excerpt shows the beginning of the body. A part of a key could not be found after the cut, so the key is withheld
// first.
func (a response) excerpt() string { return fmt.Sprintf("%.200q", a.key.JSON(string(a.body))) }

// refused records a response that must be a refusal, and returns a problem if it is not one.
func (s *session) refused(a response) []string {
	switch {
	case a.missing != missing{}:
		return nil
	case a.lost != nil:
		return []string{"no complete response: " + a.lost.Error()}
	case a.succeeded():
		return []string{fmt.Sprintf("%s succeeded with HTTP status %d: %s", a.to, a.status, a.excerpt())}
	}
	s.refusals = append(s.refusals, a)
	return nil
}

// breaksRule returns the check of a request that breaks a rule of the specification.
func (s *session) breaksRule(heading, what string, a response) check {
	need := cmp.Or(a.missing, unless(s.accepted || a.status != s.keyStatus, NotRun,
		fmt.Sprintf("HTTP status %d is also that of a wrong key: check the key", a.status)))
	return check{heading, what, need, s.refused(a), stated}
}
