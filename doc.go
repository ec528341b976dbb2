// Package shipping is a client for the shipping service: carrier rates, countries, webhooks, wallet
// transactions, and regulatory documents. It is exact with money, and buys nothing twice.
//
//	client, err := shipping.NewClient(secretKey, shipping.WithBaseURL("https://api.example.com"))
//	countries, err := client.Countries.List(ctx)
//
// A [Client] belongs to one account. Make it once and share it: [NewClient], or [NewClientFromEnv] where
// the environment holds key and address. Every method takes a context, and options for this one call:
// [WithHeader], [WithQuery], [WithResponse].
//
// # Lists
//
// List returns a [Page], Pages walks page by page, and All record by record, with pages fetched ahead:
//
//	for rate, err := range client.Rates.All(ctx, nil) {
//
// A walk delivers each record once, also when rows arrive meanwhile, and ends with a [ListError] that
// says where to go on: [WithResume]. [CheapestRate], [FastestRate] and [BestRates] choose among rates.
//
// # Money
//
// An [Amount] is an exact decimal; there is no float. One that was not sent or cannot be read says so
// ([Amount.Known]) and is never silently 0. [Transaction.LedgerEntry] gives a transaction its sign.
//
// # Errors
//
// What a call would do wrong is refused before it is sent, with a [ValidationError]. What failed is an
// [Error], told apart with errors.Is and the sentinels ([ErrUnauthorized], [ErrNotFound],
// [ErrRateLimited], …) and taken apart with errors.AsType. Reads are retried while there is time; see
// [RetryPolicy]. Nothing else is, except on evidence that nothing was sent.
//
// # Regulatory documents
//
// [RegulatoryService.Analyze] makes a draft with prices, [RegulatoryService.Purchase] charges the wallet,
// [RegulatoryService.Wait] ends when the documents are there; [RegulatoryService.AnalyzeAndPoll] is all of
// it within a [Budget]. Package [github.com/shipping-go/shipping/batch] does it for thousands, with a journal on
// disk.
//
// A purchase is sent once. When its answer is lost the request is read back, and the result, or a
// [PurchaseError], says whether the wallet was charged: [OutcomeCharged], [OutcomeNotCharged] or
// [OutcomeUnknown], which [RegulatoryService.SettlePurchase] settles later from the request's id alone.
//
// Editing a draft, retrying and the PDF have no documented path. They send nothing until
// [WithProvisionalRoutes] says which.
//
// # Webhooks
//
// [WebhooksService.Replay] has a notification sent again; package batch replays many. Package
// [github.com/shipping-go/shipping/webhook] receives them.
//
// # Watching
//
// [WithLogger] logs, an [Observer] is what metrics and traces hang on, and [WithDriftReport] tells where a
// service differs from the specification. No key, query or body is in any of them.
//
// # Testing
//
// Package [github.com/shipping-go/shipping/mockserver] is the whole service in a test: money, time and
// faults included. Every example here runs against it.
//
// # Assumptions
//
// Comments name the heading of the specification that they follow. What it leaves open is marked
// Assumption, with the switch, and stands in docs/ASSUMPTIONS.md.
package shipping
