// Package safehttp is the only HTTP client that leaves the service, for webhooks (addresses from customers) and health
// systems (addresses from a catalog and from their own answers). It owns where a request may go, how long it may take
// and how much may come back. It owns no retries, no credentials but a client certificate that it is given, and no
// redirects: who may follow one knows what it carries, and asks again.
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

// Limits of every request (docs/develop/threat-model.md, "Outbound requests").
const (
	dialTimeout   = 5 * time.Second
	tlsTimeout    = 5 * time.Second
	headerTimeout = 30 * time.Second
	maxHeader     = 32 << 10
	totalTimeout  = 60 * time.Second // from looking the name up to the last byte of the body
	idleTimeout   = 30 * time.Second
	idlePool      = 64
	idlePerHost   = 8 // the export asks one host four times at once
)

// Options of a Client.
type Options struct {
	// Allow lists address ranges that may be reached besides public ones, at any port and without TLS. It is empty in
	// production; the local runner sets loopback.
	Allow []netip.Prefix
	// Within is how long a whole exchange may take; a minute when it is zero. Lists of all
	// institutions of a vendor need more.
	Within time.Duration
	// Certificate is what the client shows a server that asks for one, over TLS only; it shows none when it is nil. Who
	// sets it keeps the Client for the servers that may know it.
	Certificate *tls.Certificate
	// Roots are the authorities by which servers are believed instead of the system's; nil means the system's.
	Roots *x509.CertPool
}

// Client sends requests to public addresses at port 443 over TLS 1.2 or later, and to the allowed ranges. It uses no
// proxy, since a proxy would resolve names behind the guard's back. A whole exchange ends after Options.Within, sooner
// if the request's context does. It is safe for concurrent use.
type Client struct {
	secure *http.Client
	plain  *http.Client // for http URLs: reaches the allowed ranges only, so nothing at all in production
}

// seams are what tests replace.
type seams struct {
	resolver *net.Resolver  // nil: the system's
	roots    *x509.CertPool // nil: the system's
	timeout  time.Duration
}

// New makes a Client. Keep it: it pools connections.
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

// Do sends one request and returns the answer, whatever its status; redirects are answers. URLs with user information
// or a fragment and hosts that are not plain ASCII names or addresses are refused. The error is always *Error. The
// caller closes the body, best through ReadAll.
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

// ReadAll reads the body of an answer and closes it. The limit counts bytes after decompression. A longer body gives
// its first limit bytes together with an *Error of class TooLarge; every other error is *Error, too.
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

// largeBody is the length from which on a body gets all the room that it may take at once: a buffer that doubles would
// hold three times as much for a moment.
const largeBody = 8 << 20

// readLarge reads the rest of a body that begins with head.
func readLarge(head []byte, rest io.Reader, limit int64) ([]byte, error) {
	whole := make([]byte, limit+1)
	length := copy(whole, head)
	for length < len(whole) {
		n, err := rest.Read(whole[length:])
		length += n
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil { // among them a body that ends too early
			return nil, fmt.Errorf("read body: %w", err)
		}
	}
	return whole[:length], nil
}
