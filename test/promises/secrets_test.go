package promises_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/internal/redact"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/webhook"
)

var secretKey = redact.New(shippingtest.Key)

// leaks reports whether a text shows the key, or a part of it, in any notation.
func leaks(text string) bool { return secretKey.In(text) }

// panicOf returns the text of a panic with a client.
func panicOf(value any) (recovered any) {
	defer func() { recovered = recover() }()
	panic(value)
}

func TestSecrets_AClientPrintsItsAddress(t *testing.T) {
	t.Parallel()
	client := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(`{}`)))
	const want = "shipping.Client(https://api.service.test)"
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "client", client)
	encoded, err := json.Marshal(client)
	for name, got := range map[string]string{
		"%v": fmt.Sprintf("%v", client), "%#v": fmt.Sprintf("%#v", client),
		"JSON": strings.Trim(string(encoded), `"`), "slog": log.String(),
	} {
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A header pasted whole as a name, or in the wrong order, is not repeated in the error.
func TestSecrets_NoMistakeIsRepeated(t *testing.T) {
	t.Parallel()
	client := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(`{}`)))
	for _, option := range []shipping.CallOption{
		shipping.WithHeader("Authorization: Bearer "+shippingtest.Key, ""),
		shipping.WithHeader(shippingtest.Key, "X-Tenant\n"),
		shipping.WithHeader("Authorization", "Bearer "+shippingtest.Key),
	} {
		_, err := client.Rates.List(t.Context(), nil, option)
		shippingtest.WantError(t, "header", err, shipping.ErrInvalidRequest)
		if leaks(fmt.Sprintf("%v %+v %#v", err, err, err)) {
			t.Error(err)
		}
	}
}

// keyHolders are values of each exported type that can hold a key, by package and name: the key is shippingtest.Key or,
// of the reference server, its own.
func keyHolders(t *testing.T) (holders map[string]any, keys []redact.Key) {
	t.Helper()
	client := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(`{}`)))
	receiver := shippingtest.Must(webhook.NewReceiver(func(context.Context, *webhook.Notification) error { return nil },
		webhook.WithKeys(shippingtest.Key, shippingtest.Key+"2")))(t)
	t.Cleanup(func() { _ = receiver.Close(context.WithoutCancel(t.Context())) })
	server := mockserver.New(mockserver.WithoutListener(), mockserver.WithScenario("empty"))
	t.Cleanup(server.Close)
	serverClient := server.Client(t)
	if err := serverClient.Do(t.Context(), "GET", "/v1/"+server.SecretKey, nil, nil, nil); err == nil {
		t.Fatal("a path that is a key exists")
	}
	for range serverClient.Rates.All(t.Context(), nil) {
		break
	}
	refusing := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.Refusal(401, shippingtest.Key)))
	echoed := shippingtest.ErrorIn(t, shippingtest.Err(refusing.Rates.List(t.Context(), nil)))
	holders = map[string]any{
		"shipping.Client":     client,
		"shipping.Option":     []shipping.Option{shipping.WithBaseURL(shippingtest.BaseURL), shipping.WithHTTPClient(nil)},
		"shipping.CallOption": shipping.WithHeader("X-Key", shippingtest.Key),
		"shipping.Error":      echoed,
		"webhook.Receiver":    receiver,
		"webhook.Option":      webhook.WithKeys(shippingtest.Key),
		"webhook.Handler":     webhook.Handler(func(context.Context, *webhook.Notification) error { return nil }),
		"mockserver.Server":   server,
		"mockserver.World":    server.World,
		"mockserver.Option":   mockserver.WithSeed(1),
		"journal.Entry":       server.Journal(),
		"conformance.Option":  conformance.WithSecretKey(shippingtest.Key),
	}
	maps.Copy(holders, services(client))
	return holders, []redact.Key{secretKey, redact.New(server.SecretKey)}
}

// services returns the services of a client, by package and name of their types.
func services(client *shipping.Client) map[string]any {
	found := map[string]any{}
	for field, value := range reflect.ValueOf(client).Elem().Fields() {
		if field.IsExported() {
			found[field.Type.String()] = value.Interface()
		}
	}
	return found
}

// placesOf puts a holder where a program may have one.
func placesOf(holder any) map[string]any {
	return map[string]any{
		"itself":                  holder,
		"in a pointer":            &holder,
		"in an exported field":    struct{ Holder any }{holder},
		"in an unexported field":  struct{ holder any }{holder},
		"in a slice":              []any{holder},
		"in a map":                map[string]any{"holder": holder},
		"in a pointer to a slice": &[]any{holder},
		"in a panic":              panicOf(holder),
		"in a panic of a struct":  panicOf(&struct{ holder any }{holder}),
	}
}

