package sweep_test

import (
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

// A program that pays twice and one that repeats the same purchase, which the service performs once, had the same mark.
func TestReport_MarksOfDoublePurchases(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"starts over after any error": "regulatory.purchase#1  · X\n",
		"repeats the same purchase":   "regulatory.purchase#1  R R\n",
		"gives up after the purchase": "regulatory.purchase#1  · !\n",
	} {
		text := textOf(sweepOf(t, named(t, name), sweep.Config{Faults: []string{"lost-before", "lost-after"}}))
		shippingtest.Contains(t, name, text, want)
		for _, mark := range []string{"X paid twice", "R sent again", "! another finding"} {
			shippingtest.Diff(t, name+": legend of "+mark, strings.Contains(want, mark[:1]), strings.Contains(text, mark))
		}
	}
}
