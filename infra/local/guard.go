package main

import (
	"io"
	"net"
	"net/http"
)

// guard keeps web pages out of what is meant for programs and for the person at this machine. A page can send simple
// requests to any address, so everything but the API, which is meant for browsers and proves its callers itself,
// refuses what another origin's page wants changed: the console, the inbox, the Runtime API and the embedded AWS.
// Programs say no origin and pass. What a page may ask for, GET, shows it nothing, since no answer allows its origin.
//
// Only hosts by which this machine is called, and a further one for files at their port, are answered.
func guard(isAPI func(path string) bool, isHost func(host string) bool, next http.Handler) http.Handler {
	guarded := http.NewCrossOriginProtection().Handler(next)
	return ourHostOnly(isHost, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isAPI(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin") // a page cannot embed it either
		guarded.ServeHTTP(w, r)
	}))
}

// ourHostOnly refuses requests that a browser sends here in the belief that this machine is somebody's web site (DNS
// rebinding): such a page would count as our own origin.
func ourHostOnly(isHost func(host string) bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if !isHost(host) {
			w.WriteHeader(http.StatusMisdirectedRequest)
			// a client that went away needs no answer
			_, _ = io.WriteString(w, "This server accepts requests only for loopback addresses.\n")
			return
		}
		next.ServeHTTP(w, r)
	})
}
