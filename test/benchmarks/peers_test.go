package benchmarks

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/digitalocean/godo"
	"github.com/google/go-github/v88/github"
	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/stripe/stripe-go/v85"
)

// peer is the client of another service. It runs with its own defaults on responses in the form of its service, and is
// compared with hand-written code on the same bytes.
type peer struct {
	name          string
	rawList, list call // of 100 records
	rawOne, one   call
}

// peers reads the record of each peer in testdata, and writes lists with 100 copies of it.
func peers(tb testing.TB) []peer {
	return []peer{gitHub(tb), stripeCustomers(tb), hetzner(tb), digitalOcean(tb)}
}

// responses returns the response with one record of a peer, and the response with 100.
func responses(tb testing.TB, peer, oneForm, listForm string) (one, list fixed) {
	record, err := os.ReadFile(filepath.Join("testdata", peer+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	text := strings.TrimSpace(string(record))
	return fmt.Appendf(nil, oneForm, text), fmt.Appendf(nil, listForm, strings.TrimSuffix(strings.Repeat(text+",", 100), ","))
}

type gitHubUser struct {
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

func gitHub(tb testing.TB) peer {
	oneUser, users := responses(tb, "go-github", "%s", "[%s]")
	client := func(through http.RoundTripper) *github.Client {
		client, err := github.NewClient(github.WithTransport(through), github.WithAuthToken(key))
		if err != nil {
			tb.Fatal(err)
		}
		return client
	}
	reader, lister := client(oneUser), client(users)
	return peer{
		name:    "go-github",
		rawList: byHand(users, "https://api.github.com/users?per_page=100", func(r *[]gitHubUser) int { return len(*r) }),
		list: func(ctx context.Context) (int, error) {
			users, _, err := lister.Users.ListAll(ctx, &github.UserListOptions{PerPage: 100})
			return len(users), err
		},
		rawOne: byHand(oneUser, "https://api.github.com/users/freight", func(r *gitHubUser) int { return one(r.ID > 0) }),
		one: func(ctx context.Context) (int, error) {
			user, _, err := reader.Users.Get(ctx, "freight")
			return one(user.GetID() > 0), err
		},
	}
}

type stripeAddress struct {
	City       string `json:"city"`
	Country    string `json:"country"`
	Line1      string `json:"line1"`
	Line2      string `json:"line2"`
	PostalCode string `json:"postal_code"`
	State      string `json:"state"`
}

type stripeCustomer struct {
	ID              string        `json:"id"`
	Object          string        `json:"object"`
	Address         stripeAddress `json:"address"`
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
		Address        stripeAddress `json:"address"`
		Carrier        string        `json:"carrier"`
		Name           string        `json:"name"`
		Phone          string        `json:"phone"`
		TrackingNumber string        `json:"tracking_number"`
	} `json:"shipping"`
	TaxExempt string  `json:"tax_exempt"`
	TestClock *string `json:"test_clock"`
}

type stripeList struct {
	Object  string           `json:"object"`
	URL     string           `json:"url"`
	HasMore bool             `json:"has_more"`
	Data    []stripeCustomer `json:"data"`
}

func stripeCustomers(tb testing.TB) peer {
	oneCustomer, customers := responses(tb, "stripe-go", "%s", `{"object":"list","url":"/v1/customers","has_more":false,"data":[%s]}`)
	client := func(through http.RoundTripper) *stripe.Client {
		return stripe.NewClient(key, stripe.WithBackends(stripe.NewBackendsWithConfig(&stripe.BackendConfig{
			HTTPClient: &http.Client{Transport: through}, LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
		})))
	}
	reader, lister := client(oneCustomer), client(customers)
	return peer{
		name:    "stripe-go",
		rawList: byHand(customers, "https://api.stripe.com/v1/customers?limit=100", func(r *stripeList) int { return len(r.Data) }),
		list: func(ctx context.Context) (int, error) {
			page := lister.V1Customers.List(ctx, &stripe.CustomerListParams{ListParams: stripe.ListParams{Limit: stripe.Int64(100)}})
			return len(page.Data()), page.Err()
		},
		rawOne: byHand(oneCustomer, "https://api.stripe.com/v1/customers/cus_1", func(r *stripeCustomer) int { return one(r.ID != "") }),
		one: func(ctx context.Context) (int, error) {
			customer, err := reader.V1Customers.Retrieve(ctx, "cus_1", nil)
			return one(err == nil && customer.ID != ""), err
		},
	}
}

type hetznerIP struct {
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

type hetznerOne struct {
	PrimaryIP hetznerIP `json:"primary_ip"`
}

type hetznerList struct {
	PrimaryIPs []hetznerIP `json:"primary_ips"`
	Meta       struct {
		Pagination map[string]int `json:"pagination"`
	} `json:"meta"`
}

func hetzner(tb testing.TB) peer {
	oneAddress, addresses := responses(tb, "hcloud-go", `{"primary_ip":%s}`,
		`{"primary_ips":[%s],"meta":{"pagination":{"page":1,"per_page":100,"previous_page":null,"next_page":null,"last_page":1,"total_entries":100}}}`)
	client := func(through http.RoundTripper) *hcloud.Client {
		return hcloud.NewClient(hcloud.WithToken(key), hcloud.WithHTTPClient(&http.Client{Transport: through}))
	}
	reader, lister := client(oneAddress), client(addresses)
	return peer{
		name:    "hcloud-go",
		rawList: byHand(addresses, "https://api.hetzner.cloud/v1/primary_ips?per_page=100", func(r *hetznerList) int { return len(r.PrimaryIPs) }),
		list: func(ctx context.Context) (int, error) {
			addresses, _, err := lister.PrimaryIP.List(ctx, hcloud.PrimaryIPListOpts{ListOpts: hcloud.ListOpts{PerPage: 100}})
			return len(addresses), err
		},
		rawOne: byHand(oneAddress, "https://api.hetzner.cloud/v1/primary_ips/1", func(r *hetznerOne) int { return one(r.PrimaryIP.ID > 0) }),
		one: func(ctx context.Context) (int, error) {
			found, _, err := reader.PrimaryIP.GetByID(ctx, 1)
			return one(found != nil && found.ID > 0), err
		},
	}
}

type oceanVolume struct {
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

type oceanOne struct {
	Volume oceanVolume `json:"volume"`
}

type oceanList struct {
	Volumes []oceanVolume `json:"volumes"`
	Links   struct{}      `json:"links"`
	Meta    struct {
		Total int `json:"total"`
	} `json:"meta"`
}

func digitalOcean(tb testing.TB) peer {
	oneVolume, volumes := responses(tb, "godo", `{"volume":%s}`, `{"volumes":[%s],"links":{},"meta":{"total":100}}`)
	reader, lister := godo.NewClient(&http.Client{Transport: oneVolume}), godo.NewClient(&http.Client{Transport: volumes})
	return peer{
		name:    "godo",
		rawList: byHand(volumes, "https://api.digitalocean.com/v2/volumes?per_page=100", func(r *oceanList) int { return len(r.Volumes) }),
		list: func(ctx context.Context) (int, error) {
			volumes, _, err := lister.Storage.ListVolumes(ctx, &godo.ListVolumeParams{ListOptions: &godo.ListOptions{PerPage: 100}})
			return len(volumes), err
		},
		rawOne: byHand(oneVolume, "https://api.digitalocean.com/v2/volumes/1", func(r *oceanOne) int { return one(r.Volume.ID != "") }),
		one: func(ctx context.Context) (int, error) {
			volume, _, err := reader.Storage.GetVolume(ctx, "1")
			return one(volume != nil && volume.ID != ""), err
		},
	}
}
