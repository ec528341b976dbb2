package promises_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
)

// hostileAnswer is a response that no honest service sends, or only under stress.
type hostileAnswer struct {
	// write sends it; success is the body that an honest service would send.
	write func(to net.Conn, success string)
	// want is what the error is: nil for a success, errAny where either will do.
	want error
	// status is the error's StatusCode; 0 if it is not checked.
	status int
	// asked is the error's RetryAfter.
	asked time.Duration
	// again is true where an operation that is safe to repeat asks again.
	again bool
	// endless responses end only with the time of the attempt.
	endless bool
	// refuses is true if the service itself refuses, and confirms if the response may count as a confirmation.
	refuses, confirms bool
}

// errAny is a result or a typed error: other tests cover how tolerant reading is.
var errAny = errors.New("a result or a typed error")

// expected is what the call of an operation ends with.
func (a hostileAnswer) expected(operation string) error {
	switch {
	case operation == shipping.OpDocumentPDF && a.status == 200 && (a.want == errAny || a.want == shipping.ErrInvalidRequest):
		return shipping.ErrUnexpectedBody // in any case it is not a PDF
	case operation == "do" && a.status == 204:
		return nil // it may have no body
	}
	return a.want
}

// wireAnswer is an HTTP response, byte for byte.
func wireAnswer(status, body string, headers ...string) string {
	return "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nContent-Length: " + fmt.Sprint(len(body)) + "\r\nConnection: close\r\n" +
		joinLines(headers) + "\r\n" + body
}

func joinLines(headers []string) string {
	var b strings.Builder
	for _, header := range headers {
		b.WriteString(header + "\r\n")
	}
	return b.String()
}

// bytesOf writes a text and nothing else.
func bytesOf(text string) func(net.Conn, string) {
	whole := []byte(text)
	return func(to net.Conn, _ string) { _, _ = to.Write(whole) }
}

// around writes the honest body between two texts, as a response whose end is that of the connection.
func around(before, after string) func(net.Conn, string) {
	return func(to net.Conn, success string) { _, _ = io.WriteString(to, before+success+after) }
}

// withoutEnd writes the start, and then a piece again and again until the other side has had enough.
func withoutEnd(start, piece string) func(net.Conn, string) {
	pieces := []byte(strings.Repeat(piece, 1+(16<<10)/len(piece)))
	return func(to net.Conn, _ string) {
		_, err := io.WriteString(to, start)
		for err == nil {
			_, err = to.Write(pieces)
		}
	}
}

// drip writes the start at once, and the rest a byte a second.
func drip(start, rest string) func(net.Conn, string) {
	return func(to net.Conn, _ string) {
		closed := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, to)
			close(closed)
		}()
		_, err := io.WriteString(to, start)
		second := time.NewTicker(time.Second)
		defer second.Stop()
		for i := 0; i < len(rest) && err == nil; i++ {
			_, err = to.Write([]byte{rest[i]})
			select {
			case <-second.C:
			case <-closed: // by the other side
				return
			}
		}
	}
}

// silence writes a text and leaves the connection open until the other side closes it.
func silence(start string) func(net.Conn, string) {
	return func(to net.Conn, _ string) {
		_, _ = io.WriteString(to, start)
		_, _ = io.Copy(io.Discard, to)
	}
}

func compressed(body string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = io.WriteString(w, body) // into memory: it never fails
	_ = w.Close()
	return out.String()
}

const (
	closing   = "Connection: close\r\n\r\n"
	head      = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	openBody  = head + closing
	chunkBody = head + "Transfer-Encoding: chunked\r\n\r\n"
)

// hostileAnswers is the table of them.
func hostileAnswers() map[string]hostileAnswer {
	all := map[string]hostileAnswer{}
	for _, part := range []map[string]hostileAnswer{bodiesAndLengths(), headersAndLines(), otherShapes(), refusals(), interim()} {
		for name, answer := range part {
			all[name] = answer
		}
	}
	return all
}

