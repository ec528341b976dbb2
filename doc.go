// Package shipping is a client for the shipping service: carrier rates, countries, webhooks, wallet
// transactions, and regulatory documents. It sends a purchase once, and reports one of three outcomes:
//
//   - charged: the wallet was charged once, maybe earlier ([OutcomePurchasedBefore]). [RegulatoryService.Wait] waits
//     for the documents.
//   - not charged ([OutcomeNotCharged]): the wallet was not charged, and the purchase can be made again.
//   - unknown ([OutcomeUnknown]): do not purchase again. [RegulatoryService.SettlePurchase] settles it later.
//
// The package computes money exactly.
//
//	client, err := shipping.NewClient(secretKey, shipping.WithBaseURL("https://api.example.com"))
//	countries, err := client.Countries.List(ctx)
//
// A [Client] belongs to one account. Create it once and share it: [NewClient], or [NewClientFromEnv] if
// the environment holds the key and the base address. Every method takes a context, and options for this one call:
// [WithHeader], [WithQuery], [WithResponse].
//
// The files example_*_test.go have an example for each task. The guides are in the folder docs.
//
// # Lists
//
// List returns a [Page], Pages walks page by page, and All record by record, with pages fetched ahead:
//
//	for rate, err := range client.Rates.All(ctx, nil) {
//
// A walk delivers each record once, even if records arrive meanwhile. A walk that fails ends with a [ListError], whose
// Resume token continues it; see [Walk].
//
// # Money
//
// An [Amount] is an exact decimal, never a float. [Amount.Known] is false if an amount is missing or cannot be read. A
// missing amount counts as 0 in arithmetic; one that cannot be read is an error. [Transaction.Signed]
// returns the amount of a transaction with its sign.
//
// # Errors
//
// An invalid request is refused before it is sent, with a [ValidationError]. A call that fails returns an
// [Error]: test it with errors.Is and the sentinels ([ErrUnauthorized], [ErrNotFound], [ErrRateLimited], …),
// and read its fields with errors.AsType. Reads are retried while there is time; see [RetryPolicy]. A
// purchase is never retried, and another operation only on evidence that nothing was sent. The comment of a method
// names the errors that it returns besides these.
//
// # Regulatory documents
//
// [RegulatoryService.Analyze] creates a draft with prices, [RegulatoryService.Purchase] charges the wallet, and
// [RegulatoryService.Wait] returns when the documents are generated; [RegulatoryService.AnalyzeAndPoll] does all
// of it within a [Budget]. Package [github.com/shipping-go/shipping/batch] does it for thousands of shipments,
// with a journal on disk.
//
// If the response to a purchase is lost, the client reads the request back. The result, or a [RegulatoryError], has the
// outcome. With [OutcomePurchasedBefore], an earlier purchase charged the wallet.
//
// Without a route in [WithDialect], methods that fetch PDFs, edit or retry send nothing: the
// specification has no path for them.
//
// # Webhooks
//
// [WebhooksService.Replay] asks the service to replay a notification, that is, to send it again; package batch replays
// many. Package [github.com/shipping-go/shipping/webhook] receives them.
//
// # Observability
//
// [WithLogger] logs attempts and retries, an [Observer] receives the events of a call for metrics and traces,
// and [WithDriftReport] reports differences between the service and the specification. None of them
// receives a key, a query or a body.
//
// # Testing
//
// Package [github.com/shipping-go/shipping/mockserver] is a reference server whose money, time and
// faults a test controls. For canned responses, give [WithHTTPClient] a mock transport.
//
// # Assumptions
//
// Comments name the heading of the specification that they follow. Questions that it leaves open are marked
// Assumption, with the option that changes the choice, and are listed in docs/ASSUMPTIONS.md.
//
// # Compatibility
//
// Versions follow semantic versioning. Before 1.0.0 a minor version may break the API, and CHANGELOG.md lists each
// break. A new field of a struct, a new constant of an open string type, a new error text and a corrected assumption
// are not breaks: use field names in composite literals, give switches a default case, and test errors with errors.Is
// and errors.AsType. Go 1.26 or newer is required.
package shipping
