module github.com/shipping-go/shipping/test/recorded

go 1.26

replace github.com/shipping-go/shipping => ../..

require (
	github.com/shipping-go/shipping v0.0.0
	gopkg.in/dnaeon/go-vcr.v4 v4.0.7
)

require (
	github.com/google/go-querystring v1.2.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	go.yaml.in/yaml/v4 v4.0.0-rc.6 // indirect
)