// bodiesAndLengths are bodies that don't end, end early, or are not as long as they were said to be.
func bodiesAndLengths() map[string]hostileAnswer {
	large, cut, nothing, wrong := shipping.ErrBodyTooLarge, shipping.ErrTruncated, shipping.ErrConnection, shipping.ErrUnexpectedBody
	bomb := compressed(`{"status":true,"data":"` + strings.Repeat("x", 64<<20) + `"}`)
	whole := compressed(`{"status":true,"message":"` + strings.Repeat("abc", 1000) + `"}`)
	gzipped := head + "Content-Encoding: gzip\r\n" + closing
	return map[string]hostileAnswer{
		"body without end":                      {write: withoutEnd(openBody+`{"status":true,"message":"`, "x"), want: large, status: 200},
		"spaces without end":                    {write: withoutEnd(openBody, " "), want: large, status: 200},
		"chunks without end":                    {write: withoutEnd(chunkBody, "10\r\n0123456789abcdef\r\n"), want: large, status: 200},
		"chunk extension without end":           {write: withoutEnd(chunkBody+"1;", "x"), want: cut, status: 200, again: true},
		"trailer without end":                   {write: withoutEnd(chunkBody+"2\r\n{}\r\n0\r\n", "X-Trailer: x\r\n"), want: cut, status: 200, again: true},
		"error page without end":                {write: withoutEnd("HTTP/1.1 500 No\r\n"+closing, "x"), want: shipping.ErrServer, status: 500, again: true},
		"gzip bomb":                             {write: bytesOf(gzipped + bomb), want: large, status: 200},
		"gzip bomb on an error":                 {write: bytesOf("HTTP/1.1 500 No\r\nContent-Encoding: gzip\r\n" + closing + bomb), want: shipping.ErrServer, status: 500, again: true},
		"gzip cut":                              {write: bytesOf(gzipped + whole[:len(whole)/2]), want: cut, status: 200, again: true},
		"gzip cut in its header":                {write: bytesOf(gzipped + whole[:5]), want: cut, status: 200, again: true},
		"gzip with a wrong sum":                 {write: bytesOf(gzipped + whole[:len(whole)-8] + "wrongsum"), want: cut, status: 200, again: true},
		"gzip that is not gzip":                 {write: bytesOf(gzipped + `{"status":true}`), want: cut, status: 200, again: true},
		"an encoding nobody asked for":          {write: bytesOf(head + "Content-Encoding: br\r\n" + closing + "\x1b\x2a\x00\xf8"), want: wrong, status: 200},
		"one byte a second":                     {write: drip(openBody, `{"status":true,"message":"slow","data":{}}`), want: cut, status: 200, again: true, endless: true},
		"a body that stops":                     {write: silence(head + "Content-Length: 100\r\n\r\n{\"status\":"), want: cut, status: 200, again: true, endless: true},
		"nothing at all":                        {write: silence(""), want: nothing, again: true, endless: true},
		"closed at once":                        {write: bytesOf(""), want: nothing, again: true},
		"chunk cut":                             {write: bytesOf(chunkBody + "ff\r\n{\"status\":tr"), want: cut, status: 200, again: true},
		"chunks without the last":               {write: bytesOf(chunkBody + "f\r\n{\"status\":true}\r\n"), want: cut, status: 200, again: true},
		"chunk of no size":                      {write: bytesOf(chunkBody + "zz\r\n{}\r\n0\r\n\r\n"), want: cut, status: 200, again: true},
		"chunk of a negative size":              {write: bytesOf(chunkBody + "-1\r\n{}\r\n0\r\n\r\n"), want: cut, status: 200, again: true},
		"chunk beyond all sizes":                {write: bytesOf(chunkBody + strings.Repeat("f", 40) + "\r\n{}"), want: cut, status: 200, again: true},
		"length longer than the body":           {write: bytesOf(head + "Content-Length: 1000\r\n\r\n{\"status\":true}"), want: cut, status: 200, again: true},
		"length shorter than the body":          {write: bytesOf(head + "Content-Length: 10\r\n\r\n{\"status\":true,\"data\":{}}"), want: wrong, status: 200},
		"length of a petabyte":                  {write: bytesOf(head + "Content-Length: 1125899906842624\r\n\r\n{}"), want: cut, status: 200, again: true},
		"length beyond all numbers":             {write: bytesOf(head + "Content-Length: 99999999999999999999\r\n\r\n{}"), want: nothing, again: true},
		"length below zero":                     {write: bytesOf(head + "Content-Length: -5\r\n\r\n{}"), want: nothing, again: true},
		"length that is not a number":           {write: bytesOf(head + "Content-Length: ten\r\n\r\n{}"), want: nothing, again: true},
		"two lengths":                           {write: bytesOf(head + "Content-Length: 5\r\nContent-Length: 7\r\n\r\n{}     "), want: nothing, again: true},
		"length beside chunks, the chunks hold": {write: bytesOf(head + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"), want: wrong, status: 200},
		"unknown transfer encoding":             {write: bytesOf(head + "Transfer-Encoding: rot13\r\n\r\n{}"), want: nothing, again: true},
		"more after the response": {write: func(to net.Conn, success string) {
			_, _ = io.WriteString(to, wireAnswer("200 OK", success)+strings.Repeat("x", 9999))
		}},
		"a second response without a request": {write: func(to net.Conn, success string) {
			_, _ = io.WriteString(to, wireAnswer("200 OK", success)+wireAnswer("200 OK", `{"status":false}`))
		}},
	}
}

// headersAndLines are answers that go wrong before there is a body, or are not HTTP.
func headersAndLines() map[string]hostileAnswer {
	nothing := shipping.ErrConnection
	return map[string]hostileAnswer{
		"headers without end":            {write: withoutEnd(head, "X-More: and more\r\n"), want: nothing, again: true},
		"a header without end":           {write: withoutEnd(head+"X-More: ", "x"), want: nothing, again: true},
		"a status line without end":      {write: withoutEnd("HTTP/1.1 200 ", "x"), want: nothing, again: true},
		"a byte of header a second":      {write: drip("", openBody), want: nothing, again: true, endless: true},
		"headers that stop":              {write: silence(head), want: nothing, again: true, endless: true},
		"headers that end early":         {write: bytesOf(head + "X-Half"), want: nothing, again: true},
		"a header without a colon":       {write: bytesOf(head + "nonsense\r\n\r\n{}"), want: nothing, again: true},
		"a header with a NUL":            {write: bytesOf(head + "X-Nul: a\x00b\r\n" + closing + "{}"), want: nothing, again: true},
		"a thousand cookies":             {write: around(head+strings.Repeat("Set-Cookie: a=b; Domain=.invalid\r\n", 1000)+closing, "")},
		"a header of a hundred thousand": {write: around(head+"X-Long: "+strings.Repeat("x", 100_000)+"\r\n"+closing, "")},
		"another protocol":               {write: bytesOf("SSH-2.0-OpenSSH_9.7\r\n"), want: nothing, again: true},
		"a response of TLS":              {write: bytesOf("\x15\x03\x01\x00\x02\x02\x46"), want: nothing},
		"a response of HTTP/2":           {write: bytesOf("\x00\x00\x12\x04\x00\x00\x00\x00\x00"), want: nothing, again: true},
		"HTTP/0.9":                       {write: bytesOf("<html>hello</html>"), want: nothing, again: true},
		"rubbish":                        {write: bytesOf(strings.Repeat("\x00\xff\x80\r\n\r\n", 1000)), want: nothing, again: true},
		"a status that is not a number":  {write: bytesOf("HTTP/1.1 abc OK\r\n" + closing), want: nothing, again: true},
		"a status of four digits":        {write: bytesOf("HTTP/1.1 2000 OK\r\n" + closing), want: nothing, again: true},
		"status 000":                     {write: bytesOf("HTTP/1.1 000 None\r\n" + closing), want: errAny},
		"status 999":                     {write: bytesOf("HTTP/1.1 999 None\r\n" + closing), want: shipping.ErrUnexpectedBody, status: 999},
		"HTTP/1.0":                       {write: around("HTTP/1.0 200 OK\r\n\r\n", "")},
		"HTTP/3.0":                       {write: around("HTTP/3.0 200 OK\r\n"+closing, "")},
	}
}

// otherShapes are complete responses with 200 that contain something else than the documented envelope.
func otherShapes() map[string]hostileAnswer {
	answers := map[string]hostileAnswer{}
	for name, shape := range map[string]struct {
		body string
		want error
	}{
		"empty":                       {"", shipping.ErrUnexpectedBody},
		"HTML":                        {"<!DOCTYPE html><html><body>Welcome</body></html>", shipping.ErrUnexpectedBody},
		"an array":                    {"[1,2,3]", shipping.ErrUnexpectedBody},
		"a text":                      {`"OK"`, shipping.ErrUnexpectedBody},
		"a number":                    {"42", shipping.ErrUnexpectedBody},
		"null":                        {"null", shipping.ErrUnexpectedBody},
		"no value":                    {"{", shipping.ErrUnexpectedBody},
		"arrays to the moon":          {strings.Repeat("[", 500_000), shipping.ErrUnexpectedBody},
		"objects to the moon":         {strings.Repeat(`{"data":`, 100_000), shipping.ErrUnexpectedBody},
		"data to the moon":            {`{"status":true,"data":` + strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000) + `}`, errAny},
		"two documents":               {`{"status":true,"data":{}}{"status":true,"data":{}}`, shipping.ErrUnexpectedBody},
		"a byte order mark":           {"\ufeff" + `{"status":true,"data":{}}`, errAny},
		"NUL bytes":                   {strings.Repeat("\x00", 100), shipping.ErrUnexpectedBody},
		"bytes that are not UTF-8":    {`{"status":true,"message":"` + "\xff\xfe\xc3" + `","data":{}}`, errAny},
		"status missing":              {`{"message":"done","data":{}}`, shipping.ErrUnexpectedBody},
		"status null":                 {`{"status":null,"message":"done","data":{}}`, shipping.ErrUnexpectedBody},
		"status an object":            {`{"status":{},"data":{}}`, shipping.ErrUnexpectedBody},
		"status false":                {`{"status":false,"message":"no"}`, shipping.ErrInvalidRequest},
		"status twice":                {`{"status":true,"status":false,"message":"no","data":{}}`, errAny},
		"data missing":                {`{"status":true,"message":"done"}`, errAny},
		"data null":                   {`{"status":true,"message":"done","data":null}`, errAny},
		"data a text":                 {`{"status":true,"message":"done","data":"done"}`, errAny},
		"data a number":               {`{"status":true,"message":"done","data":7}`, errAny},
		"data a boolean":              {`{"status":true,"message":"done","data":false}`, errAny},
		"data an empty array":         {`{"status":true,"message":"done","data":[]}`, errAny},
		"data an array of arrays":     {`{"status":true,"message":"done","data":[[[]]]}`, errAny},
		"data an empty object":        {`{"status":true,"message":"done","data":{}}`, errAny},
		"data of other names":         {`{"status":true,"message":"done","data":{"a":{"b":[null,1e999,"\ud800"]}}}`, errAny},
		"a list of nulls":             {`{"status":true,"data":{"rates":[null],"webhooks":[null],"transactions":[null],"pagination":null}}`, errAny},
		"pagination beyond numbers":   {`{"status":true,"data":{"rates":[],"webhooks":[],"transactions":[],"pagination":{"total":1e400,"page":-1,"perPage":"x","pageCount":99999999999999999999}}}`, errAny},
		"numbers of a thousand chars": {`{"status":true,"data":{"rates":[{"amount":` + strings.Repeat("9", 1000) + `}]}}`, errAny},
		"a message of a megabyte":     {`{"status":false,"message":"` + strings.Repeat("m", hostileLimit-100) + `"}`, shipping.ErrInvalidRequest},
		"names that differ in case":   {`{"STATUS":true,"Message":"done","DATA":{}}`, errAny},
	} {
		answers["200 with "+name] = hostileAnswer{
			write: bytesOf(wireAnswer("200 OK", shape.body)), want: shape.want, status: 200, confirms: shape.want == errAny,
			refuses: name == "status false" || name == "a message of a megabyte",
		}
	}
	return answers
}

// refusals are complete responses with other statuses, and every form of Retry-After.
func refusals() map[string]hostileAnswer {
	answers := map[string]hostileAnswer{
		"403 as HTML":                    {write: bytesOf(wireAnswer("403 Forbidden", "<html>Blocked by the firewall</html>")), want: shipping.ErrUnauthorized, status: 403},
		"401 that asks for a password":   {write: bytesOf(wireAnswer("401 Unauthorized", "", "WWW-Authenticate: Basic realm=\"x\"")), want: shipping.ErrUnauthorized, status: 401},
		"407 of a proxy":                 {write: bytesOf(wireAnswer("407 Proxy Authentication Required", "")), want: shipping.ErrInvalidRequest, status: 407},
		"404 in the envelope":            {write: bytesOf(wireAnswer("404 Not Found", `{"status":false,"message":"no such thing"}`)), want: shipping.ErrNotFound, status: 404, refuses: true},
		"400 in the envelope":            {write: bytesOf(wireAnswer("400 Bad Request", `{"status":false,"message":"a rule"}`)), want: shipping.ErrInvalidRequest, status: 400, refuses: true},
		"400 with status true":           {write: bytesOf(wireAnswer("400 Bad Request", `{"status":true,"message":"done"}`)), want: shipping.ErrInvalidRequest, status: 400},
		"400 that is cut":                {write: bytesOf("HTTP/1.1 400 Bad Request\r\nContent-Length: 100\r\n\r\n" + `{"status":false}`), want: shipping.ErrTruncated, status: 400},
		"500 with the honest body":       {write: around("HTTP/1.1 500 No\r\n"+closing, ""), want: shipping.ErrServer, status: 500, again: true},
		"502 without a body":             {write: bytesOf(wireAnswer("502 Bad Gateway", "")), want: shipping.ErrServer, status: 502, again: true},
		"204":                            {write: bytesOf("HTTP/1.1 204 No Content\r\n" + closing), want: shipping.ErrUnexpectedBody, status: 204},
		"204 with a body":                {write: bytesOf("HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n" + closing + "{}"), want: shipping.ErrUnexpectedBody, status: 204},
		"206, a part":                    {write: bytesOf(wireAnswer("206 Partial Content", `{"status":tr`, "Content-Range: bytes 0-11/100")), want: shipping.ErrUnexpectedBody, status: 206},
		"304 to a question nobody asked": {write: bytesOf("HTTP/1.1 304 Not Modified\r\n" + closing), want: shipping.ErrRedirected, status: 304},
		"300 with choices":               {write: bytesOf(wireAnswer("300 Multiple Choices", "[]")), want: shipping.ErrRedirected, status: 300},
	}
	past := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	for name, retry := range map[string]struct {
		value string
		asked time.Duration
	}{
		"absent": {"", 0}, "of seconds": {"0", 0}, "of a fraction": {"0.001", time.Millisecond}, "below zero": {"-7", 0}, "of a negative fraction": {"-0.5", 0},
		"of text": {"soon", 0}, "of nothing but spaces": {"   ", 0}, "not a number": {"NaN", 0}, "infinite": {"Inf", 0}, "with an exponent": {"1e3", 0}, "of a list": {"1, 2", 0},
		"as RFC 1123": {past.Format(time.RFC1123), 0}, "as RFC 850": {past.Format("Monday, 02-Jan-06 15:04:05 GMT"), 0}, "as asctime": {past.Format(time.ANSIC), 0},
		"as an impossible date": {"Mon, 99 Foo 2026 99:99:99 GMT", 0}, "as ISO 8601": {past.Format(time.RFC3339), 0},
		"of bytes that are not text": {"\xff\xfe", 0}, "of a megabyte": {strings.Repeat("9", 100_000), 0}, "of three centuries": {"9999999999", 365 * 24 * time.Hour},
	} {
		for status, kind := range map[string]error{"429 Too Many Requests": shipping.ErrRateLimited, "503 Service Unavailable": shipping.ErrServer} {
			answers[status[:3]+" with a Retry-After "+name] = hostileAnswer{
				write: bytesOf(wireAnswer(status, `{"status":false,"message":"later"}`, "Retry-After: "+retry.value)),
				want:  kind, status: map[bool]int{true: 429, false: 503}[status[0] == '4'], asked: retry.asked, again: true,
				refuses: status[0] == '4',
			}
		}
	}
	return answers
}

// interim are informational responses before the one that counts, or instead of it.
func interim() map[string]hostileAnswer {
	const hints, goOn = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n"
	return map[string]hostileAnswer{
		"100 first":               {write: around(goOn+openBody, "")},
		"a hundred 103 first":     {write: around(strings.Repeat(hints, 100)+openBody, "")},
		"199 first":               {write: around("HTTP/1.1 199 Odd\r\n\r\n"+openBody, "")},
		"100 and then nothing":    {write: bytesOf(goOn), want: shipping.ErrConnection, again: true},
		"100 and silence":         {write: silence(goOn), want: shipping.ErrConnection, again: true, endless: true},
		"100 without end":         {write: withoutEnd("", goOn), want: shipping.ErrConnection, again: true},
		"103 without end":         {write: withoutEnd("", hints), want: shipping.ErrConnection, again: true},
		"101 to another protocol": {write: bytesOf("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n{}"), want: shipping.ErrUnexpectedBody, status: 101},
		"101 and silence":         {write: silence("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"), want: shipping.ErrUnexpectedBody, status: 101},
		"101 without end":         {write: withoutEnd("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", "x"), want: shipping.ErrUnexpectedBody, status: 101},
	}
}
