// Package dialect holds what the specification of the shipping service leaves open and one service has decided: names
// of members, statuses, formats, and the routes of operations without a documented path. A [Dialect] is a value and a
// JSON file. The client, the webhook receiver and the reference server follow it.
//
//	d, err := dialect.Read("service.json")
//	client, err := shipping.NewClient(key, shipping.WithDialect(d))
//	server := mockserver.New(mockserver.WithDialect(d))
//
// Everything in a dialect is optional. What it does not set is unknown: the client is as tolerant and as careful as
// without a dialect, and the reference server behaves as [Reference].
//
// A file is trusted like code: it names the amount that a purchase charges, and the routes. Do not take it from the
// service.
package dialect

import "time"

// Dialect is what one service has decided. The zero value decides nothing.
//
// The tags of a field are its only description: the open point, the behaviour of the reference server and the reason
// for it, the other choice (see [Contrary] and [Strict]), the values or the range, what uses the field, and how it can
// be observed. The table of docs/ASSUMPTIONS.md, GET /_mock/dialect, and the flag -dialect follow from them.
type Dialect struct {
	// Version is the version of the format, [Version] or 0.
	Version int `json:"version"`
	// Service is the base address at which the dialect was measured.
	Service      string        `json:"service,omitzero"`
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
	// "POST /v1/regulatory-documents/{request_id}/retries". An operation without a route is not enabled.
	Routes map[string]string `json:"routes,omitzero" open:"paths of edits, retry and PDF" default:"those of internal/operations" basis:"REST style; the specification names the operations only" used:"client, server" observed:"by hand"`
	// Measured holds when and how each field was measured, by its name. It belongs to mockserver conform.
	Measured map[string]string `json:"measured,omitzero"`
}

// Version is the version of the format that this package reads and writes.
const Version = 1

// RecordMembers names the members of a regulatory request. A name is that of a member, or a path of two names such as
// "wallet.currency"; "-" is a member that the service does not send.
type RecordMembers struct {
	// At is the member of data that holds the record. By default the record is data, or its member request.
	At string `json:"at,omitzero" kind:"member" open:"which member contains a regulatory request" default:"data" basis:"the specification names the members of a request as those of the response" contrary:"request" used:"client, server" observed:"analysis and lookup"`
	// LineItems is the list of the items. By default it is line_items or items.
	LineItems string `json:"line_items,omitzero" kind:"member" open:"name of the line items" default:"line_items" basis:"named so in prose" contrary:"items" used:"client, server" observed:"analysis and lookup"`
	// Documents is the list of the purchased documents. By default it is documents, document_types or purchased_documents.
	Documents string `json:"documents,omitzero" kind:"member" open:"name of the list of purchased documents" default:"documents" basis:"not documented" contrary:"purchased_documents" used:"client, server" observed:"a purchase"`
	// ChargedAmount, TransactionID, Currency and Wallet describe the charge.
	ChargedAmount string `json:"charged_amount,omitzero" kind:"member" open:"name of the charged amount" default:"charged_amount" basis:"not documented" used:"client, server" observed:"a purchase"`
	TransactionID string `json:"transaction_id,omitzero" kind:"member" open:"name of the transaction of a purchase" default:"transaction_id" basis:"not documented" used:"client, server" observed:"a purchase"`
	Currency      string `json:"currency,omitzero" kind:"member" open:"name of the currency of a request" default:"currency" basis:"not documented" used:"client, server" observed:"a purchase"`
	Wallet        string `json:"wallet,omitzero" kind:"member" open:"name of the wallet of a request" default:"wallet" basis:"not documented" used:"client, server" observed:"analysis and lookup"`
	// Absent are members that the reference server leaves out, by their usual names.
	Absent []string `json:"absent,omitzero" open:"additional members of a regulatory request" default:"all members of this server" basis:"tests can check more" contrary:"shipment_id,file_url,wallet,currency,documents,addresses,shipping,profiles,charged_amount,transaction_id,failure_reason,created_at,updated_at" used:"server" observed:"analysis and lookup"`
	// States are statuses that the specification does not list, each with "analyzing" or "generating": what the service
	// does meanwhile.
	States map[string]string `json:"states,omitzero" values:"analyzing,generating" open:"statuses that the specification does not list" default:"none" basis:"the specification lists the states" contrary:"queued=generating" used:"client, server" observed:"analysis and purchase"`
}

