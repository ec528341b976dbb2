package sweep

import "testing"

// A sweep did not recognize requests if the service wraps the record, and compared them by ids that differ in each run.
func TestRecordOf(t *testing.T) {
	t.Parallel()
	const record = `{"request_id":"RD-1","status":"draft"}`
	for _, data := range []string{record, "[" + record + "]", `{"request":` + record + `}`, `{"a":1,"document":` + record + `}`} {
		if got := recordOf(`{"data":` + data + `}`); got.RequestID != "RD-1" || got.Status != "draft" {
			t.Errorf("%s: %q %q", data, got.RequestID, got.Status)
		}
	}
	for _, body := range []string{"", `{"data":{"request_id"`, `{"data":[]}`, `{"data":{}}`, `{"data":"x"}`} {
		if got := recordOf(body); got.RequestID != "" {
			t.Errorf("%s: %q", body, got.RequestID)
		}
	}
}