// No verb, encoder or log shows the key of a type that holds one, wherever a value of the type stands.
func TestSecrets_NoPrintedTypeShowsItsKey(t *testing.T) {
	t.Parallel()
	holders, keys := keyHolders(t)
	for name, holder := range holders {
		for where, value := range placesOf(holder) {
			texts := printed(value)
			for how, text := range texts {
				if slices.ContainsFunc(keys, func(key redact.Key) bool { return key.In(text) }) {
					t.Errorf("%s %s, with %s, shows its key: %.300s", name, where, how, text)
				}
			}
		}
	}
}

var printVerbs = []string{
	"%v", "%+v", "%#v", "%s", "%+s", "%q", "%+q", "%#q", "%x", "%X", "% " +
		"x", "%#x", "%d", "%b", "%o", "%c", "%U", "%e", "%g", "%t", "%T", "%p", "%w", "%10.3v",
}

// printed is a value under all verbs, in logs and as JSON.
func printed(value any) map[string]string {
	texts := map[string]string{"Sprint": fmt.Sprint(value)}
	for _, verb := range printVerbs {
		texts[verb] = fmt.Sprintf(verb, value)
	}
	if data, err := json.Marshal(value); err == nil {
		texts["JSON"] = string(data)
	} else {
		texts["JSON"] = err.Error()
	}
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"slog text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"slog JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var out bytes.Buffer
		slog.New(handler(&out)).With("with", value).Info("m", "holder", value, slog.Group("g", "holder", value))
		texts[name] = out.String()
	}
	return texts
}

