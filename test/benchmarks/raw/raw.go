// Package raw is the code that the client is compared with: what one would write by hand for a single operation. It
// reuses an http.Client, reads the whole body into one buffer of the announced size, and decodes it with encoding/json
// into plain structs. It has no retries, no limits and no typed errors.
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
		// ReadFrom needs room for one read more than the body.
		body.Grow(int(response.ContentLength) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(response.Body); err != nil {
		return value, err
	}
	if response.StatusCode != http.StatusOK {
		return value, fmt.Errorf("GET %s: %s: %s", url, response.Status, body.Bytes())
	}
	err = json.Unmarshal(body.Bytes(), &value)
	return value, err
}
