package shipping

// Page is one page of a list.
type Page[T any] struct {
	// Items are the page's records, in the service's order.
	Items []T
	// Pagination is what the page says about itself.
	Pagination Pagination
	// Response is the status, header and attempts of the call that brought the page.
	Response *Response
	// Resume continues a walk after this page; see [WithResume]. It is empty for a page of List.
	Resume string
}

// Pagination is what a page says about itself. The specification gives rates, webhooks and
// transactions a different pagination object each; fields that a list does not have are zero.
//
// Specification: "Rate list pagination object", "Webhook pagination object", "Transaction pagination
// object".
type Pagination struct {
	// Total is the number of records on all pages.
	Total int `json:"total"`
	// PerPage is how many records the service puts on a page, which can be fewer than asked for.
	PerPage int `json:"perPage"`
	// Page is this page's number, from 1.
	Page int `json:"page"`
	// PageCount is the number of pages.
	PageCount int `json:"pageCount"`
	// CurrentPage is this page's number again (webhooks and transactions).
	CurrentPage int `json:"currentPage" spec:"optional"`
	// PagingCounter is the number of the page's first record, from 1 (webhooks).
	PagingCounter int `json:"pagingCounter" spec:"optional"`
	// PrevPage and NextPage are page numbers; 0 where there is none, also where the service says null
	// (webhooks and transactions).
	PrevPage int `json:"prevPage" spec:"optional"`
	NextPage int `json:"nextPage" spec:"optional"`
	// HasPrevPage and HasNextPage tell whether there are such pages (webhooks and transactions).
	HasPrevPage bool `json:"hasPrevPage" spec:"optional"`
	HasNextPage bool `json:"hasNextPage" spec:"optional"`
}
