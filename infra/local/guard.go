package main

import (
	"io"
	"net"
	"net/http"
)

// guard protects the endpoints for programs and for this machine's user from web pages. A web page can send simple
// requests to any URL. The console, the inbox, the Runtime API and the embedded AWS therefore reject changes requested
// by pages of other origins. The API is exempt, because it is meant for browsers and authenticates its callers itself.
// Requests from programs are accepted, because they have no origin. GET requests from pages are accepted, because no
// response allows the page's origin, so the page can't read the response.
//
// guard accepts only host names of this machine and the additional host name for files.
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

// ourHostOnly rejects requests that a browser sends because a website's name resolves to this machine (DNS rebinding).
// Such a website's pages have the same origin as this server.
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
