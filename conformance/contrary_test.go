package conformance_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/mockserver/assumption"
)

// choices are the other choices of the reference server, each alone, and all of them as Contrary makes them.
func choices() map[string]func(*assumption.Set) {
	all := map[string]func(*assumption.Set){
		"all": assumption.Contrary,
		"all, with every member": func(a *assumption.Set) {
			assumption.Contrary(a)
			a.MinimalRecord, a.MinimalPurchase = false, false
		},
		"all, refused in the envelope": func(a *assumption.Set) {
			assumption.Contrary(a)
			a.ProblemRefusals, a.AnalyzeFailureOK = false, false
		},
	}
	var contrary assumption.Set
	assumption.Contrary(&contrary)
	for field, value := range reflect.ValueOf(contrary).Fields() {
		if field.Tag.Get("contrary") != "-" {
			all[field.Name] = func(a *assumption.Set) { reflect.ValueOf(a).Elem().FieldByIndex(field.Index).Set(value) }
		}
	}
	return all
}

// A service that makes another choice at an open point conforms, and every check of it is made. Two switches of the
// server are not left open by the specification: it shows a breakdown as a list, and lists the states.
func TestCheck_NoOtherChoiceIsAFailure(t *testing.T) {
	t.Parallel()
	failures := map[string]string{
		"ObjectBreakdown": "Rate/every record has the fields of the table, each of its type and format",
		"UnknownState":    "States and transitions/a purchased request is not a draft",
	}
	reported := map[string]string{"OpenOperations": "it succeeds without", "RuleFailureStatus": "HTTP status 422", "LastPageNull": "nextPage is null"}
	all := choices()
	t.Attr("cases", fmt.Sprintf("%d choices", len(all)-len(failures)))
	for name, edit := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, edit, func(a *assumption.Set) {
				switch {
				case strings.HasPrefix(name, "all"):
					a.ObjectBreakdown, a.UnknownState = false, 0
				case name == "UnknownState":
					a.UnknownState, a.GenerationScale = time.Hour, 1000 // it is seen, however busy the machine
				}
			})
			report := conformance.Check(t.Context(), target(srv), whole(srv, srv.Transport())...)
			failed := strings.Join(verdicts(report, conformance.Fail), "\n")
			if want := failures[name]; want != "" {
				if !strings.HasPrefix(failed, want) {
					t.Errorf("failed: %s", failed)
				}
				return
			}
			if found := strings.Join(verdicts(report, conformance.Assumption), "\n"); !strings.Contains(found, reported[name]) {
				t.Errorf("no assumption contains %q:\n%s", reported[name], found)
			}
			for _, v := range []conformance.Verdict{conformance.Fail, conformance.NotRun, conformance.Skipped} {
				if diff := cmp.Diff([]string(nil), verdicts(report, v)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", v, diff)
				}
			}
		})
	}
}
