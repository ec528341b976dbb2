package conformance

import "testing"

// A wrong reference was a nil dereference that did not name it.
func TestSchema_NamesAWrongReference(t *testing.T) {
	t.Parallel()
	defer func() {
		if got := recover(); got != "service.json has no schema #/components/schemas/RateX" {
			t.Errorf("panic with %v", got)
		}
	}()
	(&schema{Ref: "#/components/schemas/RateX"}).resolve(map[string]*schema{"Rate": {}})
}
