package wire

import (
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// A request looks as a plain http.Client would send it: the same header, the same frames, the same body.
func TestHeader_AsAPlainClientSendsIt(t *testing.T) {
	t.Parallel()
	unencrypted := &http.Transport{Protocols: new(http.Protocols)}
	unencrypted.Protocols.SetUnencryptedHTTP2(true)
	for protocol, test := range map[string]struct {
		transport *http.Transport
		serve     func(*service, net.Conn)
		play      func(*connection) bool
	}{
		"HTTP/1.1": {&http.Transport{}, serveHTTP1, func(c *connection) bool { _, err := io.WriteString(c.net, whole); return err == nil }},
		"HTTP/2":   {unencrypted, serveHTTP2, (*connection).respond},
	} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			defer test.transport.CloseIdleConnections()
			s := listen(t, nil, test.serve)
			defer s.close()
			s.play = test.play
			c := newCaller(t, "http://"+s.address(), test.transport)
			for _, op := range operations() {
				if err := op.call(t.Context(), c.Client); err != nil {
					t.Fatal(err)
				}
				sent := s.seen()[len(s.seen())-1]
				if (sent.body != "") != op.body {
					t.Errorf("%s: the body is %q", op.name, sent.body)
				}
				sendPlain(t, test.transport, s, op, sent)
				plain := s.seen()[len(s.seen())-1]
				if !slices.Equal(sent.header, plain.header) || sent.body != plain.body || sent.frames != plain.frames {
					t.Errorf("%s:\n%+v\na plain client sends\n%+v", op.name, sent, plain)
				}
			}
		})
	}
}

func sendPlain(t *testing.T, transport http.RoundTripper, s *service, op operation, sent received) {
	t.Helper()
	var body io.Reader
	if op.body {
		body = strings.NewReader(sent.body)
	}
	r, err := http.NewRequestWithContext(t.Context(), op.method, "http://"+s.address()+op.path, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range sent.header {
		name, value, _ := strings.Cut(line, ": ")
		switch strings.ToLower(name) {
		case "accept", "authorization", "content-type", "user-agent":
			r.Header.Set(name, value)
		}
	}
	response, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
}
