package wire

import (
	"net/http"
	"net/url"
	"testing"
)

// Parameter returns what net/url parses.
func TestCall_ParameterIsThatOfTheQuery(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"", "page=2", "perPage=81&page=2", "page=2&page=3", "page", "page=", "=page", "&&page=2&", "page=2=3", "xpage=1&pagex=3",
		"%70age=2", "page=%32", "page=1+2", "page=1;page=2", "page=%zz", "page=%zz&page=3", "wallet=a%26page=4", "PAGE=1", "?page=1",
	} {
		c := Call{Request: &http.Request{URL: &url.URL{RawQuery: raw}}}
		for _, name := range []string{"page", "perPage", "wallet"} {
			if got, want := c.Parameter(name), c.Query().Get(name); got != want {
				t.Errorf("%q: %s is %q, want %q", raw, name, got, want)
			}
		}
	}
}