// Offer names the members of an available document.
type Offer struct {
	// DocumentType is by default document_type, slug or type.
	DocumentType string `json:"document_type,omitzero" kind:"member" open:"name of the type of an available document" default:"document_type" basis:"not documented" contrary:"slug" used:"client, server" observed:"analysis"`
	// Amount is the amount that a purchase charges. By default it is amount or price.
	Amount string `json:"amount,omitzero" kind:"member" open:"name of the price of an available document" default:"amount" basis:"not documented" contrary:"price" used:"client, server" observed:"a purchase"`
	// Currency is the currency of Amount.
	Currency string `json:"currency,omitzero" kind:"member" open:"name of the currency of a price" default:"currency" basis:"not documented" used:"client, server" observed:"a purchase"`
	// DefaultCurrency is the currency of prices that have none: a code, or "wallet", which takes any budget to be in it.
	DefaultCurrency string `json:"default_currency,omitzero" kind:"currency" open:"currency of a price that has none" default:"none: every price of this server has one" basis:"amounts are converted into the currency of the wallet" used:"client" observed:"a purchase"`
	// Beside are amounts and currencies of an offer that a purchase does not charge, such as "vat" or "price.net".
	Beside []string `json:"beside,omitzero" kind:"member" open:"amounts of an offer that a purchase does not charge" default:"none" basis:"this server shows only the price" used:"client, server" observed:"a purchase"`
	// Mode is the member that shows whether a document is automated, and Automated its value then.
	Mode      string `json:"mode,omitzero" kind:"member" open:"name of the mode of a document" default:"mode" basis:"not documented" used:"client, server" observed:"analysis"`
	Automated string `json:"automated,omitzero" open:"mode of a document that is generated without evidence" default:"automated" basis:"not documented" used:"client" observed:"by hand"`
	// Absent are members that the reference server leaves out, by their usual names.
	Absent []string `json:"absent,omitzero" open:"additional members of a document" default:"all members of this server" basis:"tests can check more" contrary:"name,mode,reasons,profile_fields" used:"server" observed:"analysis"`
}

// Document names the members of a purchased document.
type Document struct {
	// DocumentType is by default document_type, slug or type.
	DocumentType string `json:"document_type,omitzero" kind:"member" open:"name of the type of a purchased document" default:"document_type" basis:"not documented" contrary:"slug" used:"client, server" observed:"a purchase"`
}

// Purchase describes purchases and analyses.
type Purchase struct {
	// Quoted: a draft shows what its documents would cost as its charged amount.
	Quoted bool `json:"quoted,omitzero" open:"whether a draft shows a charged amount" default:"no" basis:"nothing is charged yet" used:"client, server" observed:"a purchase"`
	// Confirmation is the data of the response to a purchase.
	Confirmation string `json:"confirmation,omitzero" values:"receipt,empty" open:"data of a purchase" default:"receipt: the charge and the request" basis:"a client can check the confirmation" contrary:"empty" used:"server" observed:"a purchase"`
	// Status and AnalyzeStatus are the HTTP statuses of a successful purchase and analysis.
	Status        int `json:"status,omitzero" open:"HTTP status of a successful purchase" default:"200" basis:"documented for other operations" contrary:"202" range:"200..299" used:"server" observed:"a purchase"`
	AnalyzeStatus int `json:"analyze_status,omitzero" open:"HTTP status of a successful analysis" default:"200" basis:"documented for other operations" contrary:"201" range:"200..299" used:"server" observed:"analysis"`
}

// Refusal describes responses to requests that the service does not perform.
type Refusal struct {
	Format string `json:"format,omitzero" values:"envelope,problem" open:"format of a refusal" default:"the envelope" basis:"common for services of this kind" contrary:"problem" used:"server" observed:"refused requests"`
	// Message and Code are the paths of the reason and of the error code.
	Message string `json:"message,omitzero" kind:"path" open:"place of the reason of a refusal" default:"message" basis:"the member of the envelope" used:"client, server" observed:"refused requests"`
	Code    string `json:"code,omitzero" kind:"path" open:"place and values of the error code of a refusal" default:"data.error_code" basis:"common for services of this kind; the values are those of this server" contrary:"data.code" used:"client, server" observed:"refused requests"`
	// FundsCode is the error code of a wallet that holds too little, and Funds the HTTP status.
	FundsCode string `json:"funds_code,omitzero" open:"error code of a purchase that exceeds the balance of the wallet" default:"insufficient_funds" basis:"a value of this server" used:"client, server" observed:"by hand"`
	Funds     int    `json:"funds,omitzero" open:"HTTP status of a purchase that exceeds the balance of the wallet" default:"that of a request that breaks a rule" basis:"no 402 is documented" contrary:"402" range:"400..499" used:"server" observed:"by hand"`
	// Rule is the HTTP status of a request that breaks a rule.
	Rule int `json:"rule,omitzero" open:"HTTP status of a request that breaks a rule" default:"400" basis:"common for services of this kind" contrary:"422" range:"400..599" used:"server" observed:"refused requests"`
	// Analysis is the HTTP status of a failed analysis. With 200 the response is a success with the failed record.
	Analysis int `json:"analysis,omitzero" open:"HTTP status of a failed analysis" default:"400, the failed record stored" basis:"a failure has an error envelope" contrary:"200" range:"200..599" used:"server" observed:"by hand"`
}

