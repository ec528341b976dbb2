package dialect

import "time"

// defaults returns what the reference server does at each point that its dialect does not decide.
func defaults() *Dialect {
	return &Dialect{
		Record: RecordMembers{At: "data", LineItems: "line_items", Documents: "documents", ChargedAmount: "charged_amount",
			TransactionID: "transaction_id", Currency: "currency", Wallet: "wallet"},
		Offer: Offer{DocumentType: "document_type", Amount: "amount", Currency: "currency", Mode: "mode",
			Automated: "automated"},
		Document: Document{DocumentType: "document_type"},
		Purchase: Purchase{Confirmation: "receipt"},
		Refusal: Refusal{Format: "envelope", Message: "message", Code: "data.error_code", FundsCode: "insufficient_funds",
			ResponseID: "X-Request-Id", Analysis: 400},
		List:    List{PastEnd: "empty", MaxPerPage: 10_000, Order: "newest first"},
		Request: Request{UnknownFields: "ignored"},
		Time:    Time{Generation: 0.05},
		Notification: Notification{DeliveryID: "X-Webhook-Delivery-Id", EventID: "X-Webhook-Event-Id", Attempts: 3,
			Signature: Signature{Header: "X-Webhook-Signature", Hash: "sha512", Encoding: "hex", Key: "text", Signed: "{body}",
				TimestampHeader: "X-Webhook-Timestamp", Tolerance: Duration(5 * time.Minute)}},
	}
}

// Resolved returns a copy of the dialect in which each unset field has its default, the behaviour of the reference
// server. It has the routes of the dialect, and no others. The dialect may be nil.
func (d *Dialect) Resolved() *Dialect {
	resolved := defaults()
	resolved.Overlay(d)
	if d != nil && d.Refusal.Format == "problem" && d.Refusal.Message == "" {
		resolved.Refusal.Message = "detail"
	}
	return resolved
}
