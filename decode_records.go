package shipping

import (
	"reflect"
	"strings"
	"sync"

	"github.com/shipping-go/shipping/internal/jsonscan"
)

// recordKind is a kind of JSON object that the fast decoder reads.
type recordKind uint8

const (
	envelopeKind recordKind = iota
	rateListKind
	transactionListKind
	webhookListKind
	paginationKind
	rateKind
	transactionKind
	receiverKind
	senderKind
	webhookKind
	countryKind
	timezoneKind
	kinds
)

// recordNames returns the names of each kind's members: those in the tags of its struct, so that each
// wire name is written once.
var recordNames = sync.OnceValue(func() *[kinds]jsonscan.Names {
	return &[kinds]jsonscan.Names{
		envelopeKind:        namesOf[envelope[any]](),
		rateListKind:        namesOf[rateList](),
		transactionListKind: namesOf[transactionList](),
		webhookListKind:     namesOf[webhookList](),
		paginationKind:      namesOf[Pagination](),
		rateKind:            namesOf[Rate](),
		transactionKind:     namesOf[Transaction](),
		receiverKind:        namesOf[Receiver](),
		senderKind:          namesOf[Sender](),
		webhookKind:         namesOf[Webhook]("events"),
		countryKind:         namesOf[Country](),
		timezoneKind:        namesOf[Timezone](),
	}
})

func namesOf[T any](more ...string) jsonscan.Names {
	var names []string
	for field := range reflect.TypeFor[T]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return jsonscan.NewNames(append(names, more...)...)
}

// record is a struct whose fields can be read one by one.
type record interface {
	// appendFields appends a pointer to each field, in the order of the struct.
	appendFields(to []any) []any
}

// envelopeFields are the fields of an envelope of any type.
type envelopeFields [3]any

func (e *envelopeFields) appendFields(to []any) []any { return append(to, e[:]...) }

// webhookFields are the fields of a webhook, and "events".
type webhookFields struct {
	*Webhook
	events []EventKind
}

func (l *rateList) appendFields(to []any) []any {
	return append(to, &l.Rates, &l.Pagination)
}

func (l *transactionList) appendFields(to []any) []any {
	return append(to, &l.Transactions, &l.Pagination)
}

func (l *webhookList) appendFields(to []any) []any {
	return append(to, &l.Webhooks, &l.Pagination)
}

func (p *Pagination) appendFields(to []any) []any {
	return append(to, &p.Total, &p.PerPage, &p.Page, &p.PageCount, &p.CurrentPage, &p.PagingCounter,
		&p.PrevPage, &p.NextPage, &p.HasPrevPage, &p.HasNextPage)
}

func (r *Rate) appendFields(to []any) []any {
	return append(to, &r.RateID, &r.Amount, &r.Currency, &r.Breakdown, &r.CarrierName, &r.CarrierSlug,
		&r.CarrierLogo, &r.CarrierRateDescription, &r.CarrierReference, &r.DeliveryAddress, &r.PickupAddress,
		&r.Parcel, &r.DeliveryDate, &r.DeliveryETA, &r.DeliveryTime, &r.PickupETA, &r.PickupTime,
		&r.IncludesInsurance, &r.InsuranceFee, &r.InsuranceCoverage, &r.Metadata, &r.Used, &r.User,
		&r.CreatedAt, &r.UpdatedAt)
}

func (t *Transaction) appendFields(to []any) []any {
	return append(to, &t.TransactionID, &t.ID, &t.AccountID, &t.AccountReference, &t.StoreReference,
		&t.TxRef, &t.Amount, &t.AmountReceived, &t.ConvertedAmount, &t.Currency, &t.CurrencyConvertedTo,
		&t.FlatAmount, &t.Fee, &t.PlatformFee, &t.Description, &t.Flow, &t.Status, &t.Metadata, &t.Platform,
		&t.TransactionSource, &t.Receiver, &t.Sender, &t.Recipient, &t.Reversed, &t.Settled,
		&t.SettlementReference, &t.PayoutDate, &t.CreatedAt, &t.UpdatedAt, &t.Revision)
}

func (r *Receiver) appendFields(to []any) []any { return append(to, &r.Name, &r.Reference, &r.Type) }

func (s *Sender) appendFields(to []any) []any { return append(to, &s.Name, &s.ID, &s.AccountNumber) }

func (w *webhookFields) appendFields(to []any) []any {
	return append(to, &w.WebhookID, &w.StorageID, &w.ID, &w.Name, &w.URL, &w.Event, &w.Active, &w.Live,
		&w.User, &w.CreatedAt, &w.UpdatedAt, &w.Revision, &w.events)
}

func (c *Country) appendFields(to []any) []any {
	return append(to, &c.ISOCode, &c.Name, &c.PhoneCode, &c.Flag, &c.Currency, &c.Latitude, &c.Longitude, &c.Timezones)
}

func (z *Timezone) appendFields(to []any) []any {
	return append(to, &z.ZoneName, &z.GMTOffset, &z.GMTOffsetName, &z.Abbreviation, &z.TZName)
}
