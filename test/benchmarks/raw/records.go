package raw

import (
	"encoding/json"
	"time"
)

// Envelope wraps every response of the service.
type Envelope[T any] struct {
	Status  bool   `json:"status"`
	Message string `json:"message"`
	Data    T      `json:"data"`
}

// Responses of the service.
type (
	Rates        = Envelope[RateList]
	Transactions = Envelope[TransactionList]
	Webhooks     = Envelope[WebhookList]
	Countries    = Envelope[[]Country]
	Draft        = Envelope[Request]
)

// RateList is the data of GET /v1/rates.
type RateList struct {
	Rates      []Rate     `json:"rates"`
	Pagination Pagination `json:"pagination"`
}

// Rate has amounts without exact digits, and fails on any form that differs from the specification.
type Rate struct {
	RateID                 string          `json:"rate_id"`
	Amount                 float64         `json:"amount"`
	Currency               string          `json:"currency"`
	Breakdown              json.RawMessage `json:"breakdown"`
	CarrierName            string          `json:"carrier_name"`
	CarrierSlug            string          `json:"carrier_slug"`
	CarrierLogo            string          `json:"carrier_logo"`
	CarrierRateDescription string          `json:"carrier_rate_description"`
	CarrierReference       string          `json:"carrier_reference"`
	DeliveryAddress        string          `json:"delivery_address"`
	PickupAddress          string          `json:"pickup_address"`
	Parcel                 string          `json:"parcel"`
	DeliveryDate           time.Time       `json:"delivery_date"`
	DeliveryETA            float64         `json:"delivery_eta"`
	DeliveryTime           string          `json:"delivery_time"`
	PickupETA              float64         `json:"pickup_eta"`
	PickupTime             string          `json:"pickup_time"`
	IncludesInsurance      bool            `json:"includes_insurance"`
	InsuranceFee           float64         `json:"insurance_fee"`
	InsuranceCoverage      float64         `json:"insurance_coverage"`
	Metadata               struct {
		LocalProductCode string `json:"localProductCode,omitempty"`
		ProductCode      string `json:"productCode,omitempty"`
	} `json:"metadata"`
	Used      bool      `json:"used"`
	User      string    `json:"user"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Pagination has the members of all lists.
type Pagination struct {
	Page          int  `json:"page"`
	PerPage       int  `json:"perPage"`
	CurrentPage   int  `json:"currentPage"`
	Total         int  `json:"total"`
	PageCount     int  `json:"pageCount"`
	PagingCounter int  `json:"pagingCounter"`
	PrevPage      *int `json:"prevPage"`
	NextPage      *int `json:"nextPage"`
	HasPrevPage   bool `json:"hasPrevPage"`
	HasNextPage   bool `json:"hasNextPage"`
}

// TransactionList is the data of GET /v1/transactions.
type TransactionList struct {
	Transactions []Transaction `json:"transactions"`
	Pagination   Pagination    `json:"pagination"`
}

// Transaction is a movement of money.
type Transaction struct {
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
		ShipmentID string `json:"shipment_id,omitempty"`
	} `json:"metadata"`
	Platform          string `json:"platform"`
	TransactionSource string `json:"transaction_source"`
	Receiver          struct {
		Name      string `json:"name"`
		Reference string `json:"reference"`
		Type      string `json:"type"`
	} `json:"receiver"`
	Sender struct {
		Name          string `json:"name"`
		ID            string `json:"id"`
		AccountNumber string `json:"account_number"`
	} `json:"sender"`
	Recipient           string    `json:"recipient"`
	Reversed            bool      `json:"reversed"`
	Settled             bool      `json:"settled"`
	SettlementReference string    `json:"settlement_reference"`
	PayoutDate          time.Time `json:"payout_date"`
	CreatedAt           time.Time `json:"created_at"`
	UpdatedAt           time.Time `json:"updated_at"`
	Revision            int       `json:"__v"`
}

// WebhookList is the data of GET /v1/webhooks.
type WebhookList struct {
	Webhooks   []Webhook  `json:"webhooks"`
	Pagination Pagination `json:"pagination"`
}

// Webhook is a subscription to events.
type Webhook struct {
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

// Country is an element of the data of GET /v1/countries.
type Country struct {
	ISOCode   string `json:"isoCode"`
	Name      string `json:"name"`
	PhoneCode string `json:"phonecode"`
	Flag      string `json:"flag"`
	Currency  string `json:"currency"`
	Latitude  string `json:"latitude"`
	Longitude string `json:"longitude"`
	Timezones []struct {
		ZoneName      string `json:"zoneName"`
		GMTOffset     int    `json:"gmtOffset"`
		GMTOffsetName string `json:"gmtOffsetName"`
		Abbreviation  string `json:"abbreviation"`
		TZName        string `json:"tzName"`
	} `json:"timezones"`
}

// Request is a regulatory request.
type Request struct {
	RequestID  string `json:"request_id"`
	Status     string `json:"status"`
	Source     string `json:"source"`
	ShipmentID string `json:"shipment_id"`
	Wallet     string `json:"wallet"`
	Currency   string `json:"currency"`
	LineItems  []struct {
		ItemID        string  `json:"item_id"`
		Description   string  `json:"description"`
		HSCode        string  `json:"hs_code"`
		Quantity      float64 `json:"quantity"`
		UnitPrice     float64 `json:"unit_price"`
		Currency      string  `json:"currency"`
		Weight        float64 `json:"weight"`
		OriginCountry string  `json:"origin_country"`
	} `json:"line_items"`
	AvailableDocuments []Document `json:"available_documents"`
	Addresses          struct {
		Origin      Address `json:"origin"`
		Destination Address `json:"destination"`
	} `json:"addresses"`
	Profiles  json.RawMessage `json:"profiles"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
}

// Document is an offer of a regulatory request.
type Document struct {
	DocumentType string  `json:"document_type"`
	Name         string  `json:"name"`
	Mode         string  `json:"mode"`
	Amount       float64 `json:"amount"`
	Currency     string  `json:"currency"`
	Reasons      []struct {
		ItemID string `json:"item_id"`
		Rule   string `json:"rule"`
		Match  string `json:"match"`
	} `json:"reasons"`
	ProfileFields []struct {
		Name     string `json:"name"`
		Label    string `json:"label"`
		Type     string `json:"type"`
		Required bool   `json:"required"`
	} `json:"profile_fields"`
}

// Address is a postal address.
type Address struct {
	Name       string `json:"name"`
	Company    string `json:"company"`
	Line1      string `json:"line1"`
	Line2      string `json:"line2"`
	City       string `json:"city"`
	State      string `json:"state"`
	PostalCode string `json:"postal_code"`
	Country    string `json:"country"`
	Phone      string `json:"phone"`
	Email      string `json:"email"`
}
