// Package transport responds to requests within the process, so that a benchmark measures the client and
// nothing of a network.
package transport

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Fixed responds to every request with the same body.
type Fixed []byte

// RoundTrip answers at once.
func (f Fixed) RoundTrip(r *http.Request) (*http.Response, error) { return answer(r, f), nil }

// Delayed responds to a request for page n (from 1) with the n-th body, after a delay, like a service far
// away.
type Delayed struct {
	Pages [][]byte
	Delay time.Duration
}

// RoundTrip waits for the delay or the end of the request's context.
func (d Delayed) RoundTrip(r *http.Request) (*http.Response, error) {
	timer := time.NewTimer(d.Delay)
	defer timer.Stop()
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-timer.C:
		return answer(r, d.Pages[min(pageOf(r), len(d.Pages))-1]), nil
	}
}

// pageOf returns the number of the page that a request asks for, 1 without one.
func pageOf(r *http.Request) int {
	page, err := strconv.Atoi(r.URL.Query().Get("page"))
	if err != nil || page < 1 {
		return 1
	}
	return page
}

func answer(r *http.Request, body []byte) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(body)),
		Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}
}
