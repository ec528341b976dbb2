package paging_test

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/internal/paging"
)

// TestToken_OfEarlierVersions: a token without a version is read, also if it names a place before which no record is
// missing; one of a later version, or of another list, is refused.
func TestToken_OfEarlierVersions(t *testing.T) {
	hash := paging.Hash("list")
	last := paging.ID("31", "")
	for name, test := range map[string]struct {
		token  map[string]any
		begins int // the first row that comes; 0 if the token is refused
		text   string
	}{
		"no version":   {token: map[string]any{"l": hash, "c": 20, "p": 10, "t": 50, "n": 20, "i": []uint64{last}}, begins: 30},
		"version 1":    {token: map[string]any{"v": 1, "l": hash, "c": 20, "p": 10, "t": 50, "n": 20, "i": []uint64{last}}, begins: 30},
		"version 2":    {token: map[string]any{"v": 2, "l": hash, "x": 20}, text: "version 2"},
		"another list": {token: map[string]any{"v": 1, "l": hash + 1, "p": 1}, text: "another list"},
		"total of -2":  {token: map[string]any{"v": 1, "l": hash, "c": 20, "p": 10, "t": -2, "n": 20}, text: "damaged"},
		"damaged":      {token: map[string]any{"v": 1, "l": hash, "c": -1, "p": 1}, text: "damaged"},
	} {
		l := newList(50, 10)
		config := l.config(1)
		config.Token = base64.RawURLEncoding.EncodeToString(marshal(t, test.token))
		rows, err := walk(t.Context(), config)
		if test.begins == 0 {
			if err == nil || !strings.Contains(err.Error(), test.text) || len(l.requests) > 0 {
				t.Errorf("%s: %v after %d requests, want an error with %q", name, err, len(l.requests), test.text)
			}
			continue
		}
		if diff := cmp.Diff(l.rows[slices.Index(l.rows, test.begins):], rows); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

func marshal(t *testing.T, value any) []byte {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
