package shipping

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/jsonread"
)

// The benchmarks compare, on the same bytes, "client" with "raw": hand-written net/http and encoding/json into
// plain structs. In "odd" each record has scalars that the client mends and raw refuses, "drift" reports
// differences. Only the ratios of one run mean something:
//
//	go test -run - -bench 'Decode|Call' -count 6 .

// answerOf returns a response of GET /v1/<list> with n records made from the format.
func answerOf(list, format string, n int) []byte {
	records := make([]string, n)
	for i := range records {
		records[i] = fmt.Sprintf(format, 938_170_000+i, i%100, i%60)
	}
	return fmt.Appendf(nil, `{"status":true,"message":"Retrieved successfully","data":{%q:[%s],"pagination":{"total":%d,"perPage":%d,"page":1,"pageCount":1}}}`,
		list, strings.Join(records, ","), n, max(n, 100))
}

func ratesAnswer(n int) []byte {
	return answerOf("rates", `{"rate_id":"RT-0%[1]d","amount":61350.%02[2]d,"currency":"NGN","breakdown":[],"carrier_name":"DHL Express Worldwide","carrier_slug":"dhl-express","carrier_logo":"https://logos.example/carriers/dhl-express/mark-512x512.svg","carrier_rate_description":"Door to door delivery by the end of the next possible working day, with clearance through customs","carrier_reference":"CA-0%[1]d","delivery_address":"AD-0%[1]d","pickup_address":"AD-1%[1]d","parcel":"PC-0%[1]d","delivery_date":"2026-01-08T08:%02[3]d:00.000Z","delivery_eta":4237,"delivery_time":"Within 3 days","pickup_eta":1440,"pickup_time":"Within 24 hours","includes_insurance":false,"insurance_fee":1012.5,"insurance_coverage":147604,"metadata":{"localProductCode":"P","productCode":"P"},"used":false,"user":"USER-4418203956","created_at":"2026-01-05T09:%02[3]d:00.000Z","updated_at":"2026-01-05T09:%02[3]d:12.345Z"}`, n)
}

func transactionsAnswer(n int) []byte {
	return answerOf("transactions", `{"transactionId":"TR-5FQJ%[1]dXA7","_id":"65a1f0c2b7d3e94%[1]d","accountId":"659e77aa01b2c3d4e5f60718","account_reference":"VA-7730192846","store_reference":"USER-4418203956","txRef":"shp_9d8f7a6b5c4e%[1]d","amount":18450.%02[2]d,"amount_received":18450.%02[2]d,"converted_amount":12.%02[2]d,"currency":"NGN","currency_converted_to":"USD","flat_amount":18450%02[2]d,"fee":0,"platform_fee":25.25,"description":"Payment for shipment SH-7Q2M%[1]dX4 from Lagos to New York","flow":"out","status":"success","metadata":{"shipment_id":"SH-7Q2M%[1]dX4"},"platform":"shipping","transaction_source":"wallet","receiver":{"name":"Shipping Service","reference":"SRV-1","type":"platform"},"sender":{"name":"Harbour Row Trading","id":"659e77aa01b2c3d4e5f60718","account_number":""},"recipient":"","reversed":false,"settled":true,"settlement_reference":"","payout_date":null,"created_at":"2026-01-05T09:%02[3]d:00.000Z","updated_at":"2026-01-05T09:%02[3]d:12.845Z","__v":0}`, n)
}

func webhooksAnswer(n int) []byte {
	return answerOf("webhooks", `{"webhook_id":"WA-0%[1]d","_id":"65a1f0c2b7d3e94%[1]d","id":"65a1f0c2b7d3e94%[1]d","name":"Orders desk %[2]d","url":"https://hooks.example/shipping/%[1]d","event":["shipment.created","shipment.updated"],"active":true,"live":false,"user":"USER-4418203956","created_at":"2026-01-05T09:%02[3]d:00.000Z","updated_at":"2026-01-05T09:%02[3]d:00.000Z","__v":2}`, n)
}

