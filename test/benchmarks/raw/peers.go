package raw

import "time"

// GitHubUser is an element of the response of GitHub to GET /users.
type GitHubUser struct {
	Login             string `json:"login"`
	ID                int64  `json:"id"`
	NodeID            string `json:"node_id"`
	AvatarURL         string `json:"avatar_url"`
	GravatarID        string `json:"gravatar_id"`
	URL               string `json:"url"`
	HTMLURL           string `json:"html_url"`
	FollowersURL      string `json:"followers_url"`
	FollowingURL      string `json:"following_url"`
	GistsURL          string `json:"gists_url"`
	StarredURL        string `json:"starred_url"`
	SubscriptionsURL  string `json:"subscriptions_url"`
	OrganizationsURL  string `json:"organizations_url"`
	ReposURL          string `json:"repos_url"`
	EventsURL         string `json:"events_url"`
	ReceivedEventsURL string `json:"received_events_url"`
	Type              string `json:"type"`
	UserViewType      string `json:"user_view_type"`
	SiteAdmin         bool   `json:"site_admin"`
}

// StripeAddress is an address of a customer.
type StripeAddress struct {
	City       string `json:"city"`
	Country    string `json:"country"`
	Line1      string `json:"line1"`
	Line2      string `json:"line2"`
	PostalCode string `json:"postal_code"`
	State      string `json:"state"`
}

// StripeCustomer is a customer of Stripe.
type StripeCustomer struct {
	ID              string        `json:"id"`
	Object          string        `json:"object"`
	Address         StripeAddress `json:"address"`
	Balance         int64         `json:"balance"`
	Created         int64         `json:"created"`
	Currency        string        `json:"currency"`
	DefaultSource   *string       `json:"default_source"`
	Delinquent      bool          `json:"delinquent"`
	Description     string        `json:"description"`
	Discount        *string       `json:"discount"`
	Email           string        `json:"email"`
	InvoicePrefix   string        `json:"invoice_prefix"`
	InvoiceSettings struct {
		CustomFields         []string `json:"custom_fields"`
		DefaultPaymentMethod *string  `json:"default_payment_method"`
		Footer               string   `json:"footer"`
		RenderingOptions     *string  `json:"rendering_options"`
	} `json:"invoice_settings"`
	Livemode            bool              `json:"livemode"`
	Metadata            map[string]string `json:"metadata"`
	Name                string            `json:"name"`
	NextInvoiceSequence int64             `json:"next_invoice_sequence"`
	Phone               string            `json:"phone"`
	PreferredLocales    []string          `json:"preferred_locales"`
	Shipping            struct {
		Address        StripeAddress `json:"address"`
		Carrier        string        `json:"carrier"`
		Name           string        `json:"name"`
		Phone          string        `json:"phone"`
		TrackingNumber string        `json:"tracking_number"`
	} `json:"shipping"`
	TaxExempt string  `json:"tax_exempt"`
	TestClock *string `json:"test_clock"`
}

// StripeCustomers is the response of Stripe to GET /v1/customers.
type StripeCustomers struct {
	Object  string           `json:"object"`
	URL     string           `json:"url"`
	HasMore bool             `json:"has_more"`
	Data    []StripeCustomer `json:"data"`
}

// HetznerIP is an address of Hetzner Cloud.
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
	DNSPtr []struct {
		DNSPtr string `json:"dns_ptr"`
		IP     string `json:"ip"`
	} `json:"dns_ptr"`
	Location struct {
		ID          int64   `json:"id"`
		Name        string  `json:"name"`
		Description string  `json:"description"`
		Country     string  `json:"country"`
		City        string  `json:"city"`
		Latitude    float64 `json:"latitude"`
		Longitude   float64 `json:"longitude"`
		NetworkZone string  `json:"network_zone"`
	} `json:"location"`
}

// HetznerIPs is the response of Hetzner Cloud to GET /v1/primary_ips.
type HetznerIPs struct {
	PrimaryIPs []HetznerIP `json:"primary_ips"`
	Meta       struct {
		Pagination map[string]int `json:"pagination"`
	} `json:"meta"`
}

// OceanVolume is a volume of DigitalOcean.
type OceanVolume struct {
	ID     string `json:"id"`
	Region struct {
		Slug      string   `json:"slug"`
		Name      string   `json:"name"`
		Sizes     []string `json:"sizes"`
		Available bool     `json:"available"`
		Features  []string `json:"features"`
	} `json:"region"`
	Name            string    `json:"name"`
	SizeGigabytes   int64     `json:"size_gigabytes"`
	Description     string    `json:"description"`
	DropletIDs      []int     `json:"droplet_ids"`
	CreatedAt       time.Time `json:"created_at"`
	FilesystemType  string    `json:"filesystem_type"`
	FilesystemLabel string    `json:"filesystem_label"`
	Tags            []string  `json:"tags"`
}

// OceanVolumes is the response of DigitalOcean to GET /v2/volumes.
type OceanVolumes struct {
	Volumes []OceanVolume `json:"volumes"`
	Links   struct{}      `json:"links"`
	Meta    struct {
		Total int `json:"total"`
	} `json:"meta"`
}
