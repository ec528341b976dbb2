package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/shipping-go/shipping"
)

// demoProfiles are the profiles of the demonstration.
//
//go:embed demo_profiles.json
var demoProfiles []byte

// profiles are the fields to fill in, by document.
type profiles map[shipping.DocumentType]json.RawMessage

func readProfiles(path string) (profiles, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseProfiles(path, data)
}

func parseProfiles(name string, data []byte) (profiles, error) {
	var p profiles
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf(`%s: write it as {"FDA": {"product_code": "…"}, …}: %w`, name, err)
	}
	return p, nil
}

// fill writes the profiles of the documents that a draft offers. The service's error names every wrong field.
func (j *job) fill(ctx context.Context, draft *shipping.RegulatoryRequest) error {
	for _, document := range draft.AvailableDocuments {
		fields, given := j.profiles[document.DocumentType]
		if !given {
			continue
		}
		_, err := j.client.Regulatory.UpdateProfile(ctx, draft.RequestID, document.DocumentType, fields)
		if errors.Is(err, shipping.ErrNotFound) {
			return fmt.Errorf("this service has no route for profiles: leave -profiles out, or see WithProvisionalRoutes: %w", err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
