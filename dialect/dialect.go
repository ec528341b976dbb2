// Package dialect holds what one service decides at the points that the specification of the shipping service
// leaves open: names of members, statuses, formats, and the routes of operations without a documented path. A file
// of a [Dialect] has the lines that errors print, or JSON. The client, the webhook receiver and the reference
// server follow it.
//
//	d, err := dialect.Read("service.json")
//	client, err := shipping.NewClient(key, shipping.WithDialect(d))
//	server := mockserver.New(mockserver.WithDialect(d))
//
// Everything in a dialect is optional. At a point that it does not set, the client is as tolerant and as careful as
// without a dialect, and the reference server behaves like [Reference].
//
// A file is trusted like code: it names the amount that a purchase charges, and the routes. Do not take it from the
// service.
package dialect

import "time"

// Dialect is what one service has decided. The zero value decides nothing.
//
// Only points.json describes the fields. It has, for each: the open point, the behaviour of the reference server, the
// other choice (see [Contrary] and [Strict]), the values or the range, what uses the field and needs it, the responses
// that show it, and the test which checks that the reference server or the receiver follows it. The table of
// docs/internals/DIALECT.md, GET /_mock/dialect, and the flag -dialect are derived from it.
type Dialect struct {
	// Version is the version of the format, [Version] or 0.
	Version      int           `json:"version"`
	Record       RecordMembers `json:"record,omitzero"`
	Offer        Offer         `json:"offer,omitzero"`
	Document     Document      `json:"document,omitzero"`
	Purchase     Purchase      `json:"purchase,omitzero"`
	Refusal      Refusal       `json:"refusal,omitzero"`
	List         List          `json:"list,omitzero"`
	Request      Request       `json:"request,omitzero"`
	Time         Time          `json:"time,omitzero"`
	Notification Notification  `json:"notification,omitzero"`
	// Routes are the routes of the operations that the specification names without a path, such as "regulatory.retry":
	// "POST /v1/regulatory-documents/{request_id}/retries". An operation without a route is not enabled. The paths that
	// the specification documents cannot be changed.
	Routes map[string]string `json:"routes,omitzero"`
}

// Version is the version of the format that this package reads.
const Version = 1

// RecordMembers names the members of a regulatory request. A name can be a path of two names, such as
// "wallet.currency". "-" means that the service does not send the member.
type RecordMembers struct {
	// At is the member of data that holds the record, or "[0]" if data is a list of one record. By default the record is
	// data, or its member request.
	At string `json:"at,omitzero"`
	// LineItems is the list of the items. By default it is line_items or items.
	LineItems string `json:"line_items,omitzero"`
	// Documents is the list of the purchased documents. By default it is documents, document_types or purchased_documents.
	Documents string `json:"documents,omitzero"`
	// ChargedAmount, TransactionID, Currency and Wallet describe the charge.
	ChargedAmount string `json:"charged_amount,omitzero"`
	TransactionID string `json:"transaction_id,omitzero"`
	Currency      string `json:"currency,omitzero"`
	Wallet        string `json:"wallet,omitzero"`
	// Absent are members that the reference server leaves out, by their usual names.
	Absent []string `json:"absent,omitzero"`
	// States are statuses that the specification does not list, each with its meaning: "analyzing" for the response to
	// an analysis, "generating" in place of processing, or "expired" for a draft that can no longer be purchased.
	States map[string]string `json:"states,omitzero"`
}

// Offer names the members of an available document.
type Offer struct {
	// DocumentType is by default document_type, slug or type.
	DocumentType string `json:"document_type,omitzero"`
	// Amount is the amount that a purchase charges. By default it is amount or price. If it is set, and the currency has
	// three decimals, such as KWD, the price "41.500" is 41.5, and cannot mean 41500.
	Amount string `json:"amount,omitzero"`
	// Currency is the currency of Amount.
	Currency string `json:"currency,omitzero"`
	// DefaultCurrency is the currency of prices without one: a code, or "wallet" for the wallet's, which is taken to be
	// the budget's.
	DefaultCurrency string `json:"default_currency,omitzero"`
	// Beside are amounts and currencies of an offer that a purchase does not charge, such as "vat" or "price.net".
	Beside []string `json:"beside,omitzero"`
	// Mode is the member that shows whether a document is automated. Automated is its value for an automated document.
	Mode      string `json:"mode,omitzero"`
	Automated string `json:"automated,omitzero"`
}

// Document names the members of a purchased document.
type Document struct {
	// DocumentType is by default document_type, slug or type. "-" is a list of types, without objects.
	DocumentType string `json:"document_type,omitzero"`
}

// Purchase describes drafts and purchases.
type Purchase struct {
	// Quoted: the charged amount of a draft is the price of its documents.
	Quoted bool `json:"quoted,omitzero"`
	// Confirmation is the data of the response to a purchase: "receipt" or "empty".
	Confirmation string `json:"confirmation,omitzero"`
}

