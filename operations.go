package shipping

// Names of the operations that the specification documents with their paths.
const (
	OpListRates        = "rates.list"
	OpListCountries    = "countries.list"
	OpListWebhooks     = "webhooks.list"
	OpReplayWebhook    = "webhooks.replay"
	OpListTransactions = "transactions.list"
	OpAnalyze          = "regulatory.analyze"
	OpPurchase         = "regulatory.purchase"
	OpGetRequest       = "regulatory.get"
)

// Names of the operations that the specification names without a path; see [WithProvisionalRoutes] and [WithRoute].
const (
	OpUpdateItems     = "regulatory.items.update"
	OpUpdateAddresses = "regulatory.addresses.update"
	OpUpdateShipping  = "regulatory.shipping.update"
	OpUpdateProfile   = "regulatory.profile.update"
	OpRetryRequest    = "regulatory.retry"
	OpDocumentPDF     = "regulatory.pdf"
)

// The placeholders of the routes.
const (
	regulatoryRequestID = "request_id"
	regulatoryDocument  = "document_type"
)
