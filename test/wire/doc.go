// Package wire holds tests that count the requests a service reads while it breaks HTTP/1.1 and HTTP/2
// connections at every point. It is a separate module because it writes HTTP/2 frames with
// golang.org/x/net.
package wire
