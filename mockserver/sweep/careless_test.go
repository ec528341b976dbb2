package sweep_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

// session is what a program without the client has.
type session struct {
	http.Client
	url, key string
}

// call sends a request and reads the data of the response.
func (s *session) call(ctx context.Context, method, path string, in, data any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return json.Unmarshal(text, &struct{ Data any }{data})
}

// record is a regulatory request.
type record struct {
	ID        string `json:"request_id"`
	Status    string `json:"status"`
	Documents []struct {
		Type string `json:"document_type"`
		Mode string `json:"mode"`
	} `json:"available_documents"`
}

func (s *session) analyze(ctx context.Context, shipment string) (r record, err error) {
	return r, s.call(ctx, "POST", "/v1/regulatory-documents/analyze", map[string]string{"shipment_id": shipment}, &r)
}

func (s *session) purchase(ctx context.Context, r record) error {
	var types []string
	for _, d := range r.Documents {
		if d.Mode != "manual" {
			types = append(types, d.Type)
		}
	}
	return s.call(ctx, "POST", "/v1/regulatory-documents/purchase", map[string]any{"request_id": r.ID, "document_types": types}, &record{})
}

func (s *session) get(ctx context.Context, id string) (r record, err error) {
	return r, s.call(ctx, "GET", "/v1/regulatory-documents/request/"+id, struct{}{}, &r)
}

// retry does something up to three times, a second apart.
func retry(do func() error) (err error) {
	for range 3 {
		if err = do(); err == nil {
			return nil
		}
		time.Sleep(time.Second)
	}
	return err
}

// The programs buy documents for a shipment, each in another way.
var programs = map[string]func(ctx context.Context, s *session, shipment string) error{
	"starts over after any error": func(ctx context.Context, s *session, shipment string) error {
		return retry(func() error {
			r, err := s.analyze(ctx, shipment)
			if err != nil {
				return err
			}
			return s.purchase(ctx, r)
		})
	},
	"sends the purchase again": func(ctx context.Context, s *session, shipment string) error {
		r, err := s.analyze(ctx, shipment)
		if err != nil {
			return err
		}
		return retry(func() error { return s.purchase(ctx, r) })
	},
	"gives up after the purchase": func(ctx context.Context, s *session, shipment string) error {
		r, err := s.analyze(ctx, shipment)
		if err != nil {
			return err
		}
		return s.purchase(ctx, r)
	},
	"ignores errors": func(ctx context.Context, s *session, shipment string) error {
		if r, err := s.analyze(ctx, shipment); err == nil {
			_ = s.purchase(ctx, r)
		}
		return nil
	},
	"does not wait for Retry-After": func(ctx context.Context, s *session, shipment string) error {
		var r record
		var err error
		for range 3 {
			if r, err = s.analyze(ctx, shipment); err == nil {
				break
			}
		}
		if err != nil {
			return err
		}
		if err = s.purchase(ctx, r); err != nil {
			_, _ = s.get(ctx, r.ID)
		}
		return err
	},
	"looks once and starts over": func(ctx context.Context, s *session, shipment string) error {
		return retry(func() error {
			r, err := s.analyze(ctx, shipment)
			if err != nil {
				return err
			}
			if err = s.purchase(ctx, r); err == nil {
				return nil
			}
			after, read := s.get(ctx, r.ID)
			if read == nil && after.Status != "draft" {
				return nil
			}
			return err
		})
	},
	"reads the request after any error": func(ctx context.Context, s *session, shipment string) error {
		r, err := s.analyze(ctx, shipment)
		if err != nil {
			return err
		}
		if err = s.purchase(ctx, r); err == nil {
			return nil
		}
		var after record
		if err := retry(func() (err error) { after, err = s.get(ctx, r.ID); return err }); err != nil {
			return err
		}
		if after.Status == "draft" {
			return fmt.Errorf("the purchase of %s is unknown: %w", r.ID, err)
		}
		return nil
	},
}

// sweepOf sweeps one of the programs in virtual time.
func sweepOf(t *testing.T, name string, config sweep.Config) (report *sweep.Report) {
	t.Helper()
	config.Options = []mockserver.Option{mockserver.WithoutListener()}
	synctest.Test(t, func(t *testing.T) {
		var err error
		report, err = sweep.Sweep(t.Context(), config, func(ctx context.Context, a sweep.Attempt) sweep.Outcome {
			w := a.World
			s := &session{http.Client{Transport: w.Transport(), Timeout: 30 * time.Second}, w.URL, w.SecretKey}
			if err := programs[name](ctx, s, w.Shipments()[0]); err != nil {
				return sweep.Outcome{How: err.Error()}
			}
			return sweep.Outcome{Success: true, How: "success"}
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	return report
}

func TestSweep_Programs(t *testing.T) {
	for name, want := range map[string]struct {
		verdicts []sweep.Verdict
		first    string // the first failing schedule
	}{
		"starts over after any error":       {[]sweep.Verdict{sweep.PaidTwice}, "regulatory.purchase#1:lost-after"},
		"sends the purchase again":          {[]sweep.Verdict{sweep.SentAgain, sweep.Lint}, "regulatory.purchase#1:lost-before"},
		"gives up after the purchase":       {[]sweep.Verdict{sweep.Unsettled}, "regulatory.purchase#1:lost-after"},
		"ignores errors":                    {[]sweep.Verdict{sweep.Missing}, "regulatory.analyze#1:lost-before"},
		"does not wait for Retry-After":     {[]sweep.Verdict{sweep.Lint}, "regulatory.analyze#1:503"},
		"looks once and starts over":        {[]sweep.Verdict{sweep.PaidTwice}, "regulatory.purchase#1:arrives-late"},
		"reads the request after any error": {},
	} {
		t.Run(name, func(t *testing.T) {
			report := sweepOf(t, name, sweep.Config{})
			var verdicts []sweep.Verdict
			for _, r := range report.Failing() {
				for _, f := range r.Findings {
					if !slices.Contains(verdicts, f.Verdict) {
						verdicts = append(verdicts, f.Verdict)
					}
				}
			}
			failing := report.Failing()
			if !slices.Equal(verdicts, want.verdicts) || (len(failing) > 0 && failing[0].Schedule != want.first) {
				var text strings.Builder
				_ = report.WriteText(&text)
				t.Errorf("verdicts %v, want %v, first at %s:\n%s", verdicts, want.verdicts, want.first, &text)
			}
			if len(failing) == 0 {
				return
			}
			only, err := sweep.ParseSchedule(failing[0].Schedule)
			if err != nil {
				t.Fatal(err)
			}
			again := sweepOf(t, name, sweep.Config{Only: only})
			if len(again.Results) != 1 || !slices.Equal(again.Results[0].Findings, failing[0].Findings) {
				t.Errorf("%s again finds %v, before %v", only, again.Results, failing[0].Findings)
			}
		})
	}
}

// A limit chooses among all schedules, pairs included, and the report counts the others.
func TestSweep_MaxRuns(t *testing.T) {
	const name, all = "reads the request after any error", 24
	for _, limit := range []int{1, 7, all, all + 5} {
		report := sweepOf(t, name, sweep.Config{MaxRuns: limit, Pairs: limit > all})
		if len(report.Results) != limit || (report.Left == 0) != (limit == all) {
			t.Errorf("limit %d: %d runs, %d left", limit, len(report.Results), report.Left)
		}
	}
}
