package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

// headroom is memory that serve reserves and never touches, so that the collector runs less often. The bare handler has the
// same, or the share would compare two settings of the collector.
const headroom = 16 << 20

// serveBare serves bodies from memory with the least that net/http allows: no routing by method, no key,
// no journal; the length and type that the reference server sends. The name of a body's file is its escaped path. Its address is the first line it prints.
func serveBare(ctx context.Context, folder string, out io.Writer) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	bodies := map[string]*bareBody{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return err
		}
		path, err := url.PathUnescape(entry.Name())
		if err != nil {
			return err
		}
		bodies[path] = &bareBody{text: text, length: []string{strconv.Itoa(len(text))}}
	}
	kind := []string{"application/json; charset=utf-8"}
	server := &http.Server{
		ReadHeaderTimeout: 30 * time.Second, // as the reference server has them
		IdleTimeout:       2 * time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := bodies[r.URL.Path]
			if body == nil {
				http.NotFound(w, r)
				return
			}
			header := w.Header()
			header["Content-Type"], header["Content-Length"] = kind, body.length
			_, _ = w.Write(body.text) // whoever hangs up has stopped measuring
		}),
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "{\"url\":\"http://%s\"}\n", listener.Addr()); err != nil {
		return err
	}
	untouched := make([]byte, headroom)
	defer runtime.KeepAlive(untouched)
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil
}

type bareBody struct {
	text   []byte
	length []string
}