// List describes lists and their pages.
type List struct {
	PastEnd          string `json:"past_end,omitzero" values:"empty,refused,last page" open:"a page past the last" default:"an empty page" basis:"as in the pagination library that has this format" used:"server" observed:"lists"`
	MaxPerPage       int    `json:"max_per_page,omitzero" open:"maximum perPage" default:"no cap but the limit of this server" basis:"unknown; a client must use the numbers of the page" contrary:"100" range:"1..1000000" used:"server" observed:"lists"`
	WrongParameter   string `json:"wrong_parameter,omitzero" values:"default,refused" open:"a page or perPage that is not a number" default:"falls back to its default" basis:"the pagination library with this format does so" contrary:"refused" strict:"refused" used:"server" observed:"lists"`
	UnknownParameter string `json:"unknown_parameter,omitzero" values:"ignored,refused" open:"whether unknown query parameters are refused" default:"ignored" basis:"services of this kind ignore them, and users send filters" contrary:"refused" strict:"refused" used:"server" observed:"lists"`
	LastNextPage     string `json:"last_next_page,omitzero" values:"0,null" open:"nextPage of the last page of transactions" default:"0" basis:"prevPage is 0 on the first page, and both are numbers" contrary:"null" used:"server" observed:"lists"`
	EmptyPages       string `json:"empty_pages,omitzero" values:"1,0" open:"pageCount of an empty list" default:"1" basis:"as in the pagination library that has this format" contrary:"0" used:"server" observed:"lists"`
	Order            string `json:"order,omitzero" values:"newest first,oldest first" open:"order of lists" default:"newest first" basis:"as in samples" contrary:"oldest first" used:"server" observed:"lists"`
	Breakdown        string `json:"breakdown,omitzero" values:"empty list,object" open:"shape of a rate's breakdown entry" default:"an empty list" basis:"as in samples; one consumer expects an object" contrary:"object" used:"server" observed:"lists"`
	UnknownWallet    string `json:"unknown_wallet,omitzero" values:"404,empty" open:"a wallet that does not exist" default:"404" basis:"as for every unknown id" contrary:"empty" used:"server" observed:"lists"`
}

// Request describes what the service requires of a request.
type Request struct {
	// Open are operations that need no Authorization, such as "countries.list".
	Open           []string `json:"open,omitzero" kind:"operation" open:"whether operations need Authorization for which the specification does not show it" default:"every operation but the PDF needs it" basis:"code that passes a strict server also passes a lenient one" contrary:"countries.list,webhooks.list" used:"server" observed:"requests without a key"`
	UnknownFields  string   `json:"unknown_fields,omitzero" values:"ignored,refused" open:"whether unknown body fields are refused" default:"ignored" basis:"services of this kind ignore them" contrary:"refused" strict:"refused" used:"server" observed:"analysis"`
	ContentType    string   `json:"content_type,omitzero" values:"optional,required" open:"a body without a Content-Type" default:"counts as JSON" basis:"the header is documented, and optional for one operation" contrary:"required" strict:"required" used:"server" observed:"analysis"`
	ReplayToNobody string   `json:"replay_to_nobody,omitzero" values:"refused,ok" open:"a replay whose event no active webhook is subscribed to" default:"refused" basis:"nothing would be sent, which is a mistake" contrary:"ok" used:"server" observed:"a replay"`
	// MaxBody is the longest body of a request, in bytes.
	MaxBody int64 `json:"max_body,omitzero" open:"body size limit" default:"1 MiB, then 413" basis:"the documented bodies are far smaller" contrary:"262144" range:"1..1073741824" used:"server" observed:"by hand"`
}

