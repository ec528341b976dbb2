package shipping_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

func TestNewClient_RefusesBadKeysAndAddresses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ key, address, want string }{
		"no key": {"", shippingtest.BaseURL,
			"shipping: secretKey is empty: pass the account's secret key, or use NewClientFromEnv with SHIPPING_SECRET_KEY"},
		"blank key":              {" \t", shippingtest.BaseURL, "is empty"},
		"key with a line break":  {"sk_test_1\n", shippingtest.BaseURL, "has spaces or line breaks around it: trim it"},
		"key with a space":       {"sk test", shippingtest.BaseURL, "has a character that no HTTP header can carry"},
		"key with a line inside": {"sk\r\nX-Evil: 1", shippingtest.BaseURL, "has a character that no HTTP header can carry"},
		"key with curly quotes":  {"“sk_test_1”", shippingtest.BaseURL, "check for pasted quotes"},
		"key with its scheme":    {"Bearer sk_test_1", shippingtest.BaseURL, `starts with "Bearer": pass the bare key`},
		"no address": {shippingtest.Key, "",
			`shipping: WithBaseURL is missing: there is no built-in host; pass WithBaseURL("https://…") or set ` +
				`SHIPPING_BASE_URL`},
		"no scheme": {shippingtest.Key, "api.example.com",
			"has no http or https scheme: write it like https://api.example.com"},
		"host and port only": {shippingtest.Key, "localhost:8080",
			"WithBaseURL has no http or https scheme: write it like https://api.example.com, or http://localhost:4010 for a " +
				"local server"},
		"key as address": {"sk", "sk_secret@123",
			"has no http or https scheme: write it like https://api.example.com"},
		"other scheme":  {shippingtest.Key, "ftp://api.example.com", "has no http or https scheme"},
		"no host":       {shippingtest.Key, "https:///v1", "has no host"},
		"one slash":     {shippingtest.Key, "https:/api.example.com", "has no host"},
		"broken escape": {shippingtest.Key, "https://api.example.com/%zz", "is not a URL"},
		"broken port":   {shippingtest.Key, "https://api.example.com:port", "is not a URL"},
		"user and password": {shippingtest.Key, "https://me:secret@api.example.com",
			"holds a user name or password: pass the key to NewClient instead"},
		"query":       {shippingtest.Key, "https://api.example.com?x=1", "holds a query or fragment"},
		"empty query": {shippingtest.Key, "https://api.example.com?", "holds a query or fragment"},
		"another version": {shippingtest.Key, "https://api.example.com/v2/",
			"ends in /v2: this client is for version 1 and adds /v1; leave /v2 out"},
		"a version twice":      {shippingtest.Key, "https://api.example.com/v1/v1", "ends in /v1"},
		"fragment":             {shippingtest.Key, "https://api.example.com#x", "holds a query or fragment"},
		"plain HTTP to a name": {shippingtest.Key, "http://api.example.com", "is http:// on a public host"},
		"plain HTTP, IPv4":     {shippingtest.Key, "http://8.8.8.8", "or WithPlainHTTP()"},
		"plain HTTP, IPv6":     {shippingtest.Key, "http://[2001:4860:4860::8888]", "use https://"},
		"plain HTTP, mapped":   {shippingtest.Key, "http://[::ffff:8.8.8.8]", "use https://"},
		"plain HTTP, short IP": {shippingtest.Key, "http://8.8", "use https://"},
		// Names that a resolver reads as public addresses passed as local ones.
		"plain HTTP, ideographic stop":    {shippingtest.Key, "http://evil\u3002com", "use https://"},
		"plain HTTP, full-width stop":     {shippingtest.Key, "http://evil\uff0ecom", "use https://"},
		"plain HTTP, half-width stop":     {shippingtest.Key, "http://evil\uff61com.", "use https://"},
		"plain HTTP, an escaped stop":     {shippingtest.Key, "http://evil%E3%80%82com", "use https://"},
		"plain HTTP, an ASCII escape":     {shippingtest.Key, "http://evil%2ecom", "is not a URL"},
		"plain HTTP, a local non-ASCII":   {shippingtest.Key, "http://b\u00fccher.test", "use https://"},
		"plain HTTP, full-width digits":   {shippingtest.Key, "http://\uff18\uff0e\uff18", "use https://"},
		"plain HTTP, a decimal number":    {shippingtest.Key, "http://134744072", "use https://"},
		"plain HTTP, a number with a dot": {shippingtest.Key, "http://134744072.:80", "use https://"},
		"plain HTTP, a hex number":        {shippingtest.Key, "http://0X8080808", "use https://"},
		"plain HTTP, an octal number":     {shippingtest.Key, "http://01002004010", "use https://"},
		"plain HTTP, the root":            {shippingtest.Key, "http://.", "use https://"},
	} {
		client, err := shipping.NewClient(test.key, shipping.WithBaseURL(test.address))
		if client != nil || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
			continue
		}
		refusal, _ := errors.AsType[*shipping.ValidationError](err)
		if refusal == nil || !errors.Is(err, shipping.ErrInvalidRequest) {
			t.Errorf("%s: error %T", name, err)
		}
		if strings.Contains(err.Error(), "secret@") || len(test.key) > 3 && strings.Contains(err.Error(), test.key) {
			t.Errorf("%s: the error shows the secret: %v", name, err)
		}
	}
}

