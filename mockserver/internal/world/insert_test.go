package world

import "testing"

func TestAnother_ChangesTheFirstMember(t *testing.T) {
	t.Parallel()
	got, err := another([]byte(`{"pickup_id":"PU-1","address":{"pickup_id":"PU-1"},"tags":[]}`), "7K2M")
	if want := `{"pickup_id":"PU-1-7K2M","address":{"pickup_id":"PU-1"},"tags":[]}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	for _, record := range []string{``, `{}`, `[]`, `{"a":`} {
		if got, err := another([]byte(record), "7K2M"); err == nil {
			t.Errorf("%s has no first member, and becomes %s", record, got)
		}
	}
}
