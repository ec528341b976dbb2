module github.com/shipping-go/shipping/test/fasthttp

go 1.26.0

replace github.com/shipping-go/shipping => ../..

require (
	github.com/shipping-go/shipping v0.0.0-00010101000000-000000000000
	github.com/valyala/fasthttp v1.78.0
)

require (
	github.com/google/go-querystring v1.2.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/molecule-man/go-brrr v1.3.1 // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
)