// echoes are responses that send the key back, by its place.
func echoes() map[string]string {
	const k = shippingtest.Key
	head := "HTTP/1.1 200 OK\r\n"
	envelope := func(status int, body string) string {
		return fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
	}
	escaped, mixed := "", ""
	for i, c := range []byte(k) {
		escaped += fmt.Sprintf(`\u%04x`, c)
		if i%3 == 0 {
			mixed += fmt.Sprintf(`\u%04X`, c)
		} else {
			mixed += string(c)
		}
	}
	entities := strings.NewReplacer("s", "&#115;", "_", "&#x5f;").Replace(k)
	percent := strings.NewReplacer("s", "%73", "_", "%5F").Replace(k)
	basic := base64.StdEncoding.EncodeToString([]byte("user:" + k))
	all := map[string]string{
		"content length":              head + "Content-Length: " + k + "\r\n\r\n",
		"content length, quoted":      head + "Content-Length: \"" + k + "\"\r\n\r\n",
		"two content lengths":         head + "Content-Length: 1\r\nContent-Length: " + k + "\r\n\r\n",
		"transfer encoding":           head + "Transfer-Encoding: " + k + "\r\n\r\n",
		"content encoding":            head + "Content-Encoding: " + k + "\r\nContent-Length: 2\r\n\r\n{}",
		"a line without a colon":      head + "bad header Bearer " + k + "\r\n\r\n",
		"a line with a space":         head + k + " : 1\r\n\r\n",
		"a first line with a space":   head + " " + k + "\r\n\r\n",
		"a folded line":               head + "X-Key: " + k[:13] + "\r\n " + k[13:] + "\r\nContent-Length: 2\r\n\r\n{}",
		"a line with a control":       head + "X-Key: \x01" + k + "\r\n\r\n",
		"a name":                      head + k + ": 1\r\nContent-Length: 2\r\n\r\n{}",
		"a value":                     head + "X-Key: Bearer " + k + "\r\nContent-Length: 2\r\n\r\n{}",
		"a value, escaped":            head + "X-Key: " + percent + "\r\nContent-Length: 2\r\n\r\n{}",
		"a cookie":                    head + "Set-Cookie: key=" + k + "\r\nContent-Length: 2\r\n\r\n{}",
		"a date to retry":             "HTTP/1.1 503 X\r\nRetry-After: " + k + "\r\nContent-Length: 0\r\n\r\n",
		"the text of the status":      "HTTP/1.1 200 " + k + "\r\nContent-Length: 2\r\n\r\n{}",
		"the text of a failed status": "HTTP/1.1 500 " + k + "\r\nContent-Length: 0\r\n\r\n",
		"the status":                  "HTTP/1.1 " + k + "\r\n\r\n",
		"the protocol":                k + " 200 OK\r\n\r\n",
		"no HTTP at all":              k + "\r\n\r\n",
		"no HTTP, truncated":          k[:20],
		"a location": "HTTP/1.1 302 X\r\nLocation: https://elsewhere.test/" + k +
			"\r\nContent-Length: 0\r\n\r\n",
		"an invalid location": "HTTP/1.1 302 X\r\nLocation: http://[" + k + "\r\nContent-Length: 0\r\n\r\n",
		"an interim response": "HTTP/1.1 103 X\r\nLink: " + k + "\r\n\r\n" + head + "Content-Length: " + k +
			"\r\n\r\n",
		"a trailer": head + "Transfer-Encoding: chunked\r\nTrailer: X-Key\r\n\r\n2\r\n{}\r\n0\r\nX-Key: " +
			k + "\r\n\r\n",
		"a trailer's line": head + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nbad trailer " + k +
			"\r\n\r\n",
		"a trailer's name": head + "Transfer-Encoding: chunked\r\nTrailer: Content-Length, " + k +
			"\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		"a chunk's extension":      head + "Transfer-Encoding: chunked\r\n\r\n2;key=" + k + "\r\n{}\r\n0\r\n\r\n",
		"a chunk's length":         head + "Transfer-Encoding: chunked\r\n\r\n" + k + "\r\n{}\r\n0\r\n\r\n",
		"an upgrade":               "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: " + k + "\r\n\r\n",
		"a body that is truncated": head + "Content-Length: 1000\r\n\r\n" + `{"status":false,"message":"` + k,
		"a key that is truncated":  head + "Content-Length: 1000\r\n\r\n" + `{"status":false,"message":"` + k[:17],
		"a failed body, truncated": "HTTP/1.1 503 X\r\nContent-Length: 1000\r\n\r\n" + k[:15],
		"compressed data":          head + "Content-Encoding: gzip\r\nContent-Length: 28\r\n\r\n" + k,
		"plain text":               envelope(200, "refused key: "+k),
		"HTML":                     envelope(403, "<p>Bearer "+entities+"</p>"),
		"a bound of the body":      envelope(400, strings.Repeat("x", 64<<10-14)+k),
		"another type":             envelope(200, `{"status":true,"message":"m","data":"`+k+`"}`),
		"a proxy's question": "HTTP/1.1 407 " + k + "\r\nProxy-Authenticate: Basic realm=\"" + k +
			"\"\r\nContent-Length: 28\r\n\r\n" + k,
	}
	for name, key := range map[string]string{
		"itself": k, "all escaped": escaped, "some escaped": mixed, "for a URL": percent, "for HTML": entities,
		"basic":        basic,
		"JSON in JSON": strings.ReplaceAll(mixed, `\`, `\\`), "capitals": strings.ToUpper(k),
	} {
		all["the envelope: "+name] = envelope(401,
			`{"status":false,"message":"bad key `+key+`","data":{"request_id":"`+key+`","error_code":"`+key+`","key":"`+key+
				`","`+key+`":1}}`)
		all["a failed record: "+name] = envelope(200,
			`{"status":true,"message":"m","data":{"request_id":"RD-1","status":"failed","failure_reason":"`+key+
				`","documents":[{"document_type":"`+key+`","status":"failed","error":"`+key+`"}],"wallet":"`+key+
				`","line_items":[{"description":"`+key+
				`"}],"profiles":{"FDA":{"key":"`+key+`"}},"`+key+`":"`+key+`"}}`)
		all["a draft: "+name] = envelope(200,
			`{"status":true,"message":"m","data":{"request_id":"`+key+`","status":"draft","currency":"`+key+
				`","available_documents":[{"document_type":"FDA","amount":1,"currency":"`+key+`"}]}}`)
		all["a purchase: "+name] = envelope(200,
			`{"status":true,"message":"m","data":{"request_id":"RD-1","status":"processing","charged_amount":1,"currency":"`+key+
				`","transaction_id":"`+key+`"}}`)
		all["a status: "+name] = envelope(200,
			`{"status":true,"message":"m","data":{"request_id":"RD-1","status":"`+key+`"}}`)
	}
	return all
}

// Wherever a service repeats the key, no error, attempt, log, event, drift report or response contains it.
func TestSecrets_NoEchoOfTheKeyIsShown(t *testing.T) {
	t.Parallel()
	for name, answer := range echoes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startHostile(t, func(to net.Conn, _ *http.Request) { _, _ = io.WriteString(to, answer) })
			watch := &watched{}
			client := server.client(t, watch.options()...)
			for call, err := range echoCalls(t, client, watch) {
				watch.error(call, err)
			}
			watch.check(t)
		})
	}
}

