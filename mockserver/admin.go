package mockserver

import "net/http"

const adminPrefix = "/_mock/"

func isAdminPath(path string) bool {
	return len(path) >= len(adminPrefix) && path[:len(adminPrefix)] == adminPrefix
}

func newAdmin(s *Server) http.Handler { return http.HandlerFunc(s.notFound) }
