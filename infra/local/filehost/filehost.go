// Package filehost gives files a separate host name on a laptop, as on AWS: browsers do not send the API's cookies to
// another host, and clients that compare host names without ports, such as Go's net/http, do not forward keys to it.
// The functions use the IP address, which makes the SDKs put buckets into the path; only the URLs for clients contain
// the name.
//
// Names below localhost are loopback (RFC 6761, section 6.3). Browsers and curl implement that; most other programs ask
// the system's resolver.
package filehost

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Name is the host name of files.
const Name = "files.localhost"

// lookupTime limits the single query to the system's resolver.
const lookupTime = time.Second

// Lookup queries the system's resolver, as net.Resolver's LookupNetIP does.
type Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

// URL returns the base URL for clients of the files served at listener. It uses Name if this machine resolves it to the
// listener's address and to nothing outside the machine, else the address itself.
func URL(ctx context.Context, lookup Lookup, listener netip.AddrPort) string {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	found, err := lookup(ctx, "ip", Name)
	for i := range found {
		found[i] = found[i].Unmap()
	}
	outside := slices.ContainsFunc(found, func(at netip.Addr) bool { return !at.IsLoopback() })
	if err != nil || outside || !slices.Contains(found, listener.Addr()) {
		return "http://" + listener.String()
	}
	return "http://" + net.JoinHostPort(Name, portOf(listener.String()))
}

// Files serves S3 at a listener and also at its URL. It restores the host that the functions use, which signatures
// cover.
func Files(listener, url string, next http.Handler) http.Handler {
	host := strings.TrimPrefix(url, "http://")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.EqualFold(r.Host, host) {
			r.Host = listener
		}
		next.ServeHTTP(w, r)
	})
}

// Redirects rewrites next's redirects to files at listener so that they lead to the files' URL.
func Redirects(listener, url string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(redirecting{w, "http://" + listener + "/", url + "/"}, r)
	})
}

type redirecting struct {
	http.ResponseWriter

	from, to string
}

// WriteHeader implements http.ResponseWriter.
func (r redirecting) WriteHeader(status int) {
	if rest, leads := strings.CutPrefix(r.Header().Get("Location"), r.from); leads {
		r.Header().Set("Location", r.to+rest)
	}
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (r redirecting) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func portOf(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }
