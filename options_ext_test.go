package shipping_test

import (
	"errors"
	"iter"
	"math"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

func TestNewClient_RefusesBadKeysAndAddresses(t *testing.T) {
	t.Parallel()
	const key, base = shippingtest.Key, shippingtest.BaseURL
	type row struct{ key, address, want string }
	rows := map[string]row{
		"no key": {"", base,
			"shipping: secretKey is empty: pass the account's secret key, or use NewClientFromEnv with SHIPPING_SECRET_KEY"},
		"blank key":              {" \t", base, "is empty"},
		"key with a line break":  {"sk_test_1\n", base, "has spaces or line breaks around it: trim it"},
		"key with a space":       {"sk test", base, "has a character that no HTTP header can carry"},
		"key with a line inside": {"sk\r\nX-Evil: 1", base, "has a character that no HTTP header can carry"},
		"key with curly quotes":  {"“sk_test_1”", base, "check for pasted quotes"},
		"key in quotes":          {`"sk_test_1"`, base, "secretKey has quotes around it: remove the quotes"},
		"address in quotes":      {key, `"https://api.example.com"`, "WithBaseURL has quotes around it: remove the quotes"},
		"key with its scheme":    {"Bearer sk_test_1", base, `starts with "Bearer": pass the bare key`},
		"no address": {key, "",
			`shipping: WithBaseURL is missing: there is no built-in host; pass WithBaseURL("https://…") or set ` +
				`SHIPPING_BASE_URL`},
		"no scheme": {key, "api.example.com", "has no http or https scheme: write it like https://api.example.com"},
		"host and port only": {key, "localhost:8080",
			"WithBaseURL has no http or https scheme: write it like https://api.example.com, or http://localhost:4010 for a " +
				"local server"},
		"key as address": {"sk", "sk_secret@123", "has no http or https scheme: write it like https://api.example.com"},
		"other scheme":   {key, "ftp://api.example.com", "has no http or https scheme"},
		"no host":        {key, "https:///v1", "has no host"},
		"one slash":      {key, "https:/api.example.com", "has no host"},
		"broken escape": {key, "https://api.example.com/%zz", `is not a URL (invalid URL escape "%zz"): ` +
			"write it like https://"},
		"broken port": {key, "https://api.example.com:497l", `is not a URL (invalid port ":497l" after host): ` +
			"write it like"},
		"password, %": {key, "https://me:%zz@api.example.com", "is not a URL: write it like https://api.example.com"},
		"user and password": {key, "https://me:secret@api.example.com",
			"holds a user name or password: pass the key to NewClient instead"},
		"query":       {key, "https://api.example.com?x=1", "holds a query or fragment"},
		"empty query": {key, "https://api.example.com?", "holds a query or fragment"},
		"another version": {key, "https://api.example.com/v2/",
			"ends in /v2: this client is for version 1 and adds /v1; leave /v2 out"},
		"a version twice":             {key, "https://api.example.com/v1/v1", "ends in /v1"},
		"fragment":                    {key, "https://api.example.com#x", "holds a query or fragment"},
		"plain HTTP to a name":        {key, "http://api.example.com", "is http:// on a public host"},
		"plain HTTP, IPv4":            {key, "http://8.8.8.8", "or WithPlainHTTP()"},
		"plain HTTP, an ASCII escape": {key, "http://evil%2ecom", "is not a URL"},
	}
	for _, address := range []string{ // public hosts; names that a resolver reads as their addresses passed as local ones
		"http://[2001:4860:4860::8888]", "http://[::ffff:8.8.8.8]", "http://8.8", "http://evil\u3002com",
		"http://evil\uff0ecom", "http://evil\uff61com.", "http://evil%E3%80%82com", "http://b\u00fccher.test",
		"http://\uff18\uff0e\uff18", "http://134744072", "http://134744072.:80", "http://0X8080808",
		"http://01002004010", "http://.",
	} {
		rows[address] = row{key, address, "use https://"}
	}
	for name, test := range rows {
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

func TestNewClient_RefusesBadOptions(t *testing.T) {
	t.Parallel()
	const negative = "WithRetryPolicy has a negative field"
	retry := shipping.WithRetryPolicy
	type policy = shipping.RetryPolicy
	for name, test := range map[string]struct {
		option shipping.Option
		want   string
	}{
		"negative attempts":  {retry(policy{MaxAttempts: -1}), negative},
		"negative wait":      {retry(policy{MinWait: -1}), negative},
		"negative longest":   {retry(policy{MaxWait: -1}), negative},
		"negative obedience": {retry(policy{MaxRetryAfter: -1}), negative},
		"negative burst":     {retry(policy{Burst: -1}), negative},
		"nanoseconds":        {retry(policy{AttemptTimeout: 30}), "AttemptTimeout 30ns: write it with a unit"},
		"no number":          {retry(policy{ExtraLoad: math.NaN()}), "WithRetryPolicy has an ExtraLoad that is not a number"},
		"negative size":      {shipping.WithMaxResponseBytes(-1), "WithMaxResponseBytes is negative: pass a number of bytes"},
		"unknown operation": {route(t, "x", "/x"),
			`names "x", but only these operations can have a route`},
		"documented operation": {route(t, shipping.OpPurchase, "/x"), "but only these operations"},
		"route without slash":  {route(t, operations.DocumentPDF, "pdf"), "does not begin with a slash"},
		"missing placeholder": {route(t, operations.DocumentPDF, "/pdf/{request_id}"),
			`gives regulatory.pdf the route "/pdf/{request_id}", which lacks the placeholder {document_type}`},
		"unknown placeholder": {route(t, operations.RetryRequest, "/{request_id}/{x}"), `whose placeholder {x} is unknown`},
		"open placeholder":    {route(t, operations.RetryRequest, "/{id"), `lacks the placeholder {request_id}: write it`},
		"other placeholder":   {route(t, operations.RetryRequest, "/{id}"), `{request_id}: write it in place of {id}`},
	} {
		_, err := shipping.NewClient(shippingtest.Key, shipping.WithBaseURL(shippingtest.BaseURL), test.option)
		shippingtest.WantErrorWith(t, name, err, shipping.ErrInvalidRequest, test.want)
	}
	client := shippingtest.Must(shipping.NewClient(shippingtest.Key, shipping.WithBaseURL("http://api.example.com"),
		shipping.WithPlainHTTP(), nil, shipping.WithLogger(nil), shipping.WithHTTPClient(nil)))(t)
	shippingtest.Diff(t, "plain HTTP and empty options", "http://api.example.com", client.BaseURL())
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
	shippingtest.Diff(t, "an option does not override the variable", shippingtest.BaseURL,
		shippingtest.Must(shipping.NewClientFromEnv(shipping.WithBaseURL(shippingtest.BaseURL)))(t).BaseURL())
}

// A call that cannot succeed is refused before anything is sent.
func TestValidation_NothingIsSent(t *testing.T) {
	t.Parallel()
	type (
		analysis = shipping.AnalyzeRequest
		bought   = shipping.PurchaseRequest
		replayed = shipping.ReplayRequest
		rated    = shipping.RateListOptions
		settings = shipping.PurchaseOptions
		workflow = shipping.AnalyzeAndPollOptions
		poll     = shipping.PollOptions
		types    = []shipping.DocumentType
	)
	service, ctx := shippingtest.NewService(shippingtest.Refusal(500, "reached")), t.Context()
	c := shippingtest.NewClient(t, service, shippingtest.WithRoutes())
	replay := func(r *replayed) error { return shippingtest.Err(c.Webhooks.Replay(ctx, r)) }
	analyze := func(r *analysis) error { return shippingtest.Err(c.Regulatory.Analyze(ctx, r)) }
	purchase := func(p *bought, options ...shipping.CallOption) error {
		return shippingtest.Err(c.Regulatory.Purchase(ctx, p, options...))
	}
	settle := func(p *bought) error { return shippingtest.Err(c.Regulatory.SettlePurchase(ctx, p)) }
	prepare := func(r *shipping.RegulatoryRequest) error { return shippingtest.Err(c.Regulatory.Prepare(ctx, r, nil)) }
	get := func(id string) error { return shippingtest.Err(c.Regulatory.Get(ctx, id)) }
	wait := func(id string, o *poll) error { return shippingtest.Err(c.Regulatory.Wait(ctx, id, o)) }
	run := func(o workflow) error { return shippingtest.Err(c.Regulatory.AnalyzeAndPoll(ctx, parcel, &o)) }
	resume := func(id string, o *workflow) error { return shippingtest.Err(c.Regulatory.Resume(ctx, id, o)) }
	profile := func(form shipping.DocumentType, fields any) error {
		return shippingtest.Err(c.Regulatory.UpdateProfile(ctx, "RD-1", form, fields))
	}
	rates := func(o *rated, options ...shipping.CallOption) error {
		return shippingtest.Err(c.Rates.List(ctx, o, options...))
	}
	header := func(name, value string) error { return rates(nil, shipping.WithHeader(name, value)) }
	transactions := func(o *shipping.TransactionListOptions) error { return shippingtest.Err(c.Transactions.List(ctx, o)) }
	do := func(method, path string, in any) error { return c.Do(ctx, method, path, nil, in, nil) }
	into := func(out any) error { return c.Do(ctx, "GET", "/v1/rates", nil, nil, out) }
	ten := shippingtest.Amount(t, "10")
	const oneOf, noAddress = "set exactly one of them", "FileURL is not an http or https address"
	const negative, needs, required = "has a negative field", "Budget needs an amount and a currency", "Wallet is required"
	const baseOnly, parent = "the key is sent to the base address only", `has an element that is ".", ".."`
	const emptyID, again, noName = "RequestID is empty", "net/http would send the request again", "is not a header name"
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"replay of nothing":          {replay(nil), "pass a ReplayRequest with DeliveryID, or with ShipmentID and Event"},
		"replay without both":        {replay(&replayed{}), "DeliveryID is empty: set DeliveryID, or both"},
		"replay with only a webhook": {replay(&replayed{WebhookID: "WA-1"}), "set DeliveryID, or both ShipmentID and Event"},
		"replay without event": {replay(&replayed{ShipmentID: "SH-1"}),
			"Event is empty: set it with ShipmentID, for example to EventShipmentUpdated"},
		"replay without shipment": {replay(&replayed{Event: "shipment.created"}),
			"ShipmentID is empty: Event must be sent together with ShipmentID"},

		"transactions without options": {transactions(nil), required},
		"transactions without wallet": {transactions(&shipping.TransactionListOptions{Page: 1}),
			"set TransactionListOptions.Wallet"},
		"wallet with a blank": {transactions(&shipping.TransactionListOptions{Wallet: " VA-1"}),
			"transactions.list: Wallet begins or ends with a blank: remove it"},
		"walk without wallet": {firstError(c.Transactions.All(ctx, nil)), required},
		"negative page":       {rates(&rated{Page: -1}), "Page is -1: pages count from 1"},
		"negative perPage": {rates(&rated{PerPage: -1}),
			"PerPage is -1: set at least 1, or leave it 0 for the service's default of 100"},
		"negative page of webhooks": {shippingtest.Err(c.Webhooks.List(ctx, &shipping.WebhookListOptions{Page: math.MinInt})),
			"Page is -"},
		"walk with a negative window": {firstError(c.Rates.All(ctx, &rated{Walk: shipping.Walk{Window: -1}})), "Window"},
		"a walk of one page":          {rates(&rated{Walk: shipping.Walk{Window: 3}}), "Walk"},

		"analyze nothing":      {analyze(nil), "ShipmentID and FileURL are both empty: " + oneOf},
		"analyze neither":      {analyze(&analysis{}), oneOf},
		"analyze both":         {analyze(&analysis{ShipmentID: "SH-1", FileURL: "https://a.test"}), "are both set: " + oneOf},
		"analyze a blank":      {analyze(&analysis{ShipmentID: "SH-1\n"}), "begins or ends with a blank"},
		"analyze a space":      {analyze(&analysis{FileURL: "https://a.test/i "}), "begins or ends with a blank"},
		"analyze a local file": {analyze(&analysis{FileURL: "/tmp/invoice.pdf"}), noAddress},
		"analyze no host":      {analyze(&analysis{FileURL: "https://"}), noAddress},
		"analyze a line break": {analyze(&analysis{FileURL: "https://a.test/i.pdf\r\nX: 1"}), noAddress},

		"purchase nothing":            {purchase(nil), emptyID + ": pass the request_id that Analyze returned"},
		"purchase without request":    {purchase(&bought{DocumentTypes: fda}), emptyID},
		"purchase of a blank request": {purchase(&bought{RequestID: " ", DocumentTypes: fda}), emptyID},
		"purchase of two dots":        {purchase(&bought{RequestID: "..", DocumentTypes: fda}), "RequestID is .., which"},
		"purchase of a line": {purchase(&bought{RequestID: "RD-1\n", DocumentTypes: fda,
			Draft: shippingtest.DraftRecord("RD-1\n")}), "RequestID begins or ends with a blank: remove it"},
		"purchase of an odd id":      {purchase(&bought{RequestID: "\xff", DocumentTypes: fda}), "is not valid UTF-8"},
		"purchase without documents": {purchase(&bought{RequestID: "RD-1"}), "DocumentTypes is empty: name at least one"},
		"purchase of what was shown": {purchase(&bought{RequestID: "RD-1", DocumentTypes: fda, Purchased: true}),
			"Purchased is set: call Regulatory.SettlePurchase instead"},
		"purchase of an unknown slug": {purchase(&bought{RequestID: "RD-1", DocumentTypes: types{"FDA", "fda"}}),
			`names "fda", which the specification does not list (see DocumentTypes(), or set AllowUnknown to send it ` +
				`anyway); did you mean FDA?`},
		"purchase of a singular": {purchase(&bought{RequestID: "RD-1", DocumentTypes: types{"CUSTOM"}}), "mean CUSTOMS?"},
		"purchase of a plural":   {purchase(&bought{RequestID: "RD-1", DocumentTypes: types{"WATCHES"}}), "mean WATCH?"},
		"purchase of another spelling": {purchase(&bought{RequestID: "RD-1", DocumentTypes: types{"Fish wildlife"}}),
			`set AllowUnknown to send it anyway); did you mean FISH-WILDLIFE?`},
		"purchase of a slug twice": {purchase(&bought{RequestID: "RD-1", DocumentTypes: types{"FDA", "FDA"}}),
			"names FDA twice: name each document once; this purchase was not sent"},
		"purchase of no slug": {purchase(&bought{RequestID: "RD-1", DocumentTypes: types{""},
			PurchaseOptions: settings{AllowUnknown: true}}), `has an empty type: name a document, such as "FDA"; this ` +
			"purchase was not sent"},
		"purchase with negative settling": {purchase(&bought{RequestID: "RD-1", DocumentTypes: fda,
			PurchaseOptions: settings{SettleFor: -1}}), negative},
		"purchase with nanoseconds": {purchase(&bought{RequestID: "RD-1", DocumentTypes: fda,
			PurchaseOptions: settings{QuietFor: 300}}), "QuietFor 300ns: write it with a unit, such as 300*time.Second"},
		"purchase with a negative RefusedFor": {purchase(&bought{RequestID: "RD-1", DocumentTypes: fda,
			PurchaseOptions: settings{RefusedFor: -1}}), negative},
		"own Authorization of a purchase": {purchase(&bought{RequestID: "RD-1", DocumentTypes: fda,
			Draft: shippingtest.DraftRecord("RD-1")}, shipping.WithHeader("authorization", "Basic x")), "sets Authorization"},
		"settle without request": {settle(nil), emptyID},
		"settle an odd id":       {settle(&bought{RequestID: "\xff"}), "is not valid UTF-8"},
		"prepare nothing":        {prepare(nil), "draft is missing"},
		"prepare no request":     {prepare(&shipping.RegulatoryRequest{}), "draft is missing"},

		"get without id":                          {get(""), "request_id is empty"},
		"get of a line":                           {get("RD-1\n"), "request_id begins or ends with a blank: remove it"},
		"get of a dot":                            {get("."), "request_id is ., which would name another resource"},
		"get of two dots":                         {get(".."), "request_id is .., which would name another resource"},
		"wait without id":                         {wait("", nil), "requestID is empty"},
		"wait with negative interval":             {wait("RD-1", &poll{MinInterval: -1}), negative},
		"workflow with negative interval":         {run(workflow{Poll: poll{MaxInterval: -1}}), negative},
		"workflow with intervals that contradict": {run(workflow{Poll: poll{MinInterval: 2, MaxInterval: 1}}), "MinInterval"},
		"workflow with negative settling":         {run(workflow{Purchase: settings{SettleFor: -1}}), negative},
		"workflow with no budget":                 {run(workflow{Budget: &shipping.Budget{}}), needs},
		"a budget without currency":               {run(workflow{Budget: &shipping.Budget{Amount: ten}}), needs},
		"a budget without amount":                 {run(workflow{Budget: &shipping.Budget{Currency: "NGN"}}), needs},
		"a negative budget": {run(workflow{Budget: &shipping.Budget{Amount: ten.Neg(), Currency: "NGN"}}),
			"has the negative amount"},
		"a budget and nothing to select": {run(workflow{Budget: &shipping.Budget{Amount: ten, Currency: "NGN"}}),
			"without Select"},
		"workflow with an unknown type": {run(workflow{Select: shipping.SelectOnly("FDA", "MSD")}),
			`names "MSD", which the specification does not list (see DocumentTypes()); did you mean MSDS?`},
		"workflow with no types":      {run(workflow{Select: shipping.SelectOnly()}), "got no document types"},
		"resume with an unknown type": {resume("RD-1", &workflow{Select: shipping.SelectOnly("fda")}), `did you mean FDA?`},
		"resume without id":           {resume("", nil), "is empty"},
		"profile of no form":          {profile("", map[string]string{}), "document_type is empty"},
		"profile without fields":      {profile("FDA", nil), "fields is missing"},
		"PDF of a parent":             {shippingtest.Err(c.Regulatory.PDF(ctx, "RD-1", "..")), "document_type is .."},

		"own Authorization": {header("authorization", "Basic x"),
			"sets Authorization: the client sends the key it was made with"},
		"idempotency key":           {header("idempotency-key", "1"), again},
		"idempotency key with an X": {header("X-Idempotency-Key", "1"), again},
		"header that net/http sets": {header("host", "x"),
			"sets Host, which net/http takes from elsewhere and ignores here"},
		"header without name":             {header("", "1"), noName},
		"header name with a space":        {header("X Tenant", "1"), noName},
		"header name with a line break":   {header("X\r\nY", "1"), noName},
		"header value with a line break":  {header("X-Tenant", "1\r\nX-Evil: 2"), "that no HTTP header can carry"},
		"a mistake before another option": {rates(nil, shipping.WithHeader("", "1"), shipping.WithQuery("a", "b")), noName},

		"do into a text":            {into("x"), "out is a string that cannot be read into: pass a pointer, such as &page"},
		"do into no value":          {into((*shipping.RawJSON)(nil)), "pass a pointer"},
		"resume without request":    {resume("", nil), "requestID is empty: pass the request_id that Analyze returned"},
		"Do without method":         {do("", "/v1/shipments", nil), "is not an HTTP method"},
		"Do with an odd method":     {do("GET /", "/v1/shipments", nil), "is not an HTTP method"},
		"Do with an absolute URL":   {do("GET", "https://evil.test/v1/shipments", nil), baseOnly},
		"Do with another host":      {do("GET", "//evil.test/v1/shipments", nil), baseOnly},
		"Do without slash":          {do("GET", "v1/shipments", nil), "must start with one slash"},
		"Do with a query":           {do("GET", "/v1/shipments?page=1", nil), "pass the query as url.Values"},
		"Do with a fragment":        {do("GET", "/v1/shipments#1", nil), "holds a query or fragment"},
		"Do with a parent":          {do("GET", "/v1/../admin", nil), parent},
		"Do with an escaped parent": {do("GET", "/v1/%2e%2E/admin", nil), parent},
		"Do with a broken escape":   {do("GET", "/v1/100%", nil), "badly escaped"},
		"Do with what is not JSON":  {do("POST", "/v1/shipments", func() {}), "body cannot be written as JSON"},
		"Do with unreadable money":  {do("POST", "/v1/shipments", readAmount(t, "free")), "body cannot be written as JSON"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", name, test.err, test.want)
		}
		if _, ok := errors.AsType[*shipping.ValidationError](test.err); !ok ||
			!errors.Is(test.err, shipping.ErrInvalidRequest) {
			t.Errorf("%s: error %T is not a *ValidationError", name, test.err)
		}
	}
	shippingtest.Diff(t, "requests", 0, service.Count(""))
}

// firstError returns the error of the first element of a list.
func firstError[T any](list iter.Seq2[T, error]) error {
	for _, err := range list {
		return err
	}
	return nil
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
	prepared := shippingtest.Must(regulatory(t, service).Prepare(t.Context(), draft, options))(t)
	shippingtest.Diff(t, "prepared", []shipping.DocumentType{"NEW-FORM"}, prepared.DocumentTypes)
}

// route is the option of a dialect with one route.
func route(t *testing.T, operation, route string) shipping.Option {
	t.Helper()
	return shipping.WithDialect(shippingtest.Dialect(t, "routes="+operation+"="+route))
}
