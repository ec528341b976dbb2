package payload

// StripeCustomer is an entry of Stripe's GET /v1/customers.
type StripeCustomer struct {
	ID              string         `json:"id"`
	Object          string         `json:"object"`
	Address         StripeAddress  `json:"address"`
	Balance         int64          `json:"balance"`
	Created         int64          `json:"created"`
	Currency        string         `json:"currency"`
	DefaultSource   *string        `json:"default_source"`
	Delinquent      bool           `json:"delinquent"`
	Description     string         `json:"description"`
	Discount        *string        `json:"discount"`
	Email           string         `json:"email"`
	InvoicePrefix   string         `json:"invoice_prefix"`
	InvoiceSettings StripeInvoices `json:"invoice_settings"`
	Livemode        bool           `json:"livemode"`
	Metadata        struct {
		Account  string `json:"account"`
		Shipment string `json:"shipment"`
	} `json:"metadata"`
	Name                string         `json:"name"`
	NextInvoiceSequence int64          `json:"next_invoice_sequence"`
	Phone               string         `json:"phone"`
	PreferredLocales    []string       `json:"preferred_locales"`
	Shipping            StripeShipping `json:"shipping"`
	TaxExempt           string         `json:"tax_exempt"`
	TestClock           *string        `json:"test_clock"`
}

// StripeAddress is a customer's address.
type StripeAddress struct {
	City       string `json:"city"`
	Country    string `json:"country"`
	Line1      string `json:"line1"`
	Line2      string `json:"line2"`
	PostalCode string `json:"postal_code"`
	State      string `json:"state"`
}

// StripeShipping is where a customer's goods go.
type StripeShipping struct {
	Address        StripeAddress `json:"address"`
	Carrier        string        `json:"carrier"`
	Name           string        `json:"name"`
	Phone          string        `json:"phone"`
	TrackingNumber string        `json:"tracking_number"`
}

// StripeInvoices is how a customer's invoices are made.
type StripeInvoices struct {
	CustomFields         []string `json:"custom_fields"`
	DefaultPaymentMethod *string  `json:"default_payment_method"`
	Footer               string   `json:"footer"`
	RenderingOptions     *string  `json:"rendering_options"`
}

// StripeList is a page of customers.
type StripeList struct {
	Object  string           `json:"object"`
	URL     string           `json:"url"`
	HasMore bool             `json:"has_more"`
	Data    []StripeCustomer `json:"data"`
}

// StripeCustomers writes n customers, as GET /v1/customers answers.
func StripeCustomers(n int) []byte {
	m := newMaker(3)
	return encode(StripeList{
		Object: "list", URL: "/v1/customers", Data: list(n, func(int) StripeCustomer { return m.stripeCustomer() }),
	})
}

// OneStripeCustomer writes one customer.
func OneStripeCustomer() []byte { return encode(newMaker(3).stripeCustomer()) }

func (m maker) stripeCustomer() StripeCustomer {
	address := StripeAddress{
		City: "Lagos", Country: "NG", Line1: m.text("Broad Street ", digits, 3), PostalCode: m.text("", digits, 6), State: "Lagos Island",
	}
	c := StripeCustomer{
		ID: m.text("cus_", letters, 14), Object: "customer", Address: address, Created: m.moment().Unix(), Currency: "usd",
		Description: "Freight forwarder with a monthly account and a line of credit", Email: m.text("accounts.", digits, 6) + "@forwarder.example",
		InvoicePrefix: m.text("", letters, 8), InvoiceSettings: StripeInvoices{Footer: "Thank you for shipping with us"}, Livemode: true,
		Name: m.text("Okafor and Sons ", digits, 4), NextInvoiceSequence: m.random.Int64N(1000), Phone: m.text("+234", digits, 10),
		PreferredLocales: []string{"en-NG"}, TaxExempt: "none",
		Shipping: StripeShipping{
			Address: address, Carrier: "DHL Express", Name: "Warehouse, gate two", Phone: m.text("+234", digits, 10), TrackingNumber: m.text("", digits, 10),
		},
	}
	c.Metadata.Account, c.Metadata.Shipment = m.numbered("VA"), m.text("SH-", letters, 16)
	return c
}
