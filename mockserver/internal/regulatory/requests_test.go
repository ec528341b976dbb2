package regulatory_test

import (
	"slices"
	"testing"
)

func TestRequests_AreListedNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []string
	for range 5 {
		ids = slices.Insert(ids, 0, w.analyze(parcel).RequestID)
	}
	for _, test := range []struct {
		skip, most  int
		first, last int // of ids
	}{
		{0, 5, 0, 5}, {0, 9, 0, 5}, {0, 2, 0, 2}, {2, 2, 2, 4}, {4, 2, 4, 5}, {5, 2, 0, 0}, {9, 2, 0, 0}, {-1, 1, 0, 1}, {0, 0, 0, 0}, {0, -1, 0, 0},
	} {
		var got []string
		for _, record := range w.Newest(test.skip, test.most) {
			got = append(got, record.RequestID)
		}
		if !slices.Equal(got, ids[test.first:test.last]) {
			t.Errorf("%d after %d: %v, want %v", test.most, test.skip, got, ids[test.first:test.last])
		}
	}
}
