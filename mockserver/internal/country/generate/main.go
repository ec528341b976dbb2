// Command generate writes countries.json, the list that package country embeds.
//
//	go run ./generate -out countries.json
//
// It needs npm, node and the Go toolchain that goZoneDatabase names, and installs two npm packages
// into a temporary folder. Every source is pinned by a hash, so that running it again writes the same
// bytes; a source that changed is an error, not a silent difference.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/shipping-go/shipping/mockserver/internal/country"
)

func main() {
	out := flag.String("out", "countries.json", "file to write")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	sources, err := installPackages()
	if err != nil {
		return err
	}
	places, err := readPlaces()
	if err != nil {
		return err
	}
	zones, err := openZoneDatabase()
	if err != nil {
		return err
	}
	countries, err := assemble(sources, places, zones)
	if err != nil {
		return err
	}
	text, err := encode(countries)
	if err != nil {
		return err
	}
	return os.WriteFile(out, text, 0o644)
}

// encode writes the array with one country a line.
func encode(countries []country.Country) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	separator := "[\n"
	for _, c := range countries {
		text.WriteString(separator)
		if err := encoder.Encode(c); err != nil {
			return nil, fmt.Errorf("encoding %s: %w", c.ISOCode, err)
		}
		text.Truncate(text.Len() - 1) // the encoder's newline
		separator = ",\n"
	}
	text.WriteString("\n]\n")
	return text.Bytes(), nil
}
