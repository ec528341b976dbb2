package vectors_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/test/vectors"
)

// class returns the most specific class of an error.
func class(err error) string {
	named := ""
	for name, sentinel := range vectors.Errors() {
		if errors.Is(err, sentinel) && (named == "" || named == "invalid_request" || named == "server") {
			named = name
		}
	}
	return named
}

// purchase returns the client of this module with a timeout.
func purchase(timeout time.Duration) vectors.Client {
	policy := shipping.RetryPolicy{AttemptTimeout: timeout, MaxRetryAfter: time.Millisecond}
	return func(ctx context.Context, baseURL string) (vectors.Report, error) {
		client, err := shipping.NewClient(vectors.SecretKey, shipping.WithBaseURL(baseURL), shipping.WithRetryPolicy(policy),
			shipping.WithMaxResponseBytes(1<<20))
		if err != nil {
			return vectors.Report{}, err
		}
		result, err := client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
			RequestID: vectors.RequestID, DocumentTypes: []shipping.DocumentType{vectors.Document},
			PurchaseOptions: shipping.PurchaseOptions{SettleFor: 10 * time.Millisecond, RefusedFor: time.Millisecond,
				QuietFor: 10 * time.Millisecond},
		})
		if err != nil && !strings.Contains(err.Error(), vectors.RequestID) {
			return vectors.Report{}, fmt.Errorf("the error does not name the request: %w", err)
		}
		outcome := shippingtest.Outcome(result, err)
		if outcome == shipping.OutcomePurchasedBefore { // the vectors know only whether the wallet was charged
			outcome = shipping.OutcomeCharged
		}
		return vectors.Report{Outcome: string(outcome), Error: class(err)}, nil
	}
}

// command returns a client that is a program. A report without the class of an error is not graded by it.
func command(c vectors.Case) vectors.Client {
	return func(ctx context.Context, baseURL string) (vectors.Report, error) {
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		words := strings.Fields(*program)
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.WaitDelay = time.Second // for children that it leaves running
		cmd.Env = append(os.Environ(), "SHIPPING_BASE_URL="+baseURL, "SHIPPING_SECRET_KEY="+vectors.SecretKey,
			"SHIPPING_REQUEST_ID="+vectors.RequestID, "SHIPPING_DOCUMENT="+vectors.Document)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
		report := vectors.Report{Error: c.Want.Error}
		if json.Unmarshal(lines[len(lines)-1], &report) != nil || report.Outcome == "" {
			return report, fmt.Errorf("the last line of the output is not a report: %.200q (%v)", lines[len(lines)-1],
				errors.Join(err, ctx.Err()))
		}
		return report, nil
	}
}

// program is a client in any language, which README.md describes.
var program = flag.String("client", "",
	"grade this command, such as 'python3 purchase.py', and not the client of this module")

func TestVectors_TheClientReportsTheTruth(t *testing.T) {
	t.Parallel()
	all := shippingtest.Must(vectors.Cases())(t)
	t.Attr("cases", fmt.Sprintf("%d purchases", len(all)))
	names := map[string]bool{}
	for _, c := range all {
		names[c.Vector.Name] = true
	}
	t.Attr("cases", fmt.Sprintf("%d vectors", len(names)))
	// They wait most of the time, so they all run at once, however few tests may run in parallel.
	var waiting sync.WaitGroup
	turns := make(chan struct{}, 16)
	for _, c := range all {
		turns <- struct{}{}
		waiting.Go(func() {
			defer func() { <-turns }()
			t.Run(c.Name(), func(t *testing.T) {
				if *program != "" {
					if err := c.Grade(t.Context(), command(c)); err != nil {
						t.Error(err)
					}
					return
				}
				timeout := 20 * time.Second
				if c.Endless { // it ends with the timeout, which is longer on a busy machine
					timeout = 300 * time.Millisecond
				}
				err := c.Grade(t.Context(), purchase(timeout))
				for ; errors.Is(err, vectors.ErrNotSent) && timeout < time.Minute; timeout *= 2 {
					err = c.Grade(t.Context(), purchase(timeout))
				}
				if err != nil {
					t.Error(err)
				}
			})
		})
	}
	waiting.Wait()
}
