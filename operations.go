package shipping

// Names of the operations that the specification documents with their paths. The routes of the others are those of
// [WithDialect].
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
