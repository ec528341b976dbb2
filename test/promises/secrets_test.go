package promises_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// leaks reports whether text shows the key, or half of it, as it is or in the notation of %x or of a
// byte slice under %v.
func leaks(text string) bool {
	half := len(shippingtest.Key) / 2
	for start := 0; start+half <= len(shippingtest.Key); start++ {
		part := shippingtest.Key[start : start+half]
		for _, form := range []string{part, fmt.Sprintf("%x", part), fmt.Sprintf("%X", part), strings.Trim(fmt.Sprint([]byte(part)), "[]")} {
			if strings.Contains(text, form) {
				return true
			}
		}
	}
	return false
}

// holders is everything a user can get hold of that was near the key, from calls to a service that
// echoes the key wherever it can.
func holders(t *testing.T) map[string]any {
	t.Helper()
	echo := shippingtest.NewService(httpmock.NewStringResponder(401, fmt.Sprintf(
		`{"status":false,"message":"bad key %s","data":{"request_id":"RD-1","status":"failed","key":%q,"header":"Bearer %s"}}`, shippingtest.Key, shippingtest.Key, shippingtest.Key)))
	client := shippingtest.NewClient(t, echo)
	var response shipping.Response
	_, unauthorized := client.Rates.List(t.Context(), nil, shipping.WithResponse(&response))
	_, analysis := client.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
	_, purchase := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{shipping.DocumentFDA}, Draft: shippingtest.DraftRecord("RD-1")})
	_, workflow := client.Regulatory.Resume(t.Context(), "RD-1", nil)
	var listError error
	for _, err := range client.Rates.All(t.Context(), nil) {
		listError = err
	}
	failing := func(answer httpmock.Responder, options ...shipping.Option) error {
		_, err := shippingtest.NewClient(t, shippingtest.NewService(answer), append(options, shippingtest.FastRetries())...).Rates.List(t.Context(), nil)
		return err
	}
	_, option := shipping.NewClient(shippingtest.Key + "\n")
	var nothing struct{ Number int }
	settings := []shipping.Option{shipping.WithBaseURL(shippingtest.BaseURL)}
	return map[string]any{
		"Client":               *client,
		"*Client":              client,
		"a struct around it":   struct{ c *shipping.Client }{client},
		"a slice of clients":   []*shipping.Client{client},
		"a map of clients":     map[string]shipping.Client{"a": *client},
		"a function":           client.Rates.List,
		"*Rates":               &client.Rates,
		"services":             services(client),
		"options":              settings,
		"an option's error":    option,
		"unauthorized":         unauthorized,
		"its parts":            *shippingtest.ErrorIn(t, unauthorized),
		"its data":             shippingtest.ErrorIn(t, unauthorized).Data,
		"its body":             shippingtest.ErrorIn(t, unauthorized).Body,
		"failed analysis":      analysis,
		"purchase":             purchase,
		"workflow":             workflow,
		"list":                 listError,
		"response":             response,
		"*response":            &response,
		"plain text":           failing(httpmock.NewStringResponder(500, shippingtest.Key+" is wrong")),
		"plain text, cut":      failing(httpmock.NewStringResponder(500, "the key that was sent, "+shippingtest.Key)),
		"plain text, 200":      failing(httpmock.NewStringResponder(200, "refused key: "+shippingtest.Key)),
		"cut by the limit":     failing(httpmock.NewStringResponder(400, strings.Repeat("x", 64<<10-14)+shippingtest.Key)),
		"cut by the size":      failing(shippingtest.OK(`"`+strings.Repeat("x", 100-len(shippingtest.Envelope(`"`)))+shippingtest.Key+`"`), shipping.WithMaxResponseBytes(114)),
		"message on a 200":     failing(shippingtest.Refusal(200, shippingtest.Key)),
		"data of another type": failing(httpmock.NewStringResponder(200, `{"status":true,"data":"`+shippingtest.Key+`"}`)),
		"Do into another type": client200(t, `"`+shippingtest.Key+`"`).Do(t.Context(), "GET", "/x", nil, nil, &nothing),
		"no record":            second(client200(t, `{"key":"`+shippingtest.Key+`"}`).Regulatory.Get(t.Context(), "RD-1")),
		"no PDF":               second(shippingtest.NewClient(t, shippingtest.NewService(httpmock.NewStringResponder(200, shippingtest.Key)), shipping.WithProvisionalRoutes()).Regulatory.PDF(t.Context(), "RD-1", "FDA")),
		"a panic":              panicOf(client),
	}
}

func client200(t *testing.T, data string) *shipping.Client {
	return shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(data)))
}

func second[T any](_ T, err error) error { return err }

// panicOf returns the text of a panic with a client.
func panicOf(value any) (recovered any) {
	defer func() { recovered = recover() }()
	panic(value)
}

func TestSecrets_NoVerbShowsTheKey(t *testing.T) {
	t.Parallel()
	verbs := []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%T", "%p", "%10.3v", "%+q", "% x"}
	for name, holder := range holders(t) {
		for _, verb := range verbs {
			if text := fmt.Sprintf(verb, holder); leaks(text) {
				t.Errorf("%s under %s shows the key: %.300s", name, verb, text)
			}
		}
		if text := fmt.Sprint(holder); leaks(text) {
			t.Errorf("%s printed shows the key: %.300s", name, text)
		}
	}
}