func TestNewClient_WithPlainHTTP(t *testing.T) {
	t.Parallel()
	client, err := shipping.NewClient(shippingtest.Key, shipping.WithBaseURL("http://api.example.com"),
		shipping.WithPlainHTTP())
	if err != nil || client.BaseURL() != "http://api.example.com" {
		t.Errorf("%v, %v", client, err)
	}
}

func TestNewClient_RefusesBadOptions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		option shipping.Option
		want   string
	}{
		"negative attempts": {shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: -1}),
			"WithRetryPolicy has a negative field"},
		"negative wait": {shipping.WithRetryPolicy(shipping.RetryPolicy{MinWait: -1}),
			"WithRetryPolicy has a negative field"},
		"negative longest": {shipping.WithRetryPolicy(shipping.RetryPolicy{MaxWait: -1}),
			"WithRetryPolicy has a negative field"},
		"negative obedience": {shipping.WithRetryPolicy(shipping.RetryPolicy{MaxRetryAfter: -1}),
			"WithRetryPolicy has a negative field"},
		"negative burst": {shipping.WithRetryPolicy(shipping.RetryPolicy{Burst: -1}),
			"WithRetryPolicy has a negative field"},
		"no number": {shipping.WithRetryPolicy(shipping.RetryPolicy{ExtraLoad: math.NaN()}),
			"WithRetryPolicy has an ExtraLoad that is not a number"},
		"negative size": {shipping.WithMaxResponseBytes(-1),
			"WithMaxResponseBytes is negative: pass a number of bytes"},
		"unknown operation": {route("x", "/x"),
			`names "x", which is not an operation that the specification names without a path`},
		"documented operation": {route(shipping.OpPurchase, "/x"), "which is not an operation that"},
		"route without slash":  {route(operations.DocumentPDF, "pdf"), "does not begin with a slash"},
		"missing placeholder": {route(operations.DocumentPDF, "/pdf/{request_id}"),
			`gives regulatory.pdf the route "/pdf/{request_id}", which lacks the placeholder {document_type}`},
		"unknown placeholder": {route(operations.RetryRequest, "/{request_id}/{x}"),
			`whose placeholder {x} is unknown`},
		"open placeholder": {route(operations.RetryRequest, "/{id"), `lacks the placeholder {request_id}`},
	} {
		_, err := shipping.NewClient(shippingtest.Key, shipping.WithBaseURL(shippingtest.BaseURL), test.option)
		if err == nil || !strings.Contains(err.Error(), test.want) || !errors.Is(err, shipping.ErrInvalidRequest) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
	}
	if _, err := shipping.NewClient(shippingtest.Key, shipping.WithBaseURL(shippingtest.BaseURL), nil,
		shipping.WithLogger(nil), shipping.WithHTTPClient(nil)); err != nil {
		t.Errorf("empty options: %v", err)
	}
}

