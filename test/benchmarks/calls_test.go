package benchmarks

import (
	"testing"

	"github.com/shipping-go/shipping/test/benchmarks/payload"
)

// BenchmarkList reads a list of 100 records, about 100 KB, and some shorter ones.
func BenchmarkList(b *testing.B) { race(b, append(lists(b), shorter(b)...)) }

// BenchmarkOne reads one record of about 1 KB.
func BenchmarkOne(b *testing.B) { race(b, ones(b)) }

func lists(tb testing.TB) []contest {
	return []contest{
		rates(tb, "100 rates", 100), transactions(tb, "100 transactions", 100),
		gitHubUsers(tb), stripeCustomers(tb), hetznerIPs(tb), oceanVolumes(tb),
	}
}

func shorter(tb testing.TB) []contest {
	return []contest{webhooks(tb, "100 webhooks", 100), countries(tb, "250 countries", 250)}
}

func ones(tb testing.TB) []contest {
	return []contest{
		rates(tb, "one rate", 1), transactions(tb, "one transaction", 1), draft(tb, "one request", payload.Draft()),
		draft(tb, "one request of 6 KB", payload.FullDraft()), draft(tb, "the smallest request", payload.SmallestDraft()),
		oneGitHubUser(tb), oneStripeCustomer(tb), oneHetznerIP(tb), oneOceanVolume(tb),
	}
}
