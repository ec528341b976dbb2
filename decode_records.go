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
	requestKind
	availableKind
	reasonKind
	profileFieldKind
	lineItemKind
	documentKind
	addressesKind
	addressKind
	shippingKind
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
		requestKind:         namesOf[RegulatoryRequest]("items", "request"),
		availableKind:       namesOf[AvailableDocument]("type", "slug", "price"),
		reasonKind:          namesOf[MatchReason](),
		profileFieldKind:    namesOf[ProfileField](),
		lineItemKind:        namesOf[LineItem](),
		documentKind:        namesOf[Document](),
		addressesKind:       namesOf[Addresses](),
		addressKind:         namesOf[Address](),
		shippingKind:        namesOf[Shipping](),
	}
})

func namesOf[T any](more ...string) jsonscan.Names {
	var names []string
	for field := range reflect.TypeFor[T]().Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "-" {
			names = append(names, name)
		}
	}
	return jsonscan.NewNames(append(names, more...)...)
}

// envelopeFields are pointers to the fields of an envelope of any type.
type envelopeFields struct{ status, message, data any }

// recordFields tells which kind of record target points to, and appends a pointer to each of its fields, in
// the order of recordNames. For anything else it reports false.
func recordFields(target any, to []any) (recordKind, []any, bool) {
	switch r := target.(type) {
	case *envelopeFields:
		return envelopeKind, append(to, r.status, r.message, r.data), true
	case *rateList:
		return rateListKind, append(to, &r.Rates, &r.Pagination), true
	case *transactionList:
		return transactionListKind, append(to, &r.Transactions, &r.Pagination), true
	case *webhookList:
		return webhookListKind, append(to, &r.Webhooks, &r.Pagination), true
	case *Pagination:
		return paginationKind, append(to, &r.Total, &r.PerPage, &r.Page, &r.PageCount, &r.CurrentPage,
			&r.PagingCounter, &r.PrevPage, &r.NextPage, &r.HasPrevPage, &r.HasNextPage), true
	case *Rate:
		return rateKind, append(to, &r.RateID, &r.Amount, &r.Currency, &r.Breakdown, &r.CarrierName,
			&r.CarrierSlug, &r.CarrierLogo, &r.CarrierRateDescription, &r.CarrierReference,
			&r.DeliveryAddress, &r.PickupAddress, &r.Parcel, &r.DeliveryDate, &r.DeliveryETA,
			&r.DeliveryTime, &r.PickupETA, &r.PickupTime, &r.IncludesInsurance, &r.InsuranceFee,
			&r.InsuranceCoverage, &r.Metadata, &r.Used, &r.User, &r.CreatedAt, &r.UpdatedAt), true
	case *Transaction:
		return transactionKind, append(to, &r.TransactionID, &r.ID, &r.AccountID, &r.AccountReference,
			&r.StoreReference, &r.TxRef, &r.Amount, &r.AmountReceived, &r.ConvertedAmount, &r.Currency,
			&r.CurrencyConvertedTo, &r.FlatAmount, &r.Fee, &r.PlatformFee, &r.Description, &r.Flow, &r.Status,
			&r.Metadata, &r.Platform, &r.TransactionSource, &r.Receiver, &r.Sender, &r.Recipient, &r.Reversed,
			&r.Settled, &r.SettlementReference, &r.PayoutDate, &r.CreatedAt, &r.UpdatedAt, &r.Revision), true
	case *Receiver:
		return receiverKind, append(to, &r.Name, &r.Reference, &r.Type), true
	case *Sender:
		return senderKind, append(to, &r.Name, &r.ID, &r.AccountNumber), true
	case *Webhook: // its event kinds have two names
		return webhookKind, append(to, &r.WebhookID, &r.StorageID, &r.ID, &r.Name, &r.URL, &r.Event,
			&r.Active, &r.Live, &r.User, &r.CreatedAt, &r.UpdatedAt, &r.Revision, &r.Event), true
	case *Country:
		return countryKind, append(to, &r.ISOCode, &r.Name, &r.PhoneCode, &r.Flag, &r.Currency, &r.Latitude,
			&r.Longitude, &r.Timezones), true
	case *Timezone:
		return timezoneKind, append(to, &r.ZoneName, &r.GMTOffset, &r.GMTOffsetName, &r.Abbreviation, &r.TZName), true
	}
	return regulatoryFields(target, to)
}

// regulatoryFields is recordFields for a regulatory record and its parts.
func regulatoryFields(target any, to []any) (recordKind, []any, bool) {
	switch r := target.(type) {
	case *RegulatoryRequest:
		return requestKind, append(to, &r.RequestID, &r.Status, &r.Source, &r.AvailableDocuments, &r.LineItems,
			&r.ShipmentID, &r.FileURL, &r.Wallet, &r.Currency, &r.Documents, &r.Addresses, &r.Shipping,
			&r.Profiles, &r.ChargedAmount, &r.TransactionID, &r.FailureReason, &r.CreatedAt, &r.UpdatedAt,
			&otherName{}, &otherName{}), true
	case *AvailableDocument:
		return availableKind, append(to, &r.DocumentType, &r.Name, &r.Mode, &r.Amount, &r.Currency, &r.Reasons,
			&r.ProfileFields, &otherName{}, &otherName{}, &otherName{}), true
	case *MatchReason:
		return reasonKind, append(to, &r.ItemID, &r.Rule, &r.Match), true
	case *ProfileField:
		return profileFieldKind, append(to, &r.Name, &r.Label, &r.Type, &r.Required), true
	case *LineItem:
		return lineItemKind, append(to, &r.ItemID, &r.Description, &r.HSCode, &r.Quantity, &r.UnitPrice,
			&r.Currency, &r.Weight, &r.OriginCountry), true
	case *Document:
		return documentKind, append(to, &r.DocumentType, &r.Name, &r.Mode, &r.Amount, &r.Currency, &r.Status,
			&r.Attempts, &r.Failure, &r.GeneratedAt), true
	case *Addresses:
		return addressesKind, append(to, &r.Origin, &r.Destination), true
	case *Address:
		return addressKind, append(to, &r.Name, &r.Company, &r.Line1, &r.Line2, &r.City, &r.State, &r.PostalCode,
			&r.Country, &r.Phone, &r.Email), true
	case *Shipping:
		return shippingKind, append(to, &r.CarrierSlug, &r.Service, &r.Incoterm, &r.ReasonForExport,
			&r.PortOfEntry, &r.EstimatedArrival), true
	}
	return 0, nil, false
}
