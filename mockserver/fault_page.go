package mockserver

import (
	"net/url"
	"strconv"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// A list fault changes what a list is asked for or what it holds, and leaves the rest to the operation.

// FaultRepeatPage answers with the page before the one that is asked for, whose numbers say so too. The
// first page is left alone.
func FaultRepeatPage() Fault { return faultRepeatPage{} }

type faultRepeatPage struct{}

func (faultRepeatPage) strike(x *wire.Exchange, w *core) {
	x.EditQuery(func(query url.Values) {
		if p := w.assume.paging(query); p.page > 1 {
			query.Set("page", strconv.Itoa(p.page-1))
		}
	})
}

func (faultRepeatPage) form() FaultForm    { return FaultForm{Kind: kindRepeatPage} }
func (faultRepeatPage) operates() []string { return pagedOperations() }

// FaultCapPage answers with pages of at most n records, whatever perPage asks for.
func FaultCapPage(n int) Fault { return faultCapPage(n) }

type faultCapPage int

func (f faultCapPage) strike(x *wire.Exchange, w *core) {
	x.EditQuery(func(query url.Values) {
		query.Set("perPage", strconv.Itoa(min(int(f), w.assume.paging(query).perPage)))
	})
}

func (f faultCapPage) form() FaultForm    { return FaultForm{Kind: kindCapPage, PerPage: int(f)} }
func (f faultCapPage) operates() []string { return pagedOperations() }

func (f faultCapPage) problem() string {
	if f < 1 {
		return "per_page must be at least 1"
	}
	return ""
}

// FaultInsertRows puts n new records at the head of the list before it answers, as happens to somebody
// who reads page after page of a list that is alive: every record moves n places back. The records are
// real: rates, inactive webhooks, or deposits of one unit into the wallet.
func FaultInsertRows(n int) Fault { return faultInsertRows(n) }

type faultInsertRows int

func (f faultInsertRows) strike(x *wire.Exchange, w *core) {
	for range int(f) {
		if err := w.insertRow(x.Operation, x.Call.Query()); err != nil {
			w.settings.logger.Error("a row cannot be inserted", "error", err)
			return
		}
	}
}

func (f faultInsertRows) form() FaultForm    { return FaultForm{Kind: kindInsertRows, Rows: int(f)} }
func (f faultInsertRows) operates() []string { return pagedOperations() }

func (f faultInsertRows) problem() string {
	const most = 10_000
	if f < 1 || f > most {
		return "rows must be between 1 and 10000"
	}
	return ""
}

func pagedOperations() []string {
	return []string{shipping.OpListRates, shipping.OpListWebhooks, shipping.OpListTransactions}
}
