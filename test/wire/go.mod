module github.com/shipping-go/shipping/test/wire

go 1.26.0

replace github.com/shipping-go/shipping => ../..

require (
	github.com/shipping-go/shipping v0.0.0-00010101000000-000000000000
	golang.org/x/net v0.62.0
)

require (
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/google/go-querystring v1.2.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	github.com/jarcoal/httpmock v1.4.2 // indirect
	golang.org/x/text v0.43.0 // indirect
)
