package mockserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// raw sends a request over a socket and returns the lines of the response's header, sorted, and everything behind it.
func raw(t *testing.T, srv *mockserver.Server, path string) (head []string, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", path, conn.RemoteAddr(), srv.SecretKey); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "\r\n" {
			break
		}
		head = append(head, strings.TrimSuffix(line, "\r\n"))
	}
	rest, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(head)
	return head, string(rest)
}

// The response on a socket is the one of the fault, byte for byte.
func TestRespond_SendsExactlyTheResponse(t *testing.T) {
	t.Parallel()
	const own = "Connection: close"
	without := http.Header{"Date": nil, "X-Request-Id": nil, "X-Mock-Why": nil}
	with := func(header http.Header) http.Header {
		for name := range without {
			header[name] = nil
		}
		return header
	}
	for name, test := range map[string]struct {
		fault fault.Fault
		head  []string
		body  string
	}{
		"malformed JSON, with a header of several lines": {
			fault.Respond(200, with(http.Header{"content-type": {"application/json"}, "Set-Cookie": {"a=b", "c=d"}}), `{"status":true,"data":{`),
			[]string{own, "Content-Length: 23", "Content-Type: application/json", "HTTP/1.1 200 OK", "Set-Cookie: a=b", "Set-Cookie: c=d"}, `{"status":true,"data":{`,
		},
		"no Content-Type": {
			fault.Respond(418, without, "<html>"), []string{own, "Content-Length: 6", "HTTP/1.1 418 I'm a teapot"}, "<html>",
		},
		"bytes that are not text": {
			fault.Respond(599, without, "\x1f\x8b\x00\xff"), []string{own, "Content-Length: 4", "HTTP/1.1 599 status code 599"}, "\x1f\x8b\x00\xff",
		},
		"no body": {
			fault.Respond(200, without, ""), []string{own, "Content-Length: 0", "HTTP/1.1 200 OK"}, "",
		},
		"a status without a body": {
			fault.Respond(204, without, ""), []string{own, "HTTP/1.1 204 No Content"}, "",
		},
		"what looks like a key": {
			fault.Respond(401, without, "sk_test_0123456789abcdef0123456789abcdef is wrong"),
			[]string{own, "Content-Length: 49", "HTTP/1.1 401 Unauthorized"}, "sk_test_0123456789abcdef0123456789abcdef is wrong",
		},
		"a header that the server would send": {
			fault.Respond(200, http.Header{"Date": {"soon"}, "X-Request-Id": {"mine", "and mine"}, "X-Mock-Why": {"because"}}, "a"),
			[]string{own, "Content-Length: 1", "Date: soon", "HTTP/1.1 200 OK", "X-Mock-Why: because", "X-Request-Id: and mine", "X-Request-Id: mine"}, "a",
		},
	} {
		for when, committed := range map[string]bool{"before": false, "after": true} {
			t.Run(name+" "+when, func(t *testing.T) {
				t.Parallel()
				srv := start(t)
				inject(t, srv, fault.Rule{Committed: committed, Fault: test.fault})
				for range 2 { // nothing of it is used up
					head, body := raw(t, srv, "/v1/rates")
					if diff := cmp.Diff(test.head, head); diff != "" || body != test.body {
						t.Errorf("body %q, header (-want +got):\n%s", body, diff)
					}
				}
				if calls := srv.Find(journal.Query{Faulted: true}); len(calls) != 2 || calls[0].Status != test.fault.Status || calls[0].ErrorCode != "" {
					t.Errorf("%+v", calls)
				}
			})
		}
	}
}

// A response that is cut off has the announced length of the whole one.
func TestRespond_CombinesWithWhatChangesAResponse(t *testing.T) {
	t.Parallel()
	srv := start(t)
	inject(t, srv, fault.Rule{Fault: fault.Respond(200, http.Header{"Content-Type": {"text/csv"}}, "0123456789")},
		fault.Rule{Fault: fault.Truncate(4)}, fault.Rule{Fault: fault.ContentType("text/plain")})
	head, body := raw(t, srv, "/v1/countries")
	if body != "0123" || !slices.Contains(head, "Content-Length: 10") || !slices.Contains(head, "Content-Type: text/plain") {
		t.Errorf("%q: %q", head, body)
	}
}

// A fault that was injected as JSON reaches the Go client unchanged.
func TestRespond_IsTakenAsJSONAndReachesTheClient(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for _, test := range []struct {
		body string
		want string // in the error; empty for none
		ids  []string
	}{
		{`{"status":true,"message":"ok","data":{"rates":[{"rate_id":"RT-1"}],"pagination":{"total":1,"perPage":100,"page":1,"pageCount":1}}}`, "", []string{"RT-1"}},
		{`{"status":true,"message":"ok","data":{"rates":[{"rate_id":"RT-1"`, "rates.list", nil},
		{"\ufeff{}", "rates.list", nil},
	} {
		post(t, srv, "/_mock/faults", fmt.Sprintf(
			`{"rules":[{"operation":"rates.list","first":1,"fault":{"kind":"respond","status":200,"header":{"Content-Type":"application/json","X-Two":["a","b"]},"body":%s}}]}`, quoted(t, test.body))).want(t, 200)
		page, err := srv.Client(t).Rates.List(t.Context(), nil)
		calls := srv.Find(journal.Query{Operation: shipping.OpListRates})
		if last := calls[len(calls)-1]; last.ResponseBody != test.body || !strings.HasSuffix(last.Fault, ": respond") {
			t.Errorf("%+v", last)
		}
		if test.want != "" {
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%q: %v", test.body, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", test.body, err)
			continue
		}
		var ids []string
		for _, rate := range page.Items {
			ids = append(ids, rate.RateID)
		}
		if diff := cmp.Diff(test.ids, ids); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.body, diff)
		}
	}
}

func quoted(t *testing.T, text string) string {
	t.Helper()
	encoded, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
