package vectors_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping/test/vectors"
)

// post sends the purchase once, as net/http does by default, and returns the status and the body.
func post(ctx context.Context, baseURL string) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	body := strings.NewReader(`{"request_id":"` + vectors.RequestID + `","document_types":["` + vectors.Document + `"]}`)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, baseURL+"/v1/regulatory-documents/purchase", body)
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+vectors.SecretKey)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(io.LimitReader(resp.Body, 2<<20))
	return resp.StatusCode, read, err
}

// retrying sends a purchase up to three times, as clients of reads do.
func retrying(ctx context.Context, baseURL string) (vectors.Report, error) {
	for range 3 {
		if status, _, err := post(ctx, baseURL); err == nil && status < 500 {
			return reported(status == http.StatusOK), nil
		}
	}
	return reported(false), nil
}

// believing sends a purchase once, and takes every failure for a purchase that was not charged.
func believing(ctx context.Context, baseURL string) (vectors.Report, error) {
	status, body, err := post(ctx, baseURL)
	var envelope struct{ Status bool }
	return reported(err == nil && status/100 == 2 && json.Unmarshal(body, &envelope) == nil && envelope.Status), nil
}

// careful never claims anything.
func careful(ctx context.Context, baseURL string) (vectors.Report, error) {
	_, _, _ = post(ctx, baseURL)
	return vectors.Report{Outcome: "unknown"}, nil
}

func reported(charged bool) vectors.Report {
	if charged {
		return vectors.Report{Outcome: "charged"}
	}
	return vectors.Report{Outcome: "not charged"}
}

// Wrong clients fail the cases that show their mistakes.
func TestGrade_FindsWrongClients(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		client vectors.Client
		fails  map[string]string // how, by case
	}{
		{"retries", retrying, map[string]string{
			"502 without a body, charged": "sent 3 times", "chunk cut, not charged": "sent 3 times", "307 to the same place, charged": "sent",
			"200 with status false, not charged": `"charged"; want "not charged"`, "400 as HTML, charged": `"not charged"; want "charged"`,
		}},
		{"believes failures", believing, map[string]string{
			"502 without a body, charged": `"not charged"; want "charged"`, "502 without a body, not charged": `"not charged"; want "unknown"`,
			"400 in the envelope, charged": `"not charged"; want "charged"`, "200 with HTML, not charged": `"not charged"; want "unknown"`,
		}},
		{"knows nothing", careful, map[string]string{
			"200 with status false, not charged": `"unknown"; want "not charged"`, "100 first, charged": `"unknown"; want "charged"`,
			"connection refused, not charged": `"unknown"; want "not charged"`, "closed at once, charged": `"unknown"; want "charged"`,
		}},
	} {
		found := 0
		for _, c := range cases(t) {
			how, fails := test.fails[c.Name()]
			if !fails {
				continue
			}
			found++
			if err := c.Grade(t.Context(), test.client); err == nil || !strings.Contains(err.Error(), how) {
				t.Errorf("a client that %s, %s: %v; want %q", test.name, c.Name(), err, how)
			}
		}
		if found != len(test.fails) {
			t.Errorf("%d of %d cases exist", found, len(test.fails))
		}
	}
}
