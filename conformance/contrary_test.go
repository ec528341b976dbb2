package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// A service that makes another choice at an open point conforms, and every check of it is made. Two choices of the
// server are not left open by the specification: it lists the states, and has pages of 100. They are failures until a
// dialect declares them.
func TestCheck_NoOtherChoiceIsAFailure(t *testing.T) {
	t.Parallel()
	failures := map[string][]string{
		"record.states": {states +
			"/a purchased request ends in completed or failed, by way of purchasing and processing only"},
	}
	for _, op := range operations.All() {
		if op.Pages {
			failures["a small cap"] = append(failures["a small cap"], "Limits/perPage of "+op.Route+" is 100 by default")
		}
	}
	declares := map[string]string{"list.order": "list.order = oldest first", "refusal.code": "refusal.code = data.code",
		"list.max_per_page": "list.max_per_page = 100", "record.at": "record.at = request"}
	all := shippingtest.Choices(t)
	for name := range all {
		if strings.HasPrefix(name, "all") {
			all[name].Record.States = nil
		}
	}
	all["record.states"].Time.Generation = 1000 // the status is seen, however busy the machine is
	all["a small cap"] = shippingtest.Dialect(t, "list.max_per_page=50")
	t.Attr("cases", fmt.Sprintf("%d choices", len(all)-len(failures)))
	for name, d := range all {
		inBubble(t, name, func(t *testing.T) {
			srv := serve(t, d)
			report := check(t, srv, srv, whole()...)
			if want := failures[name]; want != nil {
				slices.Sort(want)
				failed := slices.DeleteFunc(report.Results,
					func(r conformance.CheckResult) bool { return r.Verdict != conformance.Fail })
				shippingtest.Diff(t, "failed", want, checks(conformance.Report{Results: failed}))
				// A declaration of the file is not a failure.
				again := check(t, srv, srv, append(whole(), conformance.WithDialect(d))...)
				none(t, again, conformance.Fail)
				return
			}
			if want := declares[name]; want != "" {
				shippingtest.Diff(t, "lines", []string{want}, report.Lines)
			}
			none(t, report, conformance.Fail, conformance.NotRun, conformance.Skipped)
		})
	}
}
