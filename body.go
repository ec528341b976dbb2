package shipping

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
)

const (
	maxErrorBody    = 64 << 10 // kept in an Error
	maxErrorMessage = 2 << 10  // kept in an Error
	maxErrorID      = 128      // shown of an identifier
	maxFailedBody   = 1 << 20  // read of a non-2xx answer
	pooledBody      = 4 << 20  // a larger buffer is left to the garbage collector
	unannouncedBody = 16 << 10 // first room for a compressed or chunked answer
)

// bodyReader reads the whole body within the attempt, so that a body that breaks off counts as a
// failed attempt, and so that everything after it works on bytes in memory.
type bodyReader struct {
	next    http.RoundTripper
	max     int64
	buffers *bufferPool
}

func (b bodyReader) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(r)
	switch {
	case err != nil:
		return nil, err
	case response == nil:
		return nil, errors.New("the transport gave neither an answer nor an error")
	case response.Body == nil:
		response.Body = http.NoBody
	case response.StatusCode == http.StatusSwitchingProtocols:
		// Its body is the connection itself, which no context bounds any more, and nobody asked for it.
		_ = response.Body.Close()
		response.Body = http.NoBody
	}
	limit, failed := b.max, response.StatusCode/100 != 2
	if failed {
		limit = min(limit, maxFailedBody)
	}
	buffer, err := b.buffers.read(response.Body, response.ContentLength, limit)
	_ = response.Body.Close() // nothing can be lost by it any more
	buffer.truncated = err != nil
	if err != nil && !(failed && errors.Is(err, ErrBodyTooLarge)) {
		kept := bytes.Clone(buffer.data[:min(len(buffer.data), maxErrorBody)])
		buffer.release()
		return nil, &bodyError{response.StatusCode, response.Header, kept, err}
	}
	response.Body = buffer
	return response, nil
}

// bodyError is an answer whose body could not be read to its end.
type bodyError struct {
	status int
	header http.Header
	body   []byte
	err    error
}

func (e *bodyError) Error() string { return e.err.Error() }
func (e *bodyError) Unwrap() error { return e.err }

// truncatedError keeps the reason beside the sentinel.
type truncatedError struct{ cause error }

func (e truncatedError) Error() string   { return "the body ended early: " + e.cause.Error() }
func (e truncatedError) Unwrap() []error { return []error{ErrTruncated, e.cause} }

// bufferPool keeps the buffers of one client.
type bufferPool struct{ pool sync.Pool }

func newBufferPool() *bufferPool { return &bufferPool{} }

// buffer is a body in memory, readable once as a response body.
type buffer struct {
	data      []byte
	read      int
	pool      *bufferPool
	closed    bool
	truncated bool // data is only the start of the body
}

func (b *buffer) Read(p []byte) (int, error) {
	if b.read == len(b.data) {
		return 0, io.EOF
	}
	n := copy(p, b.data[b.read:])
	b.read += n
	return n, nil
}

// Close gives the buffer back.
func (b *buffer) Close() error {
	b.release()
	return nil
}

func (b *buffer) release() {
	if b.closed {
		return
	}
	b.closed = true
	if cap(b.data) <= pooledBody {
		data := b.data[:0]
		b.pool.pool.Put(&data)
	}
	b.data = nil
}

// read reads r to its end, at most limit bytes, into a buffer sized by the announced length. On an
// error the buffer holds what came before it.
func (p *bufferPool) read(r io.Reader, announced, limit int64) (*buffer, error) {
	b := &buffer{pool: p}
	if pooled, ok := p.pool.Get().(*[]byte); ok {
		b.data = *pooled
	}
	if announced > limit {
		limit = min(limit, maxErrorBody) // only a start of it, for the error
	}
	// One byte more than announced lets the read that finds the end do so without growing. The
	// announced length is not trusted with more than a first megabyte.
	want := unannouncedBody
	if announced > 0 {
		want = int(min(announced, 1<<20)) + 1
	}
	if cap(b.data) < want {
		b.data = make([]byte, 0, want)
	}
	for {
		if len(b.data) == cap(b.data) {
			b.data = slices.Grow(b.data, int(min(int64(len(b.data)), limit-int64(len(b.data))+1)))
		}
		n, err := r.Read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		switch {
		case int64(len(b.data)) > limit:
			b.data = b.data[:limit]
			return b, ErrBodyTooLarge
		case err == io.EOF:
			return b, nil
		case err != nil:
			return b, truncatedError{err}
		}
	}
}
