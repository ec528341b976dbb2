package payload

import "time"

// Webhook is a webhook as hand-written code would declare it.
//
// Specification: "Webhook".
type Webhook struct {
	WebhookID string    `json:"webhook_id"`
	StorageID string    `json:"_id"`
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	URL       string    `json:"url"`
	Event     []string  `json:"event"`
	Active    bool      `json:"active"`
	Live      bool      `json:"live"`
	User      string    `json:"user"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Revision  int       `json:"__v"`
}

// WebhookList is the data of GET /v1/webhooks.
type WebhookList struct {
	Webhooks   []Webhook `json:"webhooks"`
	Pagination struct {
		Total         int  `json:"total"`
		PerPage       int  `json:"perPage"`
		PageCount     int  `json:"pageCount"`
		CurrentPage   int  `json:"currentPage"`
		PagingCounter int  `json:"pagingCounter"`
		HasPrevPage   bool `json:"hasPrevPage"`
		HasNextPage   bool `json:"hasNextPage"`
		PrevPage      *int `json:"prevPage"`
		NextPage      *int `json:"nextPage"`
	} `json:"pagination"`
}

// Webhooks writes the only page of n webhooks.
func Webhooks(n int) []byte {
	m := newMaker(1)
	var data WebhookList
	data.Webhooks = list(n, func(int) Webhook { return m.webhook() })
	p := &data.Pagination
	p.Total, p.PerPage, p.PageCount, p.CurrentPage, p.PagingCounter = n, n, 1, 1, 1
	return success("Webhooks retrieved successfully", data)
}

func (m maker) webhook() Webhook {
	id, made := m.storageID(), m.moment()
	return Webhook{
		WebhookID: m.numbered("WA"), StorageID: id, ID: id, Name: pick(m, "Order desk", "Warehouse", "Support"),
		URL: "https://hooks.harbour-row.example/shipping/" + m.text("", hexadeci, 12), Event: []string{"shipment.created", "shipment.updated"},
		Active: m.yes(90), Live: m.yes(50), User: m.numbered("USER"), CreatedAt: made, UpdatedAt: made.Add(1740 * time.Millisecond), Revision: m.random.IntN(4),
	}
}