func countriesAnswer(n int) []byte {
	one := `{"isoCode":"NG","name":"Nigeria","phonecode":"234","flag":"🇳🇬","currency":"NGN","latitude":"10.00000000","longitude":"8.00000000","timezones":[{"zoneName":"Africa/Lagos","gmtOffset":3600,"gmtOffsetName":"UTC+01:00","abbreviation":"WAT","tzName":"West Africa Time"}]}`
	return []byte(`{"status":true,"message":"Retrieved","data":[` + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + `]}`)
}

// The plain structs of the raw side: what one writes who does without a client.
type rawRate struct {
	RateID                 string            `json:"rate_id"`
	Amount                 float64           `json:"amount"`
	Currency               string            `json:"currency"`
	Breakdown              []json.RawMessage `json:"breakdown"`
	CarrierName            string            `json:"carrier_name"`
	CarrierSlug            string            `json:"carrier_slug"`
	CarrierLogo            string            `json:"carrier_logo"`
	CarrierRateDescription string            `json:"carrier_rate_description"`
	CarrierReference       string            `json:"carrier_reference"`
	DeliveryAddress        string            `json:"delivery_address"`
	PickupAddress          string            `json:"pickup_address"`
	Parcel                 string            `json:"parcel"`
	DeliveryDate           time.Time         `json:"delivery_date"`
	DeliveryETA            float64           `json:"delivery_eta"`
	DeliveryTime           string            `json:"delivery_time"`
	PickupETA              float64           `json:"pickup_eta"`
	PickupTime             string            `json:"pickup_time"`
	IncludesInsurance      bool              `json:"includes_insurance"`
	InsuranceFee           float64           `json:"insurance_fee"`
	InsuranceCoverage      float64           `json:"insurance_coverage"`
	Metadata               struct {
		LocalProductCode string `json:"localProductCode"`
		ProductCode      string `json:"productCode"`
	} `json:"metadata"`
	Used      bool      `json:"used"`
	User      string    `json:"user"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

type rawTransaction struct {
	TransactionID       string  `json:"transactionId"`
	ID                  string  `json:"_id"`
	AccountID           string  `json:"accountId"`
	AccountReference    string  `json:"account_reference"`
	StoreReference      string  `json:"store_reference"`
	TxRef               string  `json:"txRef"`
	Amount              float64 `json:"amount"`
	AmountReceived      float64 `json:"amount_received"`
	ConvertedAmount     float64 `json:"converted_amount"`
	Currency            string  `json:"currency"`
	CurrencyConvertedTo string  `json:"currency_converted_to"`
	FlatAmount          int64   `json:"flat_amount"`
	Fee                 float64 `json:"fee"`
	PlatformFee         float64 `json:"platform_fee"`
	Description         string  `json:"description"`
	Flow                string  `json:"flow"`
	Status              string  `json:"status"`
	Metadata            struct {
		ShipmentID string `json:"shipment_id"`
	} `json:"metadata"`
	Platform            string              `json:"platform"`
	TransactionSource   string              `json:"transaction_source"`
	Receiver            TransactionReceiver `json:"receiver"`
	Sender              TransactionSender   `json:"sender"`
	Recipient           string              `json:"recipient"`
	Reversed            bool                `json:"reversed"`
	Settled             bool                `json:"settled"`
	SettlementReference string              `json:"settlement_reference"`
	PayoutDate          *time.Time          `json:"payout_date"`
	CreatedAt           time.Time           `json:"created_at"`
	UpdatedAt           time.Time           `json:"updated_at"`
	Revision            int                 `json:"__v"`
}

type rawWebhook struct {
	WebhookID string    `json:"webhook_id"`
	StorageID string    `json:"_id"`
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	URL       string    `json:"url"`
	Event     []string  `json:"event"`
	Active    bool      `json:"active"`
	Live      bool      `json:"live"`
	User      string    `json:"user"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Revision  int       `json:"__v"`
}

