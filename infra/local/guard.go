package main

import (
	"io"
	"net"
	"net/http"
)

// guard protects endpoints for programs and for this machine's user from web pages. A page can send simple requests to
// any URL. Therefore the console, the inbox, the Runtime API and the embedded AWS refuse changes requested by pages of
// other origins. The API is exempt: it is meant for browsers and authenticates its callers itself. Programs send no
// origin and pass. GET requests from pages pass but reveal nothing, since no response allows their origin.
//
// It responds only to host names of this machine, and to the additional one for files at their port.
func guard(isAPI func(path string) bool, isHost func(host string) bool, next http.Handler) http.Handler {
	guarded := http.NewCrossOriginProtection().Handler(next)
	return ourHostOnly(isHost, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isAPI(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin") // prevents pages from embedding it
		guarded.ServeHTTP(w, r)
	}))
}

// ourHostOnly refuses requests that a browser sends here because a web site's name resolves to this machine (DNS
// rebinding): such a page would count as our own origin.
func ourHostOnly(isHost func(host string) bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if !isHost(host) {
			w.WriteHeader(http.StatusMisdirectedRequest)
			// the client may have disconnected
			_, _ = io.WriteString(w, "This server answers to loopback addresses only.\n")
			return
		}
		next.ServeHTTP(w, r)
	})
}
