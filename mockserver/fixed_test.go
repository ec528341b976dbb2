package mockserver_test

import (
	"net/http"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/fault"
)

func TestCountries_AreNotSentToThoseWhoHaveThem(t *testing.T) {
	t.Parallel()
	srv := start(t)
	const path = "/v1/countries"
	tag := get(t, srv, path).want(t, http.StatusOK).header.Get("Etag")
	if tag == "" {
		t.Fatal("the list has no tag")
	}
	for condition, status := range map[string]int{
		tag: http.StatusNotModified, `"other", W/` + tag: http.StatusNotModified, "*": http.StatusNotModified, `"other"`: http.StatusOK, "": http.StatusOK,
	} {
		got := do(t, srv, http.MethodGet, path, "", "If-None-Match", condition).want(t, status)
		if (len(got.body) == 0) != (status == http.StatusNotModified) || got.header.Get("Etag") != tag {
			t.Errorf("%s: %d with %d bytes and the tag %s", condition, got.status, len(got.body), got.header.Get("Etag"))
		}
	}
	do(t, srv, http.MethodGet, path, "", "Authorization", "Bearer wrong", "If-None-Match", tag).want(t, http.StatusUnauthorized)
	inject(t, srv, fault.Rule{Operation: shipping.OpListCountries, Nth: 1, Fault: fault.Malformed()})
	if struck := do(t, srv, http.MethodGet, path, "", "If-None-Match", tag).want(t, http.StatusOK); struck.header.Get("Etag") != "" {
		t.Errorf("a response that a fault struck has the tag %s", struck.header.Get("Etag"))
	}
}