// echoCalls makes calls of each kind, and returns their errors.
func echoCalls(t *testing.T, client *shipping.Client, watch *watched) map[string]error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	failures := map[string]error{}
	note := func(name string, err error) { failures[name] = err }
	var rates, record, sent shipping.Response
	note("rates", shippingtest.Err(client.Rates.List(ctx, nil, shipping.WithResponse(&rates))))
	note("request", shippingtest.Err(client.Regulatory.Get(ctx, "RD-1", shipping.WithResponse(&record))))
	note("analysis", shippingtest.Err(client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: "SH-1"})))
	note("PDF", shippingtest.Err(client.Regulatory.PDF(ctx, "RD-1", "FDA")))
	var into struct{ Number int }
	note("do", client.Do(ctx, "POST", "/v1/x", nil, nil, &into, shipping.WithResponse(&sent)))
	for _, err := range client.Rates.All(ctx, nil) {
		note("walk", err)
	}
	bought, err := client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
		RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: shippingtest.DraftRecord("RD-1"),
		PurchaseOptions: shipping.PurchaseOptions{SettleFor: time.Nanosecond}})
	note("purchase", err)
	settled, err := client.Regulatory.SettlePurchase(ctx, &shipping.PurchaseRequest{
		RequestID: "RD-1", PurchaseOptions: shipping.PurchaseOptions{QuietFor: time.Nanosecond}})
	note("settlement", err)
	for _, result := range []*shipping.PurchaseResult{bought, settled} { // a batch keeps them in its journal
		if result != nil {
			watch.note(*result)
		}
	}
	quick := shipping.PollOptions{MinInterval: 1, MaxInterval: 1, MaxFailures: 1, DraftFor: 1,
		Progress: func(e shipping.PollEvent) { watch.note(e.Err) }}
	waiting, end := context.WithTimeout(ctx, 50*time.Millisecond)
	defer end()
	note("wait", shippingtest.Err(client.Regulatory.Wait(waiting, "RD-1", &quick)))
	note("workflow", shippingtest.Err(client.Regulatory.AnalyzeAndPoll(ctx, &shipping.AnalyzeRequest{ShipmentID: "SH-1"},
		&shipping.AnalyzeAndPollOptions{
			Select: shipping.SelectAll, Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "10"), Currency: "NGN"},
			Poll: quick,
		})))
	for _, response := range []shipping.Response{rates, record, sent} {
		watch.note(response, string(response.Body))
		for _, attempt := range response.Attempts {
			watch.error("an attempt of a response", attempt.Err)
		}
	}
	return failures
}

// watched collects the texts that a program may print with a client.
type watched struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *watched) note(values ...any) {
	for _, value := range values {
		fmt.Fprintf(w, "%v\n%+v\n%#v\n%d\n", value, value, value, value)
	}
}

func (w *watched) options() []shipping.Option {
	return []shipping.Option{
		shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 2, MinWait: 1, MaxWait: 1, MaxRetryAfter: 1,
			AttemptTimeout: 5 * time.Second, ExtraLoad: -1}),
		shipping.WithLogger(slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))),
		shipping.WithDriftReport(func(operation string, found []shipping.Drift) { w.note(operation, found) }),
		shipping.WithObserver(shipping.Observer{
			Start: func(ctx context.Context, o string) context.Context { w.note(o); return ctx },
			Attempt: func(_ context.Context, _ string, a shipping.Attempt) {
				w.note(a)
				w.error("Attempt", a.Err)
			},
			Retry: func(_ context.Context, _ string, a shipping.Attempt) { w.note(a); w.error("Retry", a.Err) },
			Done: func(_ context.Context, _ string, all []shipping.Attempt, _ time.Duration, err error) {
				w.note(all)
				w.error("Done", err)
			},
		}),
	}
}

// error notes an error and all that it wraps.
func (w *watched) error(from string, err error) {
	if err == nil {
		return
	}
	fmt.Fprintf(w, "%s: ", from)
	w.note(err)
	encoded, encodingErr := json.Marshal(err)
	w.note(string(encoded), encodingErr)
	if failure, ok := err.(*shipping.Error); ok {
		w.note(failure.Message, failure.Data, failure.Data.Text(), string(failure.Body), failure.RequestID,
			failure.NotRetried)
		for _, attempt := range failure.Attempts {
			w.error("an attempt", attempt.Err)
		}
	}
	if failed, ok := err.(*shipping.RegulatoryError); ok && failed.Request != nil {
		w.note(*failed.Request)
	}
	switch wrapper := err.(type) {
	case interface{ Unwrap() error }:
		w.error("which wraps", wrapper.Unwrap())
	case interface{ Unwrap() []error }:
		for _, cause := range wrapper.Unwrap() {
			w.error("which wraps", cause)
		}
	}
}

// check searches the collected texts.
func (w *watched) check(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if text := w.text.String(); text == "" {
		t.Error("nothing was noted")
	} else if leaks(text) {
		for line := range strings.Lines(text) {
			if leaks(line) {
				t.Errorf("the key is shown: %.600s", line)
			}
		}
		t.Error("the key is shown")
	}
}
