package transport

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
)

const (
	maxFailedBody   = 1 << 20  // read of a response that is not a 2xx
	maxPartialBody  = 64 << 10 // kept of a body that cannot be read to its end
	maxPooledBody   = 4 << 20  // a larger buffer is left to the garbage collector
	unannouncedBody = 16 << 10 // first size of a buffer for a compressed or chunked body
	trustedLength   = 1 << 20  // an announced length is trusted so far
)

// receive sends the request to the transport and reads the body of the response within the attempt, so that
// a body that is cut off counts as a failed attempt. Neither the response nor the error shows the key.
func (s *sending) receive(r *http.Request) (*http.Response, error) {
	c := s.client
	response, err := c.next.RoundTrip(r)
	switch {
	case err != nil:
		return nil, c.config.Key.Error(foreign(err)) // net/http quotes text that it cannot parse
	case response == nil:
		return nil, errors.New("the transport returned neither a response nor an error")
	case response.Body == nil:
		response.Body = http.NoBody
	case response.StatusCode == http.StatusSwitchingProtocols:
		// Its body is the connection itself, which no context bounds any more, and which was not requested.
		_ = response.Body.Close()
		response.Body = http.NoBody
	}
	limit, failed := c.config.MaxBody, response.StatusCode/100 != 2
	if failed {
		limit = min(limit, maxFailedBody)
	}
	body, err := c.buffers.read(response.Body, response.ContentLength, limit)
	_ = response.Body.Close() // nothing can be lost by it any more
	response.Body, response.Header = http.NoBody, c.config.Key.Header(response.Header)
	if err != nil && !(failed && errors.Is(err, ErrBodyTooLarge)) {
		partial := c.config.Key.Start(body, maxPartialBody)
		c.buffers.put(body)
		return nil, &BodyError{response.StatusCode, response.Header, partial, c.config.Key.Error(err)}
	}
	s.response = &Response{
		StatusCode: response.StatusCode, Header: response.Header, Body: body, Truncated: err != nil, buffers: &c.buffers,
	}
	return response, nil
}

// buffers are the buffers for bodies of one client.
type buffers struct{ pool sync.Pool }

// get returns an empty buffer of at least some capacity.
func (b *buffers) get(capacity int) []byte {
	if pooled, ok := b.pool.Get().(*[]byte); ok && cap(*pooled) >= capacity {
		return *pooled
	}
	return make([]byte, 0, capacity)
}

func (b *buffers) put(data []byte) {
	if c := cap(data); c > 0 && c <= maxPooledBody {
		data = data[:0]
		b.pool.Put(&data)
	}
}

// read reads r to its end, at most limit bytes, into a buffer of the announced length. With an error it
// returns what came before.
func (b *buffers) read(r io.Reader, announced, limit int64) ([]byte, error) {
	if announced > limit {
		limit = min(limit, maxPartialBody) // only a start of it, for the error
	}
	capacity := unannouncedBody
	if announced > 0 {
		capacity = int(min(announced, trustedLength)) + 1 // the read that finds the end needs room too
	}
	data := b.get(capacity)
	for {
		if len(data) == cap(data) {
			data = slices.Grow(data, int(min(int64(len(data)), limit-int64(len(data))+1)))
		}
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return data[:limit], ErrBodyTooLarge
		case err == io.EOF:
			return data, nil
		case err != nil:
			return data, truncatedError{err}
		}
	}
}
