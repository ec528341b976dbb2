package shipping_test

import (
	"testing"

	"github.com/shipping-go/shipping"
)

// Each test of this file reads a golden answer, written by hand from a table of the specification,
// and holds every field against the value expected.

func TestRates_List_EveryFieldOfTheTable(t *testing.T) {
	t.Parallel()
	page, err := connect(t, serveGolden(t, "rates.json")).Rates.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "rates", []shipping.Rate{
		{
			RateID: "RT-0918273645", Amount: mustAmount(t, "18450.55"), Currency: "NGN", Breakdown: "[]",
			CarrierName: "DHL Express Worldwide", CarrierSlug: "dhl", CarrierLogo: "https://cdn.example.com/carriers/dhl.png",
			CarrierRateDescription: "Door to door, customs cleared", CarrierReference: "CA-10293847",
			DeliveryAddress: "AD-1122334455", PickupAddress: "AD-5544332211", Parcel: "PC-6677889900",
			DeliveryDate: at(t, "2026-01-08T17:00:00Z"), DeliveryETA: 4237, DeliveryTime: "Within 3 days",
			PickupETA: 1440, PickupTime: "Within 24 hours", IncludesInsurance: true,
			InsuranceFee: mustAmount(t, "150.25"), InsuranceCoverage: mustAmount(t, "250000"),
			Metadata: `{"localProductCode": "P", "productCode": "P"}`, Used: true, User: "USER-4455667788",
			CreatedAt: at(t, "2026-01-05T09:30:00Z"), UpdatedAt: at(t, "2026-01-05T09:31:00.25Z"),
		},
		{
			RateID: "RT-0918273646", Amount: mustAmount(t, "0.1"), Currency: "USD",
			Breakdown:   `[{"shipment_cost": 0.07, "vat": 0.03}]`,
			CarrierName: "Kwik", CarrierSlug: "kwik", CarrierLogo: "https://cdn.example.com/carriers/kwik.png",
			CarrierReference: "CA-10293848", DeliveryAddress: "AD-1122334455", PickupAddress: "AD-5544332211",
			Parcel: "PC-6677889900", DeliveryDate: at(t, "2026-01-06T09:30:00Z"), DeliveryETA: 30.5,
			DeliveryTime: "Same day", PickupTime: "Now",
			InsuranceFee: mustAmount(t, "0"), InsuranceCoverage: mustAmount(t, "0"), Metadata: "{}",
			User: "USER-4455667788", CreatedAt: at(t, "2026-01-05T09:30:00Z"), UpdatedAt: at(t, "2026-01-05T09:30:00Z"),
		},
		{RateID: "RT-0918273647", Breakdown: "null", Metadata: "null"},
	}, page.Items)
	diff(t, "rate list pagination object", shipping.Pagination{Total: 203, PerPage: 3, Page: 1, PageCount: 68}, page.Pagination)
	if got := page.Items[0].Metadata.Get("productCode").Text(); got != "P" {
		t.Errorf("metadata key productCode reads %q", got)
	}
	if page.Items[2].Amount.Known() {
		t.Error("a null amount reads as a known one")
	}
}

func TestCountries_List_EveryFieldOfTheTable(t *testing.T) {
	t.Parallel()
	countries, err := connect(t, serveGolden(t, "countries.json")).Countries.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "countries", []shipping.Country{
		{
			ISOCode: "NG", Name: "Nigeria", PhoneCode: "234", Flag: "🇳🇬", Currency: "NGN",
			Latitude: "10.00000000", Longitude: "8.00000000",
			Timezones: []shipping.Timezone{{
				ZoneName: "Africa/Lagos", GMTOffset: 3600, GMTOffsetName: "UTC+01:00", Abbreviation: "WAT", TZName: "West Africa Time",
			}},
		},
		{
			ISOCode: "AF", Name: "Afghanistan", PhoneCode: "93", Flag: "🇦🇫", Currency: "AFN",
			Latitude: "33.00000000", Longitude: "65.00000000",
			Timezones: []shipping.Timezone{{
				ZoneName: "Asia/Kabul", GMTOffset: 16200, GMTOffsetName: "UTC+04:30", Abbreviation: "AFT", TZName: "Afghanistan Time",
			}},
		},
		{
			ISOCode: "PR", Name: "Puerto Rico", PhoneCode: "1-787 and 1-939", Flag: "🇵🇷", Currency: "USD",
			Latitude: "18.25000000", Longitude: "-66.50000000",
			Timezones: []shipping.Timezone{{
				ZoneName: "America/Puerto_Rico", GMTOffset: -14400, GMTOffsetName: "UTC-04:00", Abbreviation: "AST", TZName: "Atlantic Standard Time",
			}},
		},
		{ISOCode: "AQ", Name: "Antarctica"},
	}, countries)
}