// Refusal describes responses to requests that the service does not perform.
type Refusal struct {
	// Format is "envelope", "problem" (RFC 9457) or "object", which is any other JSON object with a text at Message.
	Format string `json:"format,omitzero"`
	// Message and Code are the paths of the reason and of the error code. "-" means that the service sends no code.
	Message string `json:"message,omitzero"`
	Code    string `json:"code,omitzero"`
	// FundsCode is the error code of a wallet that holds too little.
	FundsCode string `json:"funds_code,omitzero"`
	// ExpiredCode is the error code of a purchase that is refused because its draft has expired.
	ExpiredCode string `json:"expired_code,omitzero"`
	// ResponseID is the header with the id under which the service logs a request. By default it is X-Request-Id,
	// Request-Id or X-Correlation-Id.
	ResponseID string `json:"response_id,omitzero"`
	// Analysis is the HTTP status of a failed analysis. With 200 the response is a success with the failed record.
	Analysis int `json:"analysis,omitzero"`
}

// List describes lists and their pages.
type List struct {
	// PastEnd is the response to a page past the last: "empty", "refused" or "last page".
	PastEnd    string `json:"past_end,omitzero"`
	MaxPerPage int    `json:"max_per_page,omitzero"`
	// Order is "newest first" or "oldest first".
	Order string `json:"order,omitzero"`
}

// Request describes the requirements of the service for a request.
type Request struct {
	// UnknownFields is "ignored" or "refused". It applies to members of bodies and to query parameters.
	UnknownFields string `json:"unknown_fields,omitzero"`
}

// Time holds how long the states of a request last. Tests want them short.
type Time struct {
	Purchasing Duration `json:"purchasing,omitzero"`
	// Generation is a factor for the time that a document takes to generate. 1 is the time in the compliance rules, 3 to
	// 40 seconds for each document. 0 means 0.05, so that all are generated within 2 seconds. If it is negative, a
	// document is generated at the next tick of the clock.
	Generation float64 `json:"generation,omitzero"`
	// Evidence is how long a manual document waits for its evidence.
	Evidence Duration `json:"evidence,omitzero"`
	// DraftLife is how long a draft can be purchased. After that, its status is the one that Record.States maps to
	// "expired". Without such a status, it remains a draft, and its purchase is refused with Refusal.ExpiredCode. Without
	// such a code, too, the draft is not found (404).
	DraftLife Duration `json:"draft_life,omitzero"`
}

// Notification describes the delivery of notifications.
type Notification struct {
	Signature Signature `json:"signature,omitzero"`
	// DeliveryID and EventID are headers; "-" means that the header is not sent.
	DeliveryID string `json:"delivery_id,omitzero"`
	EventID    string `json:"event_id,omitzero"`
	// Attempts is how often a delivery is attempted.
	Attempts int `json:"attempts,omitzero"`
}

// Signature is the scheme by which notifications are signed: Header holds Prefix and the encoded HMAC of Signed.
type Signature struct {
	Header string `json:"header,omitzero"`
	Hash   string `json:"hash,omitzero"`
	// Encoding is the encoding of the HMAC, hex or base64. Several signatures in the header are separated by spaces.
	Encoding string `json:"encoding,omitzero"`
	Prefix   string `json:"prefix,omitzero"`
	// Key is the form of the key: the text itself, or base64, which "whsec_" can precede.
	Key string `json:"key,omitzero"`
	// Signed is the template of the signed text, in which {body}, {id} (of the delivery) and {timestamp} are replaced.
	Signed string `json:"signed,omitzero"`
	// TimestampHeader is the header of {timestamp}, in seconds since 1970. A receiver refuses a delivery whose time
	// differs from its own by more than Tolerance.
	TimestampHeader string   `json:"timestamp_header,omitzero"`
	Tolerance       Duration `json:"tolerance,omitzero"`
}

// Duration is a time in the form of [time.ParseDuration], such as "50ms".
type Duration time.Duration

// String returns the form of [time.Duration].
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText returns the form of [Duration.String].
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the form of [time.ParseDuration].
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// Reference returns what the reference server does if its dialect decides nothing.
func Reference() *Dialect {
	d := defaults()
	d.Version, d.Routes = Version, assumedRoutes()
	return d
}

// Contrary returns the other valid choice at each point that the specification leaves open. Code that passes against
// [Reference] and against Contrary does not depend on the choices of the reference server. Its durations are short
// enough for tests in real time.
func Contrary() *Dialect {
	d := preset("contrary")
	d.Routes = assumedRoutes()
	return d
}

// Strict returns a dialect that refuses everything that the reference server otherwise tolerates.
func Strict() *Dialect { return preset("strict") }

// StandardWebhooks returns the dialect of a service that signs as in https://www.standardwebhooks.com. The keys of a
// receiver are the secrets of its webhook.
func StandardWebhooks() *Dialect {
	return &Dialect{Version: Version, Notification: Notification{DeliveryID: "Webhook-Id", Signature: Signature{
		Header: "Webhook-Signature", Hash: "sha256", Encoding: "base64", Prefix: "v1,", Key: "base64",
		Signed: "{id}.{timestamp}.{body}", TimestampHeader: "Webhook-Timestamp", Tolerance: Duration(5 * time.Minute),
	}}}
}