func TestNewClientFromEnv(t *testing.T) {
	for name, test := range map[string]struct{ key, address, want string }{
		"both set":   {shippingtest.Key, shippingtest.BaseURL + "/v1", ""},
		"no key":     {"", shippingtest.BaseURL, "SHIPPING_SECRET_KEY is not set: export it with the account's secret key"},
		"no address": {shippingtest.Key, "", "SHIPPING_BASE_URL"},
		"neither":    {"", "", "shipping: SHIPPING_SECRET_KEY and SHIPPING_BASE_URL are not set"},
		// The error names the environment variable, not the option WithBaseURL, which was not used.
		"no scheme": {shippingtest.Key, "127.0.0.1:4010",
			"shipping: SHIPPING_BASE_URL has no http or https scheme: write it like https://"},
		"no host": {shippingtest.Key, "https:///v1", "shipping: SHIPPING_BASE_URL has no host"},
	} {
		t.Setenv("SHIPPING_SECRET_KEY", test.key)
		t.Setenv("SHIPPING_BASE_URL", test.address)
		client, err := shipping.NewClientFromEnv()
		switch {
		case test.want == "" && (err != nil || client.BaseURL() != shippingtest.BaseURL):
			t.Errorf("%s: %v, %v", name, client, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
	}
	t.Setenv("SHIPPING_BASE_URL", "https://variable.test")
	t.Setenv("SHIPPING_SECRET_KEY", shippingtest.Key)
	if client, err := shipping.NewClientFromEnv(shipping.WithBaseURL(shippingtest.BaseURL)); err != nil ||
		client.BaseURL() != shippingtest.BaseURL {
		t.Errorf("an option does not override the variable: %v, %v", client, err)
	}
}

// invalid is a call that must be refused before anything is sent.
type invalid struct {
	name string
	do   func(ctx context.Context, c *shipping.Client) error
	want string
}

func TestValidation_NothingIsSent(t *testing.T) {
	t.Parallel()
	replay := func(r *shipping.ReplayRequest) func(context.Context, *shipping.Client) error {
		return func(ctx context.Context, c *shipping.Client) error { return errorOf(c.Webhooks.Replay(ctx, r)) }
	}
	analyze := func(r *shipping.AnalyzeRequest) func(context.Context, *shipping.Client) error {
		return func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Regulatory.Analyze(ctx, r))
		}
	}
	purchase := func(r *shipping.PurchaseRequest) func(context.Context, *shipping.Client) error {
		return func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Regulatory.Purchase(ctx, r))
		}
	}
	rates := func(o *shipping.RateListOptions, options ...shipping.CallOption) func(context.Context,
		*shipping.Client) error {
		return func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Rates.List(ctx, o, options...))
		}
	}
	get := func(id string) func(context.Context, *shipping.Client) error {
		return func(ctx context.Context, c *shipping.Client) error { return errorOf(c.Regulatory.Get(ctx, id)) }
	}
	do := func(method, path string, in any) func(context.Context, *shipping.Client) error {
		return func(ctx context.Context, c *shipping.Client) error { return c.Do(ctx, method, path, nil, in, nil) }
	}
	ten := shippingtest.Amount(t, "10")
	workflow := func(o shipping.AnalyzeAndPollOptions) func(context.Context, *shipping.Client) error {
		return func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Regulatory.AnalyzeAndPoll(ctx, parcel, &o))
		}
	}
	for _, test := range []invalid{
		{"replay of nothing", replay(nil), "pass a ReplayRequest with DeliveryID, or with ShipmentID and Event"},
		{"replay without both", replay(&shipping.ReplayRequest{}),
			"DeliveryID is empty: set DeliveryID, or both ShipmentID and Event"},
		{"replay with only a webhook", replay(&shipping.ReplayRequest{WebhookID: "WA-1"}), "set DeliveryID, or both"},
		{"replay without event", replay(&shipping.ReplayRequest{ShipmentID: "SH-1"}),
			"Event is empty: set it beside ShipmentID, such as to EventShipmentUpdated"},
		{"replay without shipment", replay(&shipping.ReplayRequest{Event: "shipment.created"}),
			"ShipmentID is empty: Event must be sent together with ShipmentID"},

		{"transactions without options", func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Transactions.List(ctx, nil))
		}, "Wallet is required"},
		{"transactions without wallet", func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Transactions.List(ctx, &shipping.TransactionListOptions{Page: 1}))
		}, "set TransactionListOptions.Wallet"},
		{"walk without wallet", func(ctx context.Context, c *shipping.Client) error {
			for _, err := range c.Transactions.All(ctx, nil) {
				return err
			}
			return nil
		}, "Wallet is required"},

		{"negative page", rates(&shipping.RateListOptions{Page: -1}), "Page is -1: pages count from 1"},
		{"negative perPage", rates(&shipping.RateListOptions{PerPage: -1}),
			"PerPage is -1: set at least 1, or leave it 0 for the service's default of 100"},
		{"negative page of webhooks", func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Webhooks.List(ctx, &shipping.WebhookListOptions{Page: math.MinInt}))
		}, "Page is -"},

		{"walk with a negative window", func(ctx context.Context, c *shipping.Client) error {
			for _, err := range c.Rates.All(ctx, &shipping.RateListOptions{Walk: shipping.Walk{Window: -1}}) {
				return err
			}
			return nil
		}, "Window"},
		{"a walk of one page", rates(&shipping.RateListOptions{Walk: shipping.Walk{Window: 3}}), "Walk"},

		{"analyze nothing", analyze(nil), "ShipmentID and FileURL are both empty: set exactly one of them"},
		{"analyze neither", analyze(&shipping.AnalyzeRequest{}), "set exactly one of them"},
		{"analyze both", analyze(&shipping.AnalyzeRequest{ShipmentID: "SH-1", FileURL: "https://a.test"}),
			"are both set: set exactly one of them"},
		{"analyze a local file", analyze(&shipping.AnalyzeRequest{FileURL: "/tmp/invoice.pdf"}),
			"FileURL is not an http or https address"},

		{"analyze no host", analyze(&shipping.AnalyzeRequest{FileURL: "https://"}),
			"FileURL is not an http or https address"},
		{"analyze a line break", analyze(&shipping.AnalyzeRequest{FileURL: "https://a.test/i.pdf\r\nX: 1"}),
			"FileURL is not an http or https address"},

		{"purchase nothing", purchase(nil), "RequestID is empty: pass the request_id that Analyze returned"},
		{"purchase without request", purchase(&shipping.PurchaseRequest{DocumentTypes: fda}),
			"RequestID is empty"},
		{"purchase of a blank request",
			purchase(&shipping.PurchaseRequest{RequestID: " ", DocumentTypes: fda}),
			"RequestID is empty"},
		{"purchase without documents", purchase(&shipping.PurchaseRequest{RequestID: "RD-1"}),
			"DocumentTypes is empty: name at least one"},
		{"purchase of an unknown slug",
			purchase(&shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA", "fda"}}),
			`names "fda", which the specification does not list (see DocumentTypes(), or set AllowUnknown to send it ` +
				`anyway); did you mean FDA?`},
		{"purchase of a singular", purchase(&shipping.PurchaseRequest{RequestID: "RD-1",
			DocumentTypes: []shipping.DocumentType{"CUSTOM"}}), `did you mean CUSTOMS?`},
		{"purchase of a plural", purchase(&shipping.PurchaseRequest{RequestID: "RD-1",
			DocumentTypes: []shipping.DocumentType{"WATCHES"}}), `did you mean WATCH?`},
		{"purchase of another spelling",
			purchase(&shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"Fish wildlife"}}),
			`set AllowUnknown to send it anyway); did you mean FISH-WILDLIFE?`},
		{"purchase of a slug twice",
			purchase(&shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA", "FDA"}}),
			"names FDA twice"},
		{"purchase of no slug", purchase(&shipping.PurchaseRequest{RequestID: "RD-1",
			DocumentTypes: []shipping.DocumentType{""}, PurchaseOptions: shipping.PurchaseOptions{AllowUnknown: true}}),
			`names ""`},
		{"purchase with negative settling",
			purchase(&shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: fda,
				PurchaseOptions: shipping.PurchaseOptions{SettleFor: -1}}), "has a negative field"},
		{"purchase with a negative RefusedFor",
			purchase(&shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: fda,
				PurchaseOptions: shipping.PurchaseOptions{RefusedFor: -1}}), "has a negative field"},
		{"purchase of two dots", purchase(&shipping.PurchaseRequest{RequestID: "..", DocumentTypes: fda}),
			"would name another resource"},
		{"purchase of an id that is not UTF-8", purchase(&shipping.PurchaseRequest{RequestID: "\xff", DocumentTypes: fda}),
			"is not valid UTF-8"},
		{"settle an id that is not UTF-8", func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Regulatory.SettlePurchase(ctx, &shipping.PurchaseRequest{RequestID: "\xff"}))
		}, "is not valid UTF-8"},
		{"prepare nothing", func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Regulatory.Prepare(ctx, nil, nil))
		}, "draft is missing"},
		{"prepare no request", func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Regulatory.Prepare(ctx, &shipping.RegulatoryRequest{}, nil))
		}, "draft is missing"},
		{"settle without request", func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Regulatory.SettlePurchase(ctx, nil))
		}, "RequestID is empty"},

		{"get without id", get(""), "request_id is empty"},
		{"get of a dot", get("."), "request_id is ., which would name another resource"},
		{"get of two dots", get(".."), "request_id is .., which would name another resource"},
		{"wait without id", func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Regulatory.Wait(ctx, "", nil))
		}, "requestID is empty"},
		{"wait with negative interval", func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Regulatory.Wait(ctx, "RD-1", &shipping.PollOptions{MinInterval: -1}))
		}, "has a negative field"},
		{"workflow with negative interval",
			workflow(shipping.AnalyzeAndPollOptions{Poll: shipping.PollOptions{MaxInterval: -1}}), "has a negative field"},
		{"workflow with intervals that contradict",
			workflow(shipping.AnalyzeAndPollOptions{Poll: shipping.PollOptions{MinInterval: 2, MaxInterval: 1}}), "MinInterval"},
		{"workflow with negative settling",
			workflow(shipping.AnalyzeAndPollOptions{Purchase: shipping.PurchaseOptions{SettleFor: -1}}), "has a negative field"},
		{"workflow with a budget of nothing", workflow(shipping.AnalyzeAndPollOptions{Budget: &shipping.Budget{}}),
			"Budget needs an amount and a currency"},
		{"workflow with a budget without currency",
			workflow(shipping.AnalyzeAndPollOptions{Budget: &shipping.Budget{Amount: ten}}), "Budget needs"},
		{"workflow with a budget without amount",
			workflow(shipping.AnalyzeAndPollOptions{Budget: &shipping.Budget{Currency: "NGN"}}), "Budget needs"},
		{"workflow with a negative budget",
			workflow(shipping.AnalyzeAndPollOptions{Budget: &shipping.Budget{Amount: ten.Neg(), Currency: "NGN"}}),
			"has the negative amount"},
		{"workflow with a budget and nothing to select",
			workflow(shipping.AnalyzeAndPollOptions{Budget: &shipping.Budget{Amount: ten, Currency: "NGN"}}), "without Select"},
		{"workflow with an unknown type", workflow(shipping.AnalyzeAndPollOptions{Select: shipping.SelectOnly("FDA", "MSD")}),
			`names "MSD", which the specification does not list (see DocumentTypes()); did you mean MSDS?`},
		{"resume with an unknown type", func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Regulatory.Resume(ctx, "RD-1", &shipping.AnalyzeAndPollOptions{Select: shipping.SelectOnly("fda")}))
		}, `did you mean FDA?`},
		{"resume without id", func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Regulatory.Resume(ctx, "", nil))
		}, "is empty"},
		{"profile of no form", func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Regulatory.UpdateProfile(ctx, "RD-1", "", map[string]string{}))
		}, "document_type is empty"},
		{"profile without fields", func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Regulatory.UpdateProfile(ctx, "RD-1", "FDA", nil))
		}, "fields is missing"},
		{"PDF of a parent", func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Regulatory.PDF(ctx, "RD-1", ".."))
		}, "document_type is .."},

		{"own Authorization of a purchase", func(ctx context.Context, c *shipping.Client) error {
			p := &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: fda,
				Draft: shippingtest.DraftRecord("RD-1")}
			return errorOf(c.Regulatory.Purchase(ctx, p, shipping.WithHeader("authorization", "Basic x")))
		}, "sets Authorization"},
		{"own Authorization", rates(nil, shipping.WithHeader("authorization", "Basic x")),
			"sets Authorization: the client sends the key it was made with"},
		{"idempotency key", rates(nil, shipping.WithHeader("idempotency-key", "1")), "net/http would send the request again"},
		{"idempotency key with an X", rates(nil, shipping.WithHeader("X-Idempotency-Key", "1")),
			"net/http would send the request again"},
		{"header that net/http sets", rates(nil, shipping.WithHeader("host", "x")),
			"sets Host, which net/http takes from elsewhere and ignores here"},
		{"header without name", rates(nil, shipping.WithHeader("", "1")), "is not a header name"},
		{"header name with a space", rates(nil, shipping.WithHeader("X Tenant", "1")), "is not a header name"},
		{"header name with a line break", rates(nil, shipping.WithHeader("X\r\nY", "1")), "is not a header name"},
		{"header value with a line break", rates(nil, shipping.WithHeader("X-Tenant", "1\r\nX-Evil: 2")),
			"that no HTTP header can carry"},
		{"a mistake that a later option hides", rates(nil, shipping.WithHeader("", "1"), shipping.WithQuery("a", "b")),
			"is not a header name"},

		{"Do without method", do("", "/v1/shipments", nil), "is not an HTTP method"},
		{"Do with an odd method", do("GET /", "/v1/shipments", nil), "is not an HTTP method"},
		{"Do with an absolute URL", do("GET", "https://evil.test/v1/shipments", nil),
			"the key is sent to the base address only"},
		{"Do with another host", do("GET", "//evil.test/v1/shipments", nil), "the key is sent to the base address only"},
		{"Do without slash", do("GET", "v1/shipments", nil), "must start with one slash"},
		{"Do with a query", do("GET", "/v1/shipments?page=1", nil), "pass the query as url.Values"},
		{"Do with a fragment", do("GET", "/v1/shipments#1", nil), "holds a query or fragment"},
		{"Do with a parent", do("GET", "/v1/../admin", nil), `has an element that is ".", ".."`},
		{"Do with an escaped parent", do("GET", "/v1/%2e%2E/admin", nil), `has an element that is ".", ".."`},
		{"Do with a broken escape", do("GET", "/v1/100%", nil), "badly escaped"},
		{"Do with a value that is not JSON", do("POST", "/v1/shipments", func() {}), "body cannot be written as JSON"},
		{"Do with unreadable money", do("POST", "/v1/shipments", unreadable(t)), "body cannot be written as JSON"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			service := shippingtest.NewService(shippingtest.Refusal(500, "reached"))
			err := test.do(t.Context(), shippingtest.NewClient(t, service, shippingtest.WithRoutes()))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if _, ok := errors.AsType[*shipping.ValidationError](err); !ok || !errors.Is(err, shipping.ErrInvalidRequest) {
				t.Errorf("error %T is not a *ValidationError", err)
			}
			if service.Count("") != 0 {
				t.Errorf("%d requests were sent", service.Count(""))
			}
		})
	}
}