func TestWebhooks_List_EveryFieldOfTheTable(t *testing.T) {
	t.Parallel()
	page, err := connect(t, serveGolden(t, "webhooks.json")).Webhooks.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "webhooks", []shipping.Webhook{
		{
			WebhookID: "WA-0011223344", StorageID: "65a1b2c3d4e5f60718293a4b", ID: "65a1b2c3d4e5f60718293a4b",
			Name: "Warehouse", URL: "https://hooks.example.com/shipping",
			Event:  []shipping.EventKind{shipping.EventShipmentCreated, shipping.EventShipmentUpdated},
			Active: true, User: "USER-4455667788",
			CreatedAt: at(t, "2026-01-05T09:30:00Z"), UpdatedAt: at(t, "2026-01-06T10:00:00Z"), Revision: 3,
		},
		{ // its kinds arrive as "events"
			WebhookID: "WA-0011223345", StorageID: "65a1b2c3d4e5f60718293a4c", ID: "65a1b2c3d4e5f60718293a4c",
			URL: "https://hooks.example.com/all", Event: []shipping.EventKind{shipping.EventShipmentDelivered, "address.created"},
			Live: true, User: "USER-4455667788",
			CreatedAt: at(t, "2026-01-05T09:30:00Z"), UpdatedAt: at(t, "2026-01-05T09:30:00Z"),
		},
		{WebhookID: "WA-0011223346"},
	}, page.Items)
	diff(t, "webhook pagination object", shipping.Pagination{
		Page: 2, PerPage: 3, CurrentPage: 2, Total: 7, PageCount: 3, PagingCounter: 4,
		PrevPage: 1, NextPage: 3, HasPrevPage: true, HasNextPage: true,
	}, page.Pagination)
}

func TestWebhooks_List_PrevAndNextPageAreNullOnTheOnlyPage(t *testing.T) {
	t.Parallel()
	page, err := connect(t, serveGolden(t, "webhooks_only_page.json")).Webhooks.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "pagination", shipping.Pagination{Page: 1, PerPage: 100, CurrentPage: 1, PageCount: 1, PagingCounter: 1}, page.Pagination)
	if len(page.Items) != 0 {
		t.Errorf("%d webhooks on an empty page", len(page.Items))
	}
}

func TestTransactions_List_EveryFieldOfTheTable(t *testing.T) {
	t.Parallel()
	page, err := connect(t, serveGolden(t, "transactions.json")).Transactions.List(t.Context(), &shipping.TransactionListOptions{Wallet: "VA-2244668800"})
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "transactions", []shipping.Transaction{
		{
			TransactionID: "TR-5FQJ2M81KD0XA7NB", ID: "65a1b2c3d4e5f60718293a4d", AccountID: "65a1b2c3d4e5f60718293a00",
			AccountReference: "VA-2244668800", StoreReference: "USER-4455667788", TxRef: "4f1c2a7e-tx",
			Amount: mustAmount(t, "19.99"), AmountReceived: mustAmount(t, "19.5"), ConvertedAmount: mustAmount(t, "30985.25"),
			Currency: "USD", CurrencyConvertedTo: "NGN", FlatAmount: 1999, Fee: mustAmount(t, "0.49"), PlatformFee: mustAmount(t, "0.1"),
			Description: "Regulatory documents for SH-7Q2MX09DKA4B8C1E", Flow: shipping.FlowOut, Status: shipping.TransactionSuccess,
			Metadata: `{"shipment_id": "SH-7Q2MX09DKA4B8C1E"}`, Platform: "web", TransactionSource: "wallet",
			Receiver:  shipping.Receiver{Name: "Shipping Service", Reference: "USER-0000000001", Type: "platform"},
			Sender:    shipping.Sender{Name: "Ada Obi", ID: "USER-4455667788", AccountNumber: "0123456789"},
			Recipient: "Shipping Service", Settled: true, SettlementReference: "ST-99",
			PayoutDate: at(t, "2026-01-07T00:00:00Z"), CreatedAt: at(t, "2026-01-05T09:30:00Z"), UpdatedAt: at(t, "2026-01-05T09:30:01Z"),
			Revision: 1,
		},
		{ // without txRef and payout, with values beyond those that occur
			TransactionID: "TR-0AB1CD2EF3GH4IJ5", ID: "65a1b2c3d4e5f60718293a4e", AccountID: "65a1b2c3d4e5f60718293a00",
			AccountReference: "VA-2244668800", StoreReference: "USER-4455667788",
			Amount: mustAmount(t, "0.29"), AmountReceived: mustAmount(t, "0.29"), ConvertedAmount: mustAmount(t, "0.29"),
			Currency: "NGN", CurrencyConvertedTo: "NGN", FlatAmount: 29, Fee: mustAmount(t, "0"), PlatformFee: mustAmount(t, "0"),
			Description: "Shipment", Flow: "in", Status: "reversed", Metadata: "{}", TransactionSource: "card",
			Sender: shipping.Sender{Name: "Ada Obi", ID: "USER-4455667788"}, Reversed: true,
			CreatedAt: at(t, "2026-01-05T09:30:00Z"), UpdatedAt: at(t, "2026-01-05T09:30:00Z"),
		},
		{TransactionID: "TR-NULLS", Metadata: "null"},
	}, page.Items)
	diff(t, "transaction pagination object", shipping.Pagination{
		Page: 1, PerPage: 3, CurrentPage: 1, Total: 4, PageCount: 2, NextPage: 2, HasNextPage: true,
	}, page.Pagination)
	for i, want := range []string{"SH-7Q2MX09DKA4B8C1E", "", ""} {
		if got := page.Items[i].ShipmentID(); got != want {
			t.Errorf("transaction %d belongs to shipment %q, want %q", i, got, want)
		}
	}
}

