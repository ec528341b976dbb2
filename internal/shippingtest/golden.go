package shippingtest

import (
	"embed"
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping/internal/specification"
)

//go:embed testdata/*.json
var goldens embed.FS

// Golden returns a response that was written from the tables of the specification.
func Golden(t testing.TB, name string) string {
	t.Helper()
	text, err := golden(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func golden(name string) (string, error) {
	data, err := goldens.ReadFile("testdata/" + name)
	if err != nil {
		return "", fmt.Errorf("%w: write the response, as the specification shows it, to internal/shippingtest/testdata", err)
	}
	return string(data), nil
}

// NewGoldenService returns a service that sends a golden response.
func NewGoldenService(t testing.TB, name string) *Service {
	t.Helper()
	return NewService(httpmock.NewStringResponder(http.StatusOK, Golden(t, name)).SetContentLength())
}

// PurchaseCodes returns the documented codes of a refused purchase, and an empty one.
func PurchaseCodes(t testing.TB) []string {
	t.Helper()
	codes := []string{""}
	row := regexp.MustCompile(`"code": "(\w+)", "operations": "(?:all\b|[^"]*purchase)`)
	for _, found := range row.FindAllSubmatch(specification.Service(), -1) {
		codes = append(codes, string(found[1]))
	}
	Diff(t, "codes in service.json", true, len(codes) > 1)
	return codes
}
