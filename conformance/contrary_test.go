package conformance_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// choices are the other choices of the reference server, without those that a run sees as failures or not at all.
func choices(t *testing.T) map[string]*dialect.Dialect {
	all := shippingtest.Choices(t)
	for _, name := range []string{"all", "all, with every member", "all, refused in the envelope"} {
		all[name].List.Breakdown, all[name].Time.Unlisted = "", 0
	}
	// It is seen, however busy the machine is.
	all["time.unlisted"].Time = dialect.Time{Unlisted: dialect.Duration(time.Hour), Generation: 1000}
	all["time.unlisted"].Record.States = map[string]string{"queued": "generating"}
	all["a small cap"] = &dialect.Dialect{List: dialect.List{MaxPerPage: 50}}
	return all
}

// A service that makes another choice at an open point conforms, and every check of it is made. Three choices
// of the server are not left open by the specification: it shows a breakdown as a list, lists the states, and has pages
// of 100. They are failures until a dialect declares them.
func TestCheck_NoOtherChoiceIsAFailure(t *testing.T) {
	t.Parallel()
	failures := map[string][]string{
		"list.breakdown": {"Rate/every record has the fields of the table, each of its type and format"},
		"time.unlisted": {"States and transitions/a purchased request ends in completed or failed, by way of purchasing " +
			"and processing only"},
	}
	for _, op := range operations.All() {
		if op.Pages {
			failures["a small cap"] = append(failures["a small cap"], "Limits/perPage of "+op.Route+" is 100 by default")
		}
	}
	declares := map[string]string{"list.order": "list.order: oldest first", "refusal.code": "refusal.code: data.code",
		"list.max_per_page": "list.max_per_page: 100", "record.at": "record.at: request"}
	all := choices(t)
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
				// What the file declares is no failure.
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
