module github.com/shipping-go/shipping

go 1.26

// A program compiles what is marked with the packages that it imports: one that imports only the client, batch or webhook
// compiles go-retryablehttp, go-querystring and go-cleanhttp.

require (
	github.com/google/go-cmp v0.7.0 // tests
	github.com/google/go-querystring v1.2.0 // client
	github.com/hashicorp/go-retryablehttp v0.7.8 // client
	github.com/jarcoal/httpmock v1.4.2 // tests
	github.com/urfave/cli/v3 v3.14.0 // command mockserver
	go.uber.org/goleak v1.3.0 // tests
	pgregory.net/rapid v1.3.0 // tests
)

require github.com/hashicorp/go-cleanhttp v0.5.2 // indirect; client
