// Package raw is the yardstick: the best client that one would reasonably write by hand for a single
// operation. A reused http.Client, the whole body read into one buffer of the announced size, and
// encoding/json into plain structs; no retry, no limit, no typed error.
package raw

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Get reads url with a key and decodes the response into a T.
func Get[T any](ctx context.Context, client *http.Client, url, key string) (T, error) {
	var value T
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return value, err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Accept", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return value, err
	}
	defer response.Body.Close()
	var body bytes.Buffer
	if response.ContentLength > 0 {
		// ReadFrom wants room for one read more than it needs.
		body.Grow(int(response.ContentLength) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(response.Body); err != nil {
		return value, err
	}
	if response.StatusCode != http.StatusOK {
		return value, fmt.Errorf("GET %s: %s: %s", url, response.Status, body.Bytes())
	}
	return value, json.Unmarshal(body.Bytes(), &value)
}
