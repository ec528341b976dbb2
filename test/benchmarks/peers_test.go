package benchmarks

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/digitalocean/godo"
	"github.com/google/go-github/v88/github"
	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/stripe/stripe-go/v85"

	"github.com/shipping-go/shipping/test/benchmarks/raw"
	"github.com/shipping-go/shipping/test/benchmarks/service"
)

// peers compares clients of other services that list 100 records. They run with their own defaults on responses in the
// form of their service, and are compared with hand-written code on the same bytes.
func peers(tb testing.TB) []comparison {
	return []comparison{gitHub(tb), stripeCustomers(tb), hetzner(tb), digitalOcean(tb)}
}

// listOf returns a response with 100 copies of the record of a peer in testdata.
func listOf(tb testing.TB, peer, before, after string) service.Fixed {
	record, err := os.ReadFile(filepath.Join("testdata", peer+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	records := strings.Repeat(strings.TrimSpace(string(record))+",", 100)
	return service.Fixed(before + strings.TrimSuffix(records, ",") + after)
}

func gitHub(tb testing.TB) comparison {
	body := listOf(tb, "go-github", "[", "]")
	client, err := github.NewClient(github.WithTransport(body), github.WithAuthToken(key))
	if err != nil {
		tb.Fatal(err)
	}
	return comparison{
		"go-github", 100, byHand(body, "https://api.github.com/users?per_page=100",
			func(r *[]raw.GitHubUser) int { return len(*r) }),
		func(ctx context.Context) (int, error) {
			users, _, err := client.Users.ListAll(ctx, &github.UserListOptions{PerPage: 100})
			return len(users), err
		},
	}
}

func stripeCustomers(tb testing.TB) comparison {
	body := listOf(tb, "stripe-go", `{"object":"list","url":"/v1/customers","has_more":false,"data":[`, `]}`)
	client := stripe.NewClient(key, stripe.WithBackends(stripe.NewBackendsWithConfig(&stripe.BackendConfig{
		HTTPClient: &http.Client{Transport: body}, LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	})))
	return comparison{
		"stripe-go", 100, byHand(body, "https://api.stripe.com/v1/customers?limit=100",
			func(r *raw.StripeCustomers) int { return len(r.Data) }),
		func(ctx context.Context) (int, error) {
			page := client.V1Customers.List(ctx,
				&stripe.CustomerListParams{ListParams: stripe.ListParams{Limit: stripe.Int64(100)}})
			return len(page.Data()), page.Err()
		},
	}
}

func hetzner(tb testing.TB) comparison {
	body := listOf(tb, "hcloud-go", `{"primary_ips":[`,
		`],"meta":{"pagination":{"page":1,"per_page":100,"previous_page":null,"next_page":null,"last_page":1,`+
			`"total_entries":100}}}`)
	client := hcloud.NewClient(hcloud.WithToken(key), hcloud.WithHTTPClient(&http.Client{Transport: body}))
	return comparison{
		"hcloud-go", 100, byHand(body, "https://api.hetzner.cloud/v1/primary_ips?per_page=100",
			func(r *raw.HetznerIPs) int { return len(r.PrimaryIPs) }),
		func(ctx context.Context) (int, error) {
			addresses, _, err := client.PrimaryIP.List(ctx, hcloud.PrimaryIPListOpts{ListOpts: hcloud.ListOpts{PerPage: 100}})
			return len(addresses), err
		},
	}
}

func digitalOcean(tb testing.TB) comparison {
	body := listOf(tb, "godo", `{"volumes":[`, `],"links":{},"meta":{"total":100}}`)
	client := godo.NewClient(&http.Client{Transport: body})
	return comparison{
		"godo", 100, byHand(body, "https://api.digitalocean.com/v2/volumes?per_page=100",
			func(r *raw.OceanVolumes) int { return len(r.Volumes) }),
		func(ctx context.Context) (int, error) {
			volumes, _, err := client.Storage.ListVolumes(ctx,
				&godo.ListVolumeParams{ListOptions: &godo.ListOptions{PerPage: 100}})
			return len(volumes), err
		},
	}
}
