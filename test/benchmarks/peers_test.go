package benchmarks

import (
	"context"
	"net/http"
	"testing"

	"github.com/digitalocean/godo"
	"github.com/google/go-github/v88/github"
	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/stripe/stripe-go/v85"

	"github.com/shipping-go/shipping/test/benchmarks/payload"
	"github.com/shipping-go/shipping/test/benchmarks/transport"
)

// The peers run with their own defaults, on responses of the services that they are made for. Each is
// compared with hand-written code on the same bytes.

func newGitHub(tb testing.TB, through http.RoundTripper) *github.Client {
	tb.Helper()
	client, err := github.NewClient(github.WithTransport(through), github.WithAuthToken(key))
	if err != nil {
		tb.Fatal(err)
	}
	return client
}

func newStripe(through http.RoundTripper) *stripe.Client {
	backends := stripe.NewBackendsWithConfig(&stripe.BackendConfig{
		HTTPClient:    &http.Client{Transport: through},
		LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	})
	return stripe.NewClient(key, stripe.WithBackends(backends))
}

func newHetzner(through http.RoundTripper) *hcloud.Client {
	return hcloud.NewClient(hcloud.WithToken(key), hcloud.WithHTTPClient(&http.Client{Transport: through}))
}

func newOcean(through http.RoundTripper) *godo.Client {
	return godo.NewClient(&http.Client{Transport: through})
}

func gitHubUsers(tb testing.TB) contest {
	body := transport.Fixed(payload.GitHubUsers(100))
	client := newGitHub(tb, body)
	return contest{
		name: "100 users", body: body, records: 100, client: "go-github",
		raw: byHand(body, "https://api.github.com/users?per_page=100", func(a *[]payload.GitHubUser) int { return len(*a) }),
		call: func(ctx context.Context) (int, error) {
			users, _, err := client.Users.ListAll(ctx, &github.UserListOptions{PerPage: 100})
			return len(users), err
		},
	}
}

func stripeCustomers(testing.TB) contest {
	body := transport.Fixed(payload.StripeCustomers(100))
	client := newStripe(body)
	return contest{
		name: "100 customers", body: body, records: 100, client: "stripe-go",
		raw: byHand(body, "https://api.stripe.com/v1/customers?limit=100", func(a *payload.StripeList) int { return len(a.Data) }),
		call: func(ctx context.Context) (int, error) {
			params := &stripe.CustomerListParams{ListParams: stripe.ListParams{Limit: stripe.Int64(100)}}
			page := client.V1Customers.List(ctx, params)
			return len(page.Data()), page.Err()
		},
	}
}

func hetznerIPs(testing.TB) contest {
	body := transport.Fixed(payload.HetznerIPs(100))
	client := newHetzner(body)
	return contest{
		name: "100 addresses", body: body, records: 100, client: "hcloud-go",
		raw: byHand(body, "https://api.hetzner.cloud/v1/primary_ips?per_page=100",
			func(a *payload.HetznerList) int { return len(a.PrimaryIPs) }),
		call: func(ctx context.Context) (int, error) {
			addresses, _, err := client.PrimaryIP.List(ctx, hcloud.PrimaryIPListOpts{ListOpts: hcloud.ListOpts{PerPage: 100}})
			return len(addresses), err
		},
	}
}

func oceanVolumes(testing.TB) contest {
	body := transport.Fixed(payload.OceanVolumes(100))
	client := newOcean(body)
	return contest{
		name: "100 volumes", body: body, records: 100, client: "godo",
		raw: byHand(body, "https://api.digitalocean.com/v2/volumes?per_page=100",
			func(a *payload.OceanList) int { return len(a.Volumes) }),
		call: func(ctx context.Context) (int, error) {
			volumes, _, err := client.Storage.ListVolumes(ctx, &godo.ListVolumeParams{ListOptions: &godo.ListOptions{PerPage: 100}})
			return len(volumes), err
		},
	}
}

func oneGitHubUser(tb testing.TB) contest {
	body := transport.Fixed(payload.OneGitHubUser())
	client := newGitHub(tb, body)
	return contest{
		name: "one user", body: body, records: 1, client: "go-github",
		raw: byHand(body, "https://api.github.com/users/freight", func(a *payload.GitHubUser) int { return one(a.ID > 0) }),
		call: func(ctx context.Context) (int, error) {
			user, _, err := client.Users.Get(ctx, "freight")
			return one(user.GetID() > 0), err
		},
	}
}

func oneStripeCustomer(testing.TB) contest {
	body := transport.Fixed(payload.OneStripeCustomer())
	client := newStripe(body)
	return contest{
		name: "one customer", body: body, records: 1, client: "stripe-go",
		raw: byHand(body, "https://api.stripe.com/v1/customers/cus_1", func(a *payload.StripeCustomer) int { return one(a.ID != "") }),
		call: func(ctx context.Context) (int, error) {
			customer, err := client.V1Customers.Retrieve(ctx, "cus_1", nil)
			return one(customer.ID != ""), err
		},
	}
}

func oneHetznerIP(testing.TB) contest {
	body := transport.Fixed(payload.OneHetznerIP())
	client := newHetzner(body)
	return contest{
		name: "one address", body: body, records: 1, client: "hcloud-go",
		raw: byHand(body, "https://api.hetzner.cloud/v1/primary_ips/1", func(a *payload.HetznerOne) int { return one(a.PrimaryIP.ID > 0) }),
		call: func(ctx context.Context) (int, error) {
			found, _, err := client.PrimaryIP.GetByID(ctx, 1)
			return one(found != nil && found.ID > 0), err
		},
	}
}

func oneOceanVolume(testing.TB) contest {
	body := transport.Fixed(payload.OneOceanVolume())
	client := newOcean(body)
	return contest{
		name: "one volume", body: body, records: 1, client: "godo",
		raw: byHand(body, "https://api.digitalocean.com/v2/volumes/1", func(a *payload.OceanOne) int { return one(a.Volume.ID != "") }),
		call: func(ctx context.Context) (int, error) {
			volume, _, err := client.Storage.GetVolume(ctx, "1")
			return one(volume != nil && volume.ID != ""), err
		},
	}
}
