package sweep_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

// job is the environment of a program without the client.
type job struct {
	http.Client
	url, key string
	files    map[string]string // of the run, which outlive the program
}

func newJob(w *mockserver.World, files map[string]string) *job {
	return &job{http.Client{Transport: w.Transport(), Timeout: 30 * time.Second}, w.URL, w.SecretKey, files}
}

// refused is the error of a response with another status than 200, or whose member status is false.
type refused int

func (r refused) Error() string { return fmt.Sprint(int(r), " ", http.StatusText(int(r))) }

// call sends a request and reads the data of the response.
func (s *job) call(ctx context.Context, method, path string, in, data any) error {
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
		return refused(resp.StatusCode)
	}
	envelope := struct {
		Status bool
		Data   any
	}{Data: data}
	if err := json.Unmarshal(text, &envelope); err != nil {
		return err
	}
	if !envelope.Status {
		return refused(resp.StatusCode)
	}
	return nil
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

func (s *job) analyze(ctx context.Context, shipment string) (r record, err error) {
	err = s.call(ctx, "POST", "/v1/regulatory-documents/analyze", map[string]string{"shipment_id": shipment}, &r)
	return r, err
}

func (s *job) purchase(ctx context.Context, r record) error {
	var types []string
	for _, d := range r.Documents {
		if d.Mode != "manual" {
			types = append(types, d.Type)
		}
	}
	return s.call(ctx, "POST", "/v1/regulatory-documents/purchase",
		map[string]any{"request_id": r.ID, "document_types": types}, &record{})
}

func (s *job) get(ctx context.Context, id string) (r record, err error) {
	err = s.call(ctx, "GET", "/v1/regulatory-documents/request/"+id, struct{}{}, &r)
	return r, err
}

// buys reports whether the service has purchased a request. It is false for a draft.
func (s *job) buys(ctx context.Context, id string) (bool, error) {
	r, err := s.get(ctx, id)
	return err == nil && r.Status != "draft", err
}

// sweepOf sweeps a program in virtual time.
func sweepOf(t *testing.T, p program, config sweep.Config) (report *sweep.Report) {
	t.Helper()
	config.Options, config.Timeout = append(config.Options, mockserver.WithoutListener()),
		cmp.Or(config.Timeout, time.Hour)
	runs := map[int]map[string]string{} // the files of each run
	synctest.Test(t, func(t *testing.T) {
		run := func(ctx context.Context, a sweep.Execution) sweep.Outcome {
			if runs[a.Run] == nil {
				runs[a.Run] = map[string]string{}
			}
			if err := p.buy(ctx, newJob(a.World, runs[a.Run]), a.World.Shipments()[0]); err != nil {
				return sweep.Outcome{How: "exit code 1", Output: err.Error()}
			}
			return sweep.Outcome{Success: true, How: "success", Files: runs[a.Run]}
		}
		report = shippingtest.Must(sweep.Sweep(t.Context(), config, run))(t)
	})
	return report
}

// textOf returns a report as the command prints it.
func textOf(report *sweep.Report) string {
	var text strings.Builder
	_ = report.WriteText(&text) // a strings.Builder takes everything
	return text.String()
}

// Each program makes another mistake. Those that can pay twice are found, unless the table states why they cannot be.
// docs/sweep.md lists what cannot be found.
func TestSweep_Programs(t *testing.T) {
	t.Parallel()
	marks, guide := regexp.MustCompile("[*`[]|\n  |]\\S*"), shippingtest.Must(os.ReadFile("../../docs/sweep.md"))(t)
	rules := strings.ToLower(marks.ReplaceAllString(string(guide), ""))
	for _, p := range programs(t) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			report := sweepOf(t, p, p.config)
			found := map[sweep.Verdict][]string{}
			for _, r := range report.Failing() {
				for _, f := range r.Findings {
					found[f.Verdict] = append(found[f.Verdict], r.Schedule)
					_, rule, named := strings.Cut(f.Rule, ": ")
					if !strings.Contains(rules, strings.ToLower(rule)) || !named && f.Verdict == sweep.PaidTwice {
						t.Errorf("%s: docs/sweep.md does not have the rule %q", r.Schedule, f.Rule)
					}
				}
			}
			for verdict, schedules := range p.found {
				for _, schedule := range schedules {
					if !slices.Contains(found[verdict], schedule) {
						t.Errorf("%s is not found by %q", verdict, schedule)
					}
				}
				t.Logf("%s: %q", verdict, found[verdict])
			}
			for verdict, schedules := range found {
				if p.found[verdict] == nil {
					t.Errorf("%s is found by %q", verdict, schedules)
				}
			}
			if p.config.Pairs && p.found[sweep.PaidTwice] != nil { // no single fault finds it
				for _, r := range sweepOf(t, p, sweep.Config{}).Failing() {
					if r.Findings[0].Verdict == sweep.PaidTwice {
						t.Errorf("%s finds it, without a second fault", r.Schedule)
					}
				}
			}
			if t.Failed() {
				t.Log(textOf(report))
			}
		})
	}
}

// course describes a run, but leaves out the faults that struck and the number of equal polls.
func course(r sweep.RunResult) []string {
	lines := []string{r.How, r.Output}
	for _, q := range r.Requests {
		lines = append(lines, fmt.Sprint(q.Operation, q.Status))
	}
	return slices.Compact(lines)
}

// A row whose fault changed no response passed: sweeps seemed to try more than they did.
func TestFaults_ChangeTheCourseOfARun(t *testing.T) {
	t.Parallel()
	reads := program{buy: func(ctx context.Context, s *job, shipment string) error {
		var rates struct{ Pagination struct{ Total int } }
		err := s.call(ctx, "GET", "/v1/rates", struct{}{}, &rates)
		if total := rates.Pagination.Total; total != 250 {
			return fmt.Errorf("%d rates, %v", total, err)
		}
		return startsOverIfFailed(ctx, s, shipment)
	}}
	receives := shippingtest.Must(sweepNotified(t, sweep.Config{}, func(ctx context.Context, s *job) http.Handler {
		return newNotified(ctx, s, habits{unsigned: true})
	}))(t)
	changed := map[string]bool{}
	for _, report := range []*sweep.Report{sweepOf(t, reads, sweep.Config{Restart: true}), receives} {
		for _, r := range report.Results {
			_, name, _ := strings.Cut(r.Schedule, ":")
			changed[name] = changed[name] || !slices.Equal(course(r), course(report.WithoutFaults))
		}
	}
	for _, f := range sweep.Faults() {
		if !changed[f.Name] {
			t.Errorf("the fault %s changes no run: let the program above fail on its response", f.Name)
		}
	}
}

// A limit chooses among all schedules, pairs included, and the report counts the others.
func TestSweep_MaxRuns(t *testing.T) {
	t.Parallel()
	p := named(t, "reads the request after any error, and leaves it unknown")
	all := len(sweepOf(t, p, sweep.Config{}).Results)
	for _, limit := range []int{1, 7, all, all + 5} {
		report := sweepOf(t, p, sweep.Config{MaxRuns: limit, Pairs: limit > all})
		if len(report.Results) != limit || (report.Left == 0) != (limit == all) {
			t.Errorf("limit %d of %d: %d runs, %d left", limit, all, len(report.Results), report.Left)
		}
	}
}
