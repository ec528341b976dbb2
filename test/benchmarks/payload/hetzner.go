package payload

import "time"

// HetznerIP is an entry of Hetzner Cloud's GET /v1/primary_ips.
type HetznerIP struct {
	ID           int64             `json:"id"`
	Name         string            `json:"name"`
	IP           string            `json:"ip"`
	Type         string            `json:"type"`
	AssigneeID   int64             `json:"assignee_id"`
	AssigneeType string            `json:"assignee_type"`
	AutoDelete   bool              `json:"auto_delete"`
	Blocked      bool              `json:"blocked"`
	Created      time.Time         `json:"created"`
	Labels       map[string]string `json:"labels"`
	Protection   struct {
		Delete bool `json:"delete"`
	} `json:"protection"`
	DNSPtr   []HetznerName   `json:"dns_ptr"`
	Location HetznerLocation `json:"location"`
}

// HetznerName is the name of an address.
type HetznerName struct {
	DNSPtr string `json:"dns_ptr"`
	IP     string `json:"ip"`
}

// HetznerLocation is where an address is.
type HetznerLocation struct {
	ID          int64   `json:"id"`
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Country     string  `json:"country"`
	City        string  `json:"city"`
	Latitude    float64 `json:"latitude"`
	Longitude   float64 `json:"longitude"`
	NetworkZone string  `json:"network_zone"`
}

// HetznerList is a page of addresses.
type HetznerList struct {
	PrimaryIPs []HetznerIP `json:"primary_ips"`
	Meta       struct {
		Pagination struct {
			Page         int  `json:"page"`
			PerPage      int  `json:"per_page"`
			PreviousPage *int `json:"previous_page"`
			NextPage     *int `json:"next_page"`
			LastPage     int  `json:"last_page"`
			TotalEntries int  `json:"total_entries"`
		} `json:"pagination"`
	} `json:"meta"`
}

// HetznerOne is the response for one address.
type HetznerOne struct {
	PrimaryIP HetznerIP `json:"primary_ip"`
}

// HetznerIPs writes n addresses, as GET /v1/primary_ips answers.
func HetznerIPs(n int) []byte {
	m := newMaker(4)
	page := HetznerList{PrimaryIPs: list(n, func(int) HetznerIP { return m.hetznerIP() })}
	p := &page.Meta.Pagination
	p.Page, p.PerPage, p.LastPage, p.TotalEntries = 1, n, 1, n
	return encode(page)
}

// OneHetznerIP writes one address.
func OneHetznerIP() []byte { return encode(HetznerOne{newMaker(4).hetznerIP()}) }

func (m maker) hetznerIP() HetznerIP {
	address := "2001:db8:" + m.text("", hexadeci, 4) + "::1"
	names := list(6, func(int) HetznerName {
		host := m.text("", hexadeci, 4)
		return HetznerName{DNSPtr: "gateway-" + host + ".warehouse.forwarder.example", IP: address[:len(address)-1] + host}
	})
	return HetznerIP{
		ID: m.random.Int64N(1e8), Name: m.text("warehouse-gateway-", digits, 6), IP: address, Type: "ipv6",
		AssigneeID: m.random.Int64N(1e8), AssigneeType: "server", Created: m.moment(), DNSPtr: names,
		Labels:   map[string]string{"environment": "production", "department": "customs", "carrier": pick(m, "dhl", "ups")},
		Location: HetznerLocation{1, "fsn1", "Falkenstein DC Park 1", "DE", "Falkenstein", 50.47612, 12.370071, "eu-central"},
	}
}
