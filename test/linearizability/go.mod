module github.com/shipping-go/shipping/test/linearizability

go 1.26.0

replace github.com/shipping-go/shipping => ../..

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/shipping-go/shipping v0.0.0-00010101000000-000000000000
)

require (
	codeberg.org/go-pdf/fpdf v0.12.0 // indirect
	github.com/go-fonts/liberation v0.3.3 // indirect
	github.com/google/go-querystring v1.2.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)