type rawList struct {
	Rates        []rawRate        `json:"rates"`
	Transactions []rawTransaction `json:"transactions"`
	Webhooks     []rawWebhook     `json:"webhooks"`
	Pagination   struct {
		Total     int `json:"total"`
		PerPage   int `json:"perPage"`
		Page      int `json:"page"`
		PageCount int `json:"pageCount"`
	} `json:"pagination"`
}

func rawDecode[T any](b *testing.B, body []byte) {
	var answer struct {
		Status  bool   `json:"status"`
		Message string `json:"message"`
		Data    T      `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || !answer.Status {
		b.Fatal(err)
	}
}

func benchmarkDecode[T, Raw any](b *testing.B, body []byte) {
	run := func(name string, decode func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if err := decode(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("raw", func() error { rawDecode[Raw](b, body); return nil })
	run("client", func() error { return readJSON(body, &envelope[T]{}) })
	odd := oddAnswer(body)
	run("odd", func() error { return readJSON(odd, &envelope[T]{}) })
	var indented bytes.Buffer
	if err := json.Indent(&indented, body, "", "  "); err != nil {
		b.Fatal(err)
	}
	run("indented", func() error { return readJSON(indented.Bytes(), &envelope[T]{}) })
	run("drift", func() error {
		found := driftCounts{}
		return responses().Read(odd, &envelope[T]{}, jsonread.Options{Report: found.add})
	})
}

// oddAnswer returns a response with scalars of other types in each record.
func oddAnswer(body []byte) []byte {
	return []byte(strings.NewReplacer(`"delivery_eta":4237`, `"delivery_eta":"4237"`, `"used":false`, `"used":0`, `.845Z"`, `"`,
		`T09:`, ` 09:`, `"reversed":false`, `"reversed":"false"`, `"__v":2`, `"__v":"2"`, `"gmtOffset":3600`, `"gmtOffset":"3600"`).Replace(string(body)))
}

func BenchmarkDecode(b *testing.B) {
	b.Run("rates", func(b *testing.B) { benchmarkDecode[rateList, rawList](b, ratesAnswer(100)) })
	b.Run("transactions", func(b *testing.B) { benchmarkDecode[transactionList, rawList](b, transactionsAnswer(100)) })
	b.Run("webhooks", func(b *testing.B) { benchmarkDecode[webhookList, rawList](b, webhooksAnswer(100)) })
	b.Run("countries", func(b *testing.B) { benchmarkDecode[[]Country, []Country](b, countriesAnswer(250)) })
}

// inProcess responds to every request with the same body.
type inProcess []byte

func (body inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header:        http.Header{"Content-Type": {"application/json"}},
		ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
	}, nil
}

func benchmarkCall(b *testing.B, path string, body []byte, ours func(*Client) error) {
	web := &http.Client{Transport: inProcess(body), Timeout: 30 * time.Second}
	run := func(name string, call func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("raw", func() error {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "https://api.example.com"+path, nil)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer sk_test_123")
		r.Header.Set("Accept", "application/json")
		response, err := web.Do(r)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		rawDecode[rawList](b, body)
		return nil
	})
	for name, options := range map[string][]Option{"client": nil, "drift": {WithDriftReport(func(Drift) {})}} {
		client, err := NewClient("sk_test_123", append(options, WithBaseURL("https://api.example.com"), WithHTTPClient(web))...)
		if err != nil {
			b.Fatal(err)
		}
		run(name, func() error { return ours(client) })
	}
}

func BenchmarkCall(b *testing.B) {
	for _, n := range []int{100, 1} {
		b.Run(fmt.Sprint("rates/", n), func(b *testing.B) {
			benchmarkCall(b, "/v1/rates?perPage=100", ratesAnswer(n), func(c *Client) error {
				_, err := c.Rates.List(b.Context(), &RateListOptions{PerPage: 100})
				return err
			})
		})
		b.Run(fmt.Sprint("transactions/", n), func(b *testing.B) {
			benchmarkCall(b, "/v1/transactions?perPage=100&wallet=VA-1", transactionsAnswer(n), func(c *Client) error {
				_, err := c.Transactions.List(b.Context(), &TransactionListOptions{Wallet: "VA-1", PerPage: 100})
				return err
			})
		})
	}
}