func TestValidation_UnknownSlugsAreSentWhenAllowed(t *testing.T) {
	t.Parallel()
	service := shippingtest.NewService(shippingtest.OK(`{"status":"processing"}`))
	_, err := regulatory(t, service).Purchase(t.Context(), &shipping.PurchaseRequest{
		RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"NEW-FORM"}, Draft: shippingtest.DraftRecord("RD-1"),
		PurchaseOptions: shipping.PurchaseOptions{AllowUnknown: true},
	})
	if err != nil || !strings.Contains(service.Requests()[0].Body, `"NEW-FORM"`) {
		t.Errorf("%v", err)
	}
	draft := &shipping.RegulatoryRequest{RequestID: "RD-1", Status: shipping.StatusDraft,
		AvailableDocuments: []shipping.AvailableDocument{{DocumentType: "NEW-FORM"}}}
	options := &shipping.AnalyzeAndPollOptions{
		Select: shipping.SelectOnly("NEW-FORM"), Purchase: shipping.PurchaseOptions{AllowUnknown: true},
	}
	prepared, err := regulatory(t, service).Prepare(t.Context(), draft, options)
	if err != nil || len(prepared.DocumentTypes) != 1 {
		t.Errorf("%+v, %v", prepared, err)
	}
}

// route is the option of a dialect with one route.
func route(operation, route string) shipping.Option {
	return shipping.WithDialect(&dialect.Dialect{Routes: map[string]string{operation: route}})
}
