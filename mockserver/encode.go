package mockserver

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/shipping-go/shipping"
)

// Rates and transactions are written field by field, in the order of the specification's tables: it is
// several times as fast as encoding/json, and a server seeds hundreds of them when it starts. A test
// holds both to what encoding/json writes.

// appendRate appends a rate as JSON.
func appendRate(dst []byte, r *rate) []byte {
	o := object{append(dst, '{')}
	o.text("rate_id", r.RateID)
	o.amount("amount", r.Amount)
	o.text("currency", r.Currency)
	o.raw("breakdown", r.Breakdown)
	o.text("carrier_name", r.CarrierName)
	o.text("carrier_slug", r.CarrierSlug)
	o.text("carrier_logo", r.CarrierLogo)
	o.text("carrier_rate_description", r.Description)
	o.text("carrier_reference", r.CarrierReference)
	o.text("delivery_address", r.DeliveryAddress)
	o.text("pickup_address", r.PickupAddress)
	o.text("parcel", r.Parcel)
	o.time("delivery_date", r.DeliveryDate)
	o.number("delivery_eta", int64(r.DeliveryETA))
	o.text("delivery_time", r.DeliveryTime)
	o.number("pickup_eta", int64(r.PickupETA))
	o.text("pickup_time", r.PickupTime)
	o.boolean("includes_insurance", r.IncludesInsurance)
	o.amount("insurance_fee", r.InsuranceFee)
	o.amount("insurance_coverage", r.InsuranceCoverage)
	o.open("metadata")
	o.textUnlessEmpty("localProductCode", r.Metadata.LocalProductCode)
	o.textUnlessEmpty("productCode", r.Metadata.ProductCode)
	o.close()
	o.boolean("used", r.Used)
	o.text("user", r.User)
	o.time("created_at", r.CreatedAt)
	o.time("updated_at", r.UpdatedAt)
	return append(o.dst, '}')
}

// appendTransaction appends a transaction as JSON.
func appendTransaction(dst []byte, t *transaction) []byte {
	o := object{append(dst, '{')}
	o.text("transactionId", t.TransactionID)
	o.text("_id", t.StorageID)
	o.text("accountId", t.AccountID)
	o.text("account_reference", t.AccountReference)
	o.text("store_reference", t.StoreReference)
	o.textUnlessEmpty("txRef", t.TxRef)
	o.amount("amount", t.Amount)
	o.amount("amount_received", t.AmountReceived)
	o.amount("converted_amount", t.ConvertedAmount)
	o.text("currency", t.Currency)
	o.text("currency_converted_to", t.CurrencyConvertedTo)
	o.number("flat_amount", t.FlatAmount)
	o.amount("fee", t.Fee)
	o.amount("platform_fee", t.PlatformFee)
	o.text("description", t.Description)
	o.text("flow", t.Flow)
	o.text("status", t.Status)
	o.open("metadata")
	o.textUnlessEmpty("shipment_id", t.Metadata.ShipmentID)
	o.textUnlessEmpty("request_id", t.Metadata.RequestID)
	o.close()
	o.text("platform", t.Platform)
	o.text("transaction_source", t.Source)
	o.open("receiver")
	o.text("name", t.Receiver.Name)
	o.text("reference", t.Receiver.Reference)
	o.text("type", t.Receiver.Type)
	o.close()
	o.open("sender")
	o.text("name", t.Sender.Name)
	o.text("id", t.Sender.ID)
	o.text("account_number", t.Sender.AccountNumber)
	o.close()
	o.text("recipient", t.Recipient)
	o.boolean("reversed", t.Reversed)
	o.boolean("settled", t.Settled)
	o.text("settlement_reference", t.SettlementReference)
	if t.PayoutDate != nil {
		o.time("payout_date", *t.PayoutDate)
	} else {
		o.raw("payout_date", json.RawMessage("null"))
	}
	o.time("created_at", t.CreatedAt)
	o.time("updated_at", t.UpdatedAt)
	o.number("__v", int64(t.Revision))
	return append(o.dst, '}')
}

// object is a JSON object in the making.
type object struct{ dst []byte }

func (o *object) name(name string) {
	if o.dst[len(o.dst)-1] != '{' {
		o.dst = append(o.dst, ',')
	}
	o.dst = append(o.dst, '"')
	o.dst = append(o.dst, name...)
	o.dst = append(o.dst, '"', ':')
}

func (o *object) text(name, value string) {
	o.name(name)
	o.dst = appendString(o.dst, value)
}

func (o *object) textUnlessEmpty(name, value string) {
	if value != "" {
		o.text(name, value)
	}
}

func (o *object) amount(name string, value shipping.Amount) {
	o.name(name)
	text, err := value.MarshalJSON()
	if err != nil { // no amount that the server makes is one that cannot be written
		text = []byte("null")
	}
	o.dst = append(o.dst, text...)
}

func (o *object) number(name string, value int64) {
	o.name(name)
	o.dst = strconv.AppendInt(o.dst, value, 10)
}

func (o *object) boolean(name string, value bool) {
	o.name(name)
	o.dst = strconv.AppendBool(o.dst, value)
}

func (o *object) time(name string, value timestamp) {
	o.name(name)
	o.dst = value.append(o.dst)
}

func (o *object) raw(name string, value json.RawMessage) {
	o.name(name)
	o.dst = append(o.dst, bytes.TrimSpace(value)...)
}

func (o *object) open(name string) {
	o.name(name)
	o.dst = append(o.dst, '{')
}

func (o *object) close() { o.dst = append(o.dst, '}') }