func TestSecrets_NoEncoderShowsTheKey(t *testing.T) {
	t.Parallel()
	for name, holder := range holders(t) {
		if data, err := json.Marshal(holder); err == nil && leaks(string(data)) {
			t.Errorf("%s as JSON shows the key: %.300s", name, data)
		}
		var out bytes.Buffer
		for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(handler).Info("m", "holder", holder, slog.Group("g", "holder", holder))
		}
		if leaks(out.String()) {
			t.Errorf("%s in a log shows the key: %.300s", name, out.String())
		}
	}
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

func TestSecrets_TheKeyIsHiddenHoweverItIsEchoed(t *testing.T) {
	t.Parallel()
	const odd = `sk/test&"8mK3<vQ9>rT2=xW7`
	escaped, err := json.Marshal(odd)
	if err != nil {
		t.Fatal(err)
	}
	slashes := strings.ReplaceAll(strings.ReplaceAll(odd, `"`, `\"`), "/", `\/`)
	for name, body := range map[string]string{
		"escaped for HTML": `{"status":false,"message":"m","data":` + string(escaped) + `}`,
		"escaped for JSON": `{"status":false,"message":"m","data":"` + strings.ReplaceAll(odd, `"`, `\"`) + `"}`,
		"escaped slashes":  `{"status":false,"message":"m","data":"` + slashes + `"}`,
		"in a message":     `{"status":false,"message":` + string(escaped) + `}`,
		"in a URL":         `{"status":false,"message":"m","data":"https://x.test/?key=sk%2Ftest%26%228mK3%3CvQ9%3ErT2%3DxW7"}`,
	} {
		client, err := shipping.NewClient(odd, shipping.WithBaseURL(shippingtest.BaseURL),
			shipping.WithHTTPClient(&http.Client{Transport: shippingtest.NewService(httpmock.NewStringResponder(400, body))}))
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Rates.List(t.Context(), nil)
		failure := shippingtest.ErrorIn(t, err)
		for where, text := range map[string]string{"Error()": err.Error(), "Data": string(failure.Data), "Data decoded": failure.Data.Text(), "Body": string(failure.Body)} {
			if strings.Contains(text, "8mK3") {
				t.Errorf("%s: %s shows the key: %s", name, where, text)
			}
		}
	}
}

func TestSecrets_LogsAndObserversOfWholeCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		note := func(values ...any) { fmt.Fprintf(&log, "%+v\n", values) }
		observer := shipping.Observer{
			Start:   func(ctx context.Context, operation string) context.Context { note(operation); return ctx },
			Attempt: func(_ context.Context, operation string, a shipping.Attempt) { note(operation, a) },
			Retry:   func(_ context.Context, operation string, a shipping.Attempt) { note(operation, a) },
			Done: func(_ context.Context, operation string, a []shipping.Attempt, _ time.Duration, err error) {
				note(operation, a, err)
			},
		}
		service := shippingtest.NewService(
			httpmock.NewStringResponder(503, shippingtest.Key), httpmock.NewErrorResponder(io.ErrUnexpectedEOF), httpmock.NewStringResponder(500, `{"message":"`+shippingtest.Key+`"}`),
			httpmock.NewStringResponder(401, `{"status":false,"message":"`+shippingtest.Key+`"}`))
		client := shippingtest.NewClient(t, service, shipping.WithObserver(observer),
			shipping.WithLogger(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
		_, err := client.Transactions.List(t.Context(), &shipping.TransactionListOptions{Wallet: "VA-4711"})
		shippingtest.WantError(t, "transactions", err, shipping.ErrUnauthorized)
		for _, secret := range []string{"VA-4711", "Bearer", "Authorization"} {
			if strings.Contains(log.String(), secret) {
				t.Errorf("the log or an observer shows %s:\n%s", secret, log.String())
			}
		}
		if leaks(log.String()) {
			t.Errorf("the log or an observer shows the key:\n%s", log.String())
		}
		if got := strings.Count(log.String(), `"msg":"shipping attempt"`); got != 4 {
			t.Errorf("%d attempts are logged, want 4:\n%s", got, log.String())
		}
	})
}

// A header pasted whole as a name, or in the wrong order, is not repeated in the error.
func TestSecrets_NoMistakeIsRepeated(t *testing.T) {
	t.Parallel()
	client := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(`{}`)))
	for _, option := range []shipping.CallOption{
		shipping.WithHeader("Authorization: Bearer "+shippingtest.Key, ""), shipping.WithHeader(shippingtest.Key, "X-Tenant\n"), shipping.WithHeader("Authorization", "Bearer "+shippingtest.Key),
	} {
		_, err := client.Rates.List(t.Context(), nil, option)
		shippingtest.WantError(t, "header", err, shipping.ErrInvalidRequest)
		if leaks(fmt.Sprintf("%v %+v %#v", err, err, err)) {
			t.Error(err)
		}
	}
}
