package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const round = `goos: linux
cpu: Abacus 3000
BenchmarkList/100_rates/raw-8         	 100	 1000 ns/op	 80.0 MB/s	 400 B/op	 20 allocs/op
BenchmarkList/100_rates/shipping-8    	 100	  250 ns/op	 90.0 MB/s	 100 B/op	  5 allocs/op
BenchmarkOne/one_user/go-github       	 100	   50 ns/op
PASS
`

func TestNamesLoseWhatTheTestingPackageAdds(t *testing.T) {
	t.Parallel()
	var s samples
	if err := s.addRound([]byte(round)); err != nil {
		t.Fatal(err)
	}
	want := []string{"List/100 rates/raw", "List/100 rates/shipping", "One/one user/go-github"}
	if diff := cmp.Diff(want, s.names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if s.cpu != "Abacus 3000" {
		t.Errorf("cpu = %q", s.cpu)
	}
}

func TestARatioIsTakenWithinItsRound(t *testing.T) {
	t.Parallel()
	var s samples
	slowRound := strings.NewReplacer("1000 ns", "8000 ns", " 250 ns", " 1600 ns").Replace(round)
	slowest := strings.NewReplacer("1000 ns", "9000 ns", " 250 ns", " 2700 ns").Replace(round)
	for _, output := range []string{round, slowRound, slowest} {
		if err := s.addRound([]byte(output)); err != nil {
			t.Fatal(err)
		}
	}
	got, ok := s.ratio("List/100 rates/shipping", "List/100 rates/raw", "ns/op")
	if want := (spread{0.25, 0.2, 0.3}); !ok || got != want {
		t.Errorf("ratio = %v, %t, want %v", got, ok, want)
	}
}

func TestMedians(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 2, 9}, 3},
	} {
		if got, ok := spreadOf(test.values); !ok || got.median != test.want {
			t.Errorf("median of %v = %v, want %v", test.values, got.median, test.want)
		}
	}
	if _, ok := spreadOf(nil); ok {
		t.Error("nothing has no median")
	}
}

func TestWhatIsNoResultIsRefused(t *testing.T) {
	t.Parallel()
	for name, output := range map[string]string{
		"nothing measured": "PASS\n",
		"a value missing":  "BenchmarkList/raw 100 5\n",
		"not a number":     "BenchmarkList/raw 100 five ns/op\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := new(samples).addRound([]byte(output)); err == nil {
				t.Error("want an error")
			}
		})
	}
}
