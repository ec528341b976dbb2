package regulatory_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
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

// TestRequests_CountTheirBytesAndChanges: the bytes are those of the drafts, edited or not. What a purchase and the
// generation add is not in them. Each change is counted.
func TestRequests_CountTheirBytesAndChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.analyze(parcel), w.analyze(perfume)
	if got, want := w.Bytes(), len(first.JSON())+len(second.JSON()); got != want || w.Stored() != 2 {
		t.Errorf("%d bytes, want %d; stored %d times, want 2", got, want, w.Stored())
	}
	edited := must[*regulatory.Record](t)(w.UpdateProfile(first.RequestID, "CUSTOMS", regulatory.Profile{"incoterm": json.RawMessage(`"CPT"`)}))
	want := len(edited.JSON()) + len(second.JSON())
	if len(edited.JSON()) == len(first.JSON()) || w.Bytes() != want || w.Stored() != 3 {
		t.Errorf("edited: %d bytes, want %d; stored %d times, want 3", w.Bytes(), want, w.Stored())
	}
	w.purchase(edited, "CUSTOMS")
	stored := w.Stored()
	w.advance(time.Minute)
	if w.Bytes() != want || stored <= 3 || w.Stored() <= stored {
		t.Errorf("purchased: %d bytes, want %d; stored %d times, then %d", w.Bytes(), want, stored, w.Stored())
	}
	if later := w.resumed(w.Snapshot(), 0); later.Bytes() != want || later.Len() != 2 {
		t.Errorf("resumed: %d bytes and %d requests, want %d and 2", later.Bytes(), later.Len(), want)
	}
}
