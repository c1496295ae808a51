// Package filehost gives files a host name of their own on a laptop, as they have on AWS: browsers keep cookies of the
// API away from another host, and clients that compare host names without ports, such as Go's net/http, take no key
// along to it. The functions keep to the IP address, for which the SDKs put buckets into the path; only the addresses
// that clients are led to have the name.
//
// Names below localhost are loopback (RFC 6761, section 6.3). Browsers and curl know that; most other
// programs ask the system.
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

// Name is the host of files.
const Name = "files.localhost"

// lookupTime bounds the one question to the system's resolver.
const lookupTime = time.Second

// Lookup asks the system's resolver, as net.Resolver's LookupNetIP does.
type Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

// URL is where clients find the files that are served at listener: under Name when this machine takes that for the
// listener's address and for nothing outside the machine, else under the address itself.
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

// Files serves S3 at a listener also under its URL: a signature is about the address that the functions use.
func Files(listener, url string, next http.Handler) http.Handler {
	host := strings.TrimPrefix(url, "http://")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.EqualFold(r.Host, host) {
			r.Host = listener
		}
		next.ServeHTTP(w, r)
	})
}

// Redirects lets the redirects of next that lead to files at listener lead to their URL.
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

// Unwrap is for http.ResponseController.
func (r redirecting) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func portOf(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }
