// Package safehttp is the service's only outbound HTTP client. It calls webhooks (URLs from customers) and health
// systems (URLs from a catalogue and from the systems' responses). It limits where requests go, how long they take and
// how large responses are. Requests are not retried. Redirects are not followed, because only the caller knows whether
// that is safe.
package safehttp

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"sync/atomic"
	"time"
)

// Limits for every request (docs/develop/threats-network.md, "Outbound requests").
const (
	dialTimeout   = 5 * time.Second
	tlsTimeout    = 5 * time.Second
	headerTimeout = 30 * time.Second
	maxHeader     = 32 << 10
	totalTimeout  = 60 * time.Second // time limit from the DNS lookup to the last byte of the response body
	idleTimeout   = 30 * time.Second
	idlePool      = 64
	idlePerHost   = 8 // Exports send four concurrent requests to a host.
)

// Options configures a Client.
type Options struct {
	// Allow lists further address ranges that may be reached, on any port and without TLS. Allow is empty in production
	// and contains the loopback ranges in the local runner.
	Allow []netip.Prefix
	// Within is the time limit for a complete exchange. A zero Within means one minute. A longer limit is needed to
	// download a vendor's list of all its institutions, which takes more than a minute.
	Within time.Duration
	// Certificate is the TLS client certificate for servers that request one, or nil. Use a Client with a certificate
	// only for servers to which the certificate may be disclosed.
	Certificate *tls.Certificate
	// Roots replaces the system's certificate authorities. If Roots is nil, the client uses the system's authorities.
	Roots *x509.CertPool
}

// Client sends requests to public addresses, over TLS 1.2 or later on port 443, and to the allowed ranges. It uses no
// proxy, because the guard can't control a proxy's name resolution. An exchange ends when Options.Within has passed or
// the request's context ends. A Client is safe for concurrent use.
type Client struct {
	secure *http.Client
	plain  *http.Client // client for http URLs; reaches only the allowed ranges, which are empty in production
}

// seams holds the dependencies that tests can replace.
type seams struct {
	resolver *net.Resolver  // nil to use the system's resolver
	roots    *x509.CertPool // nil to use the system's root certificates
	timeout  time.Duration
}

// New returns a Client. Reuse the Client, because it pools connections.
func New(options Options) *Client {
	return newClient(options, seams{roots: options.Roots, timeout: cmp.Or(options.Within, totalTimeout)})
}

func newClient(options Options, test seams) *Client {
	return &Client{
		secure: guarded(newGuard(options.Allow, true), options.Certificate, test),
		plain:  guarded(newGuard(options.Allow, false), nil, test),
	}
}

func guarded(guard *guard, shown *tls.Certificate, test seams) *http.Client {
	dialer := &net.Dialer{Timeout: dialTimeout, ControlContext: guard.control, Resolver: test.resolver}
	secured := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: test.roots}
	if shown != nil {
		secured.Certificates = []tls.Certificate{*shown}
	}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil,
			DialContext:            dialer.DialContext,
			TLSClientConfig:        secured,
			TLSHandshakeTimeout:    tlsTimeout,
			ResponseHeaderTimeout:  headerTimeout,
			MaxResponseHeaderBytes: maxHeader,
			MaxIdleConns:           idlePool,
			MaxIdleConnsPerHost:    idlePerHost,
			IdleConnTimeout:        idleTimeout,
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       test.timeout,
	}
}

// Do sends a request and returns the response, whatever its status. Redirects are returned, not followed. Do rejects
// URLs with user information or a fragment, and hosts that are neither plain ASCII names nor IP addresses. Every error
// has type *Error. The caller must close the body, preferably with ReadAll.
func (c *Client) Do(request *http.Request) (*http.Response, error) {
	if !acceptable(request.URL) {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, &Error{Class: BadURL}
	}
	client := c.secure
	if request.URL.Scheme == "http" {
		client = c.plain
	}
	var handshakeFailed atomic.Bool
	ctx := httptrace.WithClientTrace(request.Context(), &httptrace.ClientTrace{
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) { handshakeFailed.Store(err != nil) },
	})
	//nolint:gosec // G704: the guard of the dialler is what makes a foreign URL safe
	response, err := client.Do(request.WithContext(ctx))
	if err != nil {
		return nil, failed(err, handshakeFailed.Load())
	}
	return response, nil
}

// ReadAll reads and closes a response's body. limit is in bytes and applies to the decompressed body. If the body is
// longer, ReadAll returns the first limit bytes and an *Error of class TooLarge. Every other error is also an *Error.
func ReadAll(response *http.Response, limit int64) ([]byte, error) {
	defer func() { _ = response.Body.Close() }()
	var body bytes.Buffer
	if response.ContentLength > 0 {
		body.Grow(int(min(response.ContentLength, limit)) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(io.LimitReader(response.Body, min(limit+1, largeBody))); err != nil {
		return nil, failed(err, false)
	}
	whole := body.Bytes()
	if len(whole) == largeBody {
		var err error
		if whole, err = readLarge(whole, response.Body, limit); err != nil {
			return nil, failed(err, false)
		}
	}
	if int64(len(whole)) > limit {
		return whole[:limit], &Error{Class: TooLarge}
	}
	return whole, nil
}

// largeBody is the length in bytes above which a buffer of the full limit is allocated at once, because growing a
// buffer by doubling would temporarily use three times the memory.
const largeBody = 8 << 20

// readLarge reads the rest of a body whose first bytes are head.
func readLarge(head []byte, rest io.Reader, limit int64) ([]byte, error) {
	whole := make([]byte, limit+1)
	length := copy(whole, head)
	for length < len(whole) {
		n, err := rest.Read(whole[length:])
		length += n
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil { // A truncated body is also an error.
			return nil, fmt.Errorf("read body: %w", err)
		}
	}
	return whole[:length], nil
}