func TestTransactions_FlatAmountIsTheAmountTimesHundred(t *testing.T) {
	t.Parallel()
	page, err := connect(t, serveGolden(t, "transactions.json")).Transactions.List(t.Context(), &shipping.TransactionListOptions{Wallet: "VA-2244668800"})
	if err != nil {
		t.Fatal(err)
	}
	for _, transaction := range page.Items {
		if flat, err := transaction.Amount.Flat(); err != nil || flat != transaction.FlatAmount {
			t.Errorf("%s: amount %s is flat %d (%v), the service says %d", transaction.TransactionID, transaction.Amount, flat, err, transaction.FlatAmount)
		}
	}
}

func TestWebhooks_Replay_EveryFieldOfTheResult(t *testing.T) {
	t.Parallel()
	got, err := connect(t, serveGolden(t, "replay.json")).Webhooks.Replay(t.Context(), &shipping.ReplayRequest{DeliveryID: "WD-8K2J9L0M1N2P3Q4R"})
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "webhook replay result", &shipping.ReplayResult{
		ShipmentID: "SH-7Q2MX09DKA4B8C1E", Event: shipping.EventShipmentDelivered, WebhookEventID: "WE-4T9C0A1B2C3D4E5F",
		DeliveryID: "WD-8K2J9L0M1N2P3Q4R", ReplayMode: shipping.ReplayStoredPayload,
	}, got)
}

func TestRegulatory_Analyze_EveryFieldOfTheDraft(t *testing.T) {
	t.Parallel()
	got, err := connect(t, serveGolden(t, "draft.json")).Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-7Q2MX09DKA4B8C1E"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Raw.Get("request_id").Text() != requestID {
		t.Errorf("Raw does not hold the record: %s", got.Raw)
	}
	got.Raw = ""
	diff(t, "draft", &shipping.RegulatoryRequest{
		RequestID: requestID, Status: shipping.StatusDraft, Source: shipping.SourceShipment,
		ShipmentID: "SH-7Q2MX09DKA4B8C1E", Wallet: "VA-2244668800", Currency: "NGN",
		LineItems: []shipping.LineItem{{
			ItemID: "IT-0001", Description: "Vitamin C supplement", HSCode: "210690", Quantity: 2,
			UnitPrice: mustAmount(t, "12.5"), Currency: "USD", Weight: 0.4, OriginCountry: "CN",
		}},
		AvailableDocuments: []shipping.AvailableDocument{
			{
				DocumentType: shipping.DocumentFDA, Name: "FDA prior notice", Mode: "automated", Amount: mustAmount(t, "18450.5"), Currency: "NGN",
				Reasons:       []shipping.MatchReason{{ItemID: "IT-0001", Rule: "hs_prefix", Match: "2106"}},
				ProfileFields: []shipping.ProfileField{{Name: "product_code", Label: "FDA product code", Type: "string", Required: true}},
			},
			{
				DocumentType: shipping.DocumentCustoms, Name: "Customs invoice", Mode: "automated", Amount: mustAmount(t, "0"), Currency: "NGN",
				Reasons: []shipping.MatchReason{{Rule: "cross_border", Match: "CN-US"}}, ProfileFields: []shipping.ProfileField{},
			},
		},
		Addresses: &shipping.Addresses{
			Origin: &shipping.Address{
				Name: "Li Wei", Company: "Shenzhen Goods", Line1: "1 Harbour Road", Line2: "Floor 3", City: "Shenzhen",
				State: "Guangdong", PostalCode: "518000", Country: "CN", Phone: "+8675512345678", Email: "li@example.com",
			},
			Destination: &shipping.Address{Name: "Ada Obi", City: "Houston", State: "TX", Country: "US"},
		},
		Profiles:  map[shipping.DocumentType]shipping.RawJSON{},
		CreatedAt: at(t, "2026-01-05T09:30:00Z"), UpdatedAt: at(t, "2026-01-05T09:30:00Z"),
	}, got)
}

