package main

import (
	"io"
	"net"
	"net/http"
)

// guard protects local endpoints from web pages, which can send simple requests to any URL. The console, the inbox, the
// Runtime API and the embedded AWS reject changes requested by pages of other origins. The API is exempt from this
// check, because it is meant for browsers and authenticates its callers. Requests from programs are accepted, because
// they don't specify an origin. GET requests from pages are accepted, because no response allows the page's origin to
// read it.
//
// guard accepts only this machine's host names and the additional host name for files.
func guard(isAPI func(path string) bool, isHost func(host string) bool, next http.Handler) http.Handler {
	guarded := http.NewCrossOriginProtection().Handler(next)
	return ourHostOnly(isHost, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isAPI(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin") // prevents other sites from embedding the page
		guarded.ServeHTTP(w, r)
	}))
}

// ourHostOnly rejects requests for unknown hosts, to prevent DNS rebinding. If a website's name resolved to this
// machine, the website's pages would have the same origin as this server.
func ourHostOnly(isHost func(host string) bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if !isHost(host) {
			w.WriteHeader(http.StatusMisdirectedRequest)
			// the client may have disconnected
			_, _ = io.WriteString(w, "This server accepts requests only for loopback addresses.\n")
			return
		}
		next.ServeHTTP(w, r)
	})
}
