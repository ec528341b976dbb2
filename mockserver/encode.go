package mockserver

import (
	"encoding/json"

	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
)

// Rates and transactions are written field by field, in the order of the specification's tables: it is
// several times as fast as encoding/json, and a server seeds hundreds of them when it starts. A test
// holds both to what encoding/json writes.

// appendRate appends a rate as JSON.
func appendRate(dst []byte, r *rate) []byte {
	o := jsontext.NewObject(dst)
	o.Text("rate_id", r.RateID)
	o.Amount("amount", r.Amount)
	o.Text("currency", r.Currency)
	o.Raw("breakdown", r.Breakdown)
	o.Text("carrier_name", r.CarrierName)
	o.Text("carrier_slug", r.CarrierSlug)
	o.Text("carrier_logo", r.CarrierLogo)
	o.Text("carrier_rate_description", r.Description)
	o.Text("carrier_reference", r.CarrierReference)
	o.Text("delivery_address", r.DeliveryAddress)
	o.Text("pickup_address", r.PickupAddress)
	o.Text("parcel", r.Parcel)
	o.Time("delivery_date", r.DeliveryDate)
	o.Number("delivery_eta", int64(r.DeliveryETA))
	o.Text("delivery_time", r.DeliveryTime)
	o.Number("pickup_eta", int64(r.PickupETA))
	o.Text("pickup_time", r.PickupTime)
	o.Boolean("includes_insurance", r.IncludesInsurance)
	o.Amount("insurance_fee", r.InsuranceFee)
	o.Amount("insurance_coverage", r.InsuranceCoverage)
	o.Open("metadata")
	o.TextUnlessEmpty("localProductCode", r.Metadata.LocalProductCode)
	o.TextUnlessEmpty("productCode", r.Metadata.ProductCode)
	o.Close()
	o.Boolean("used", r.Used)
	o.Text("user", r.User)
	o.Time("created_at", r.CreatedAt)
	o.Time("updated_at", r.UpdatedAt)
	return o.End()
}

// appendTransaction appends a transaction as JSON.
func appendTransaction(dst []byte, t *transaction) []byte {
	o := jsontext.NewObject(dst)
	o.Text("transactionId", t.TransactionID)
	o.Text("_id", t.StorageID)
	o.Text("accountId", t.AccountID)
	o.Text("account_reference", t.AccountReference)
	o.Text("store_reference", t.StoreReference)
	o.TextUnlessEmpty("txRef", t.TxRef)
	o.Amount("amount", t.Amount)
	o.Amount("amount_received", t.AmountReceived)
	o.Amount("converted_amount", t.ConvertedAmount)
	o.Text("currency", t.Currency)
	o.Text("currency_converted_to", t.CurrencyConvertedTo)
	o.Number("flat_amount", t.FlatAmount)
	o.Amount("fee", t.Fee)
	o.Amount("platform_fee", t.PlatformFee)
	o.Text("description", t.Description)
	o.Text("flow", t.Flow)
	o.Text("status", t.Status)
	o.Open("metadata")
	o.TextUnlessEmpty("shipment_id", t.Metadata.ShipmentID)
	o.TextUnlessEmpty("request_id", t.Metadata.RequestID)
	o.Close()
	o.Text("platform", t.Platform)
	o.Text("transaction_source", t.Source)
	o.Open("receiver")
	o.Text("name", t.Receiver.Name)
	o.Text("reference", t.Receiver.Reference)
	o.Text("type", t.Receiver.Type)
	o.Close()
	o.Open("sender")
	o.Text("name", t.Sender.Name)
	o.Text("id", t.Sender.ID)
	o.Text("account_number", t.Sender.AccountNumber)
	o.Close()
	o.Text("recipient", t.Recipient)
	o.Boolean("reversed", t.Reversed)
	o.Boolean("settled", t.Settled)
	o.Text("settlement_reference", t.SettlementReference)
	if t.PayoutDate != nil {
		o.Time("payout_date", *t.PayoutDate)
	} else {
		o.Raw("payout_date", json.RawMessage("null"))
	}
	o.Time("created_at", t.CreatedAt)
	o.Time("updated_at", t.UpdatedAt)
	o.Number("__v", int64(t.Revision))
	return o.End()
}
