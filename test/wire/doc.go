// Package wire holds tests that count the requests a service reads while it ends HTTP/2 streams and connections at
// every point, and idle connections of HTTP/1.1. It is a separate module because it writes HTTP/2 frames with
// golang.org/x/net. Package campaign breaks off the responses to purchases at any byte.
package wire