func TestRegulatory_Get_EveryFieldOfAPurchasedRequest(t *testing.T) {
	t.Parallel()
	got, err := connect(t, serveGolden(t, "request.json")).Regulatory.Get(t.Context(), requestID)
	if err != nil {
		t.Fatal(err)
	}
	got.Raw = ""
	diff(t, "request", &shipping.RegulatoryRequest{
		RequestID: requestID, Status: shipping.StatusFailed, Source: shipping.SourceInvoice,
		FileURL: "https://files.example.com/invoice.pdf", Wallet: "VA-2244668800", Currency: "NGN",
		LineItems: []shipping.LineItem{},
		AvailableDocuments: []shipping.AvailableDocument{
			{DocumentType: shipping.DocumentFDA, Amount: mustAmount(t, "18450.5"), Currency: "NGN"},
		},
		Documents: []shipping.Document{
			{
				DocumentType: shipping.DocumentFDA, Name: "FDA prior notice", Mode: "automated", Amount: mustAmount(t, "18450.5"),
				Currency: "NGN", Status: "generated", Attempts: 1, GeneratedAt: at(t, "2026-01-05T09:35:00Z"),
			},
			{
				DocumentType: shipping.DocumentTextile, Name: "Textile declaration", Mode: "automated", Amount: mustAmount(t, "900"),
				Currency: "NGN", Status: "failed", Attempts: 2, Failure: "no fibre percentages",
			},
		},
		Shipping: &shipping.Shipping{
			CarrierSlug: "dhl", Service: "express", Incoterm: "DAP", ReasonForExport: "sale", PortOfEntry: "IAH", EstimatedArrival: "2026-01-12",
		},
		Profiles:      map[shipping.DocumentType]shipping.RawJSON{shipping.DocumentFDA: `{"product_code": "54YFT10"}`},
		ChargedAmount: mustAmount(t, "19350.5"), TransactionID: "TR-5FQJ2M81KD0XA7NB", FailureReason: "a document could not be generated",
		CreatedAt: at(t, "2026-01-05T09:30:00Z"), UpdatedAt: at(t, "2026-01-05T09:36:00Z"),
	}, got)
}

func TestRegulatory_Purchase_EveryFieldOfTheConfirmation(t *testing.T) {
	t.Parallel()
	got, err := connect(t, serveGolden(t, "purchase.json")).Regulatory.Purchase(t.Context(), requestID, shipping.DocumentFDA, shipping.DocumentCustoms)
	if err != nil {
		t.Fatal(err)
	}
	if got.Raw.Get("transaction_id").Text() != "TR-5FQJ2M81KD0XA7NB" {
		t.Errorf("Raw does not hold the confirmation: %s", got.Raw)
	}
	got.Raw = ""
	diff(t, "confirmation", &shipping.PurchaseResult{
		RequestID: requestID, Outcome: shipping.OutcomeCharged, Status: shipping.StatusProcessing,
		ChargedAmount: mustAmount(t, "18450.5"), Currency: "NGN", TransactionID: "TR-5FQJ2M81KD0XA7NB",
	}, got)
}

func TestRates_EstimatesAreMinutesByAssumption(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		eta  float64
		want string
	}{{1440, "24h0m0s"}, {0.5, "30s"}, {0, "0s"}, {-1, "-1m0s"}, {1e300, "0s"}} {
		rate := shipping.Rate{DeliveryETA: test.eta, PickupETA: test.eta}
		if got := rate.DeliveryDuration().String(); got != test.want {
			t.Errorf("a delivery estimate of %v is %s, want %s", test.eta, got, test.want)
		}
		if got := rate.PickupDuration().String(); got != test.want {
			t.Errorf("a pickup estimate of %v is %s, want %s", test.eta, got, test.want)
		}
	}
}

func TestDocumentTypes_ExactlyTheSupportedSlugs(t *testing.T) {
	t.Parallel()
	diff(t, "slugs", []shipping.DocumentType{
		"AMS", "CUSTOMS", "FDA", "DROP-BALL", "FISH-WILDLIFE", "FOOTWEAR", "FUMIGATION", "LITHIUM-BATTERY",
		"MSDS", "MUSEUM", "OTHER", "QUARANTINE", "STEEL", "TEXTILE", "WATCH",
	}, shipping.DocumentTypes())
	for _, slug := range shipping.DocumentTypes() {
		if !slug.Known() {
			t.Errorf("%s is not known", slug)
		}
	}
	if shipping.DocumentType("fda").Known() {
		t.Error("slugs are exact values, yet fda is known")
	}
}