// Time holds how long the states of a request last. Tests want them short.
type Time struct {
	Purchasing Duration `json:"purchasing,omitzero" open:"how long purchasing lasts" default:"0" basis:"the specification calls it transient" contrary:"50ms" used:"server" observed:"by hand"`
	// Unlisted is how long a request has the first of Record.States that is "generating".
	Unlisted Duration `json:"unlisted,omitzero" open:"how long a status lasts that the specification does not list" default:"0" basis:"the specification lists the states" contrary:"30ms" used:"server" observed:"by hand"`
	// Generation multiplies how long documents take to generate. 1 means the time of each document in the compliance
	// rules, 3 to 40 seconds. 0 means 0.05, so that all are generated within 2 seconds. With a negative number a document
	// is generated at the next tick of the clock.
	Generation float64 `json:"generation,omitzero" open:"how long generation takes" default:"2 seconds at most, a twentieth of the times in the compliance rules" basis:"long enough to poll for, short enough to wait for" contrary:"0.02" range:"-1000000..1000000" used:"server" observed:"by hand"`
	// Evidence is how long a manual document waits for its evidence.
	Evidence Duration `json:"evidence,omitzero" open:"when evidence for a manual document arrives" default:"when it is submitted to /_mock/" basis:"a third party supplies it" contrary:"200ms" used:"server" observed:"by hand"`
}

// Notification describes the delivery of notifications.
type Notification struct {
	Signature Signature `json:"signature,omitzero"`
	// DeliveryID, EventID and WebhookID are headers; "-" is one that is not sent.
	DeliveryID string   `json:"delivery_id,omitzero" kind:"header" open:"header with the identifier of a delivery" default:"X-Webhook-Delivery-Id" basis:"receivers use it to recognize a delivery" contrary:"-" used:"receiver, server" observed:"a delivery"`
	EventID    string   `json:"event_id,omitzero" kind:"header" open:"header with the identifier of an event" default:"X-Webhook-Event-Id" basis:"receivers use it to recognize an event" contrary:"-" used:"receiver, server" observed:"a delivery"`
	WebhookID  string   `json:"webhook_id,omitzero" kind:"header" open:"header with the identifier of a webhook" default:"X-Webhook-Id" basis:"receivers use it to recognize a webhook" contrary:"-" used:"server" observed:"a delivery"`
	Attempts   int      `json:"attempts,omitzero" open:"retry policy of failed deliveries" default:"3 attempts" basis:"a policy of this server" contrary:"5" range:"1..1000" used:"server" observed:"by hand"`
	Backoff    Duration `json:"backoff,omitzero" open:"wait between delivery attempts" default:"500 ms, doubling" basis:"a policy of this server" contrary:"100ms" used:"server" observed:"by hand"`
	Timeout    Duration `json:"timeout,omitzero" open:"timeout of a delivery attempt" default:"10 s" basis:"a policy of this server" contrary:"5s" used:"server" observed:"by hand"`
	// Accept is the only HTTP status with which a receiver accepts a notification.
	Accept int `json:"accept,omitzero" open:"which responses count as delivered" default:"any 2xx" basis:"a policy of this server" contrary:"200" range:"200..599" used:"server" observed:"by hand"`
}

// Signature is the scheme by which notifications are signed: Prefix and the hexadecimal HMAC of the body, in Header.
type Signature struct {
	Header string `json:"header,omitzero" kind:"header" open:"header of the signature of a notification" default:"X-Webhook-Signature" basis:"seen in a service, in a header with the name of its vendor" contrary:"X-Signature" used:"receiver, server" observed:"a delivery"`
	Hash   string `json:"hash,omitzero" values:"sha512,sha256" open:"hash of the signature" default:"SHA-512" basis:"seen in a service" contrary:"sha256" used:"receiver, server" observed:"a delivery"`
	Prefix string `json:"prefix,omitzero" open:"text before the signature" default:"none" basis:"seen in a service" contrary:"sha256=" used:"receiver, server" observed:"a delivery"`
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

// Reference returns what the reference server does if its dialect decides nothing, as far as a value can express it.
func Reference() *Dialect {
	d := preset(func(f field) (string, bool) { return f.reference() })
	d.Routes = assumedRoutes()
	return d
}

// Contrary returns the other valid choice at each point that the specification leaves open. Code that passes against
// [Reference] and against Contrary does not depend on the choices of the reference server. Its durations are short
// enough for tests in real time.
func Contrary() *Dialect {
	d := preset(func(f field) (string, bool) { return f.tagged("contrary") })
	d.Routes = assumedRoutes()
	return d
}

// Strict returns a dialect that refuses everything that the reference server tolerates otherwise.
func Strict() *Dialect { return preset(func(f field) (string, bool) { return f.tagged("strict") }) }
