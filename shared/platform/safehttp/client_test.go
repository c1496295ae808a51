package safehttp_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recordbridge/shared/platform/safehttp"
)

func loopback() safehttp.Options {
	return safehttp.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
}

// server starts a loopback server that doesn't log connections broken by tests.
func server(t *testing.T, start func(*httptest.Server), handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	start(s)
	t.Cleanup(s.Close)
	return s
}

func get(t *testing.T, client *safehttp.Client, address string, limit int64) (int, string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return send(client, request, limit)
}

func send(client *safehttp.Client, request *http.Request, limit int64) (int, string, error) {
	response, err := client.Do(request) //nolint:bodyclose // ReadAll closes it
	if err != nil {
		return 0, "", err
	}
	body, err := safehttp.ReadAll(response, limit)
	return response.StatusCode, string(body), err
}

// wantClass checks an error's class and that its text reveals no details.
func wantClass(t *testing.T, err error, class safehttp.Class) {
	t.Helper()
	failure, ok := errors.AsType[*safehttp.Error](err)
	if !ok || failure.Class != class {
		t.Errorf("got %v, want class %s", err, class)
		return
	}
	if got, want := err.Error(), "outbound request: "+string(class); got != want {
		t.Errorf("error says %q, want %q", got, want)
	}
}

func TestClientReachesAllowedRangesWithoutTLS(t *testing.T) {
	t.Parallel()
	s := server(t, (*httptest.Server).Start,
		func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	status, body, err := get(t, safehttp.New(loopback()), s.URL, 100)
	if status != http.StatusOK || body != "hello" || err != nil {
		t.Errorf("got %d, %q, %v", status, body, err)
	}
}

func TestClientBlocksLoopbackByDefault(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	handler := func(http.ResponseWriter, *http.Request) { reached.Add(1) }
	plain, secure := server(t, (*httptest.Server).Start, handler), server(t, (*httptest.Server).StartTLS, handler)
	client := safehttp.New(safehttp.Options{})
	_, port, _ := net.SplitHostPort(plain.Listener.Addr().String())
	for _, address := range []string{
		plain.URL + "/?code=secret", secure.URL, "http://localhost:" + port, "http://[::ffff:127.0.0.1]:" + port,
		"https://[::ffff:127.0.0.1]", "https://[::1]", "https://[fd00:ec2::254]/latest/meta-data", "https://169.254.169.254/",
		"http://169.254.169.254/latest/meta-data", "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next",
		"https://[64:ff9b::7f00:1]/", "https://0.0.0.0/", "http://[::]:" + port, "https://10.0.0.1/", "http://8.8.8.8/",
		"http://8.8.8.8:443/", "https://8.8.8.8:8443/",
	} {
		_, _, err := get(t, client, address, 100)
		wantClass(t, err, safehttp.BlockedAddress)
	}
	if reached.Load() != 0 {
		t.Errorf("%d requests arrived", reached.Load())
	}
}

func TestDoRejectsMisleadingURLs(t *testing.T) {
	t.Parallel()
	client := safehttp.New(loopback())
	for _, address := range []string{
		"https://user:pass@ehr.example/", "https://user@ehr.example/", "https://ehr.example/#fragment", "ftp://ehr.example/",
		"file:///etc/passwd", "https:///path", "https:opaque", "https://münchen.example/", "https://ehr.example\u3002evil/",
		"https://0x7f000001/", "https://2130706433/", "https://127.1/", "https://0/", "https://0177.0.0.1/",
		"https://127.0.0.0x1/",
		"https://127.1./", "https://[fe80::1%25eth0]/", "//ehr.example/", "/path",
	} {
		target, err := url.Parse(address)
		if err != nil {
			t.Fatalf("%q: %v", address, err)
		}
		body := &closing{Reader: strings.NewReader("x")}
		request := (&http.Request{
			Method: http.MethodPost, URL: target, Header: http.Header{},
			Body: body,
		}).WithContext(t.Context())
		_, _, err = send(client, request, 100)
		wantClass(t, err, safehttp.BadURL)
		if !body.closed {
			t.Errorf("%q: the request's body was not closed", address)
		}
	}
}

type closing struct {
	io.Reader

	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

func TestDoBlocksHostReboundToForbiddenAddress(t *testing.T) {
	t.Parallel()
	s := server(t, (*httptest.Server).Start,
		func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") })
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	var lookups atomic.Int32
	resolver := fakeDNS(func(string) net.IP {
		if lookups.Add(1) == 1 {
			return net.IPv4(127, 0, 0, 1)
		}
		return net.IPv4(10, 0, 0, 1)
	})
	client := safehttp.NewWith(loopback(), resolver, nil, time.Minute)
	if status, _, err := get(t, client, "http://moving.example:"+port, 100); status != http.StatusOK || err != nil {
		t.Fatalf("first: %d, %v", status, err)
	}
	_, _, err := get(t, client, "http://moving.example:"+port, 100)
	wantClass(t, err, safehttp.BlockedAddress)
}

func TestDoClassifiesFailures(t *testing.T) {
	t.Parallel()
	resolver := fakeDNS(func(string) net.IP { return nil })
	silent := server(t, (*httptest.Server).Start, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	untrusted := server(t, (*httptest.Server).StartTLS, func(http.ResponseWriter, *http.Request) {})
	old := server(t, func(s *httptest.Server) {
		s.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
		s.StartTLS()
	}, func(http.ResponseWriter, *http.Request) {})
	plain := server(t, (*httptest.Server).Start, func(http.ResponseWriter, *http.Request) {})
	garbage := server(t, (*httptest.Server).Start, hijack("SSH-2.0-x\r\n"))
	header := server(t, (*httptest.Server).Start, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 64<<10))
	})
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	roots := x509.NewCertPool()
	roots.AddCert(old.Certificate()) // the TLS version must be the only reason for the failure
	for name, test := range map[string]struct {
		address string
		timeout time.Duration
		roots   *x509.CertPool
		class   safehttp.Class
	}{
		"unknown name":        {"https://nowhere.example/?secret", time.Minute, nil, safehttp.DNS},
		"closed port":         {closed.URL + "/?secret", time.Minute, nil, safehttp.Connect},
		"no header":           {silent.URL + "/?secret", 200 * time.Millisecond, nil, safehttp.Timeout},
		"unknown certificate": {untrusted.URL, time.Minute, nil, safehttp.TLS},
		"TLS 1.1":             {old.URL, time.Minute, roots, safehttp.TLS},
		"TLS to a plain port": {"https" + strings.TrimPrefix(plain.URL, "http"), time.Minute, nil, safehttp.TLS},
		"another protocol":    {garbage.URL, time.Minute, nil, safehttp.BadAnswer},
		"64 KiB of header":    {header.URL, time.Minute, nil, safehttp.BadAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := get(t, safehttp.NewWith(loopback(), resolver, test.roots, test.timeout), test.address, 100)
			wantClass(t, err, test.class)
		})
	}
}

func TestDoTimesOut(t *testing.T) {
	t.Parallel()
	s := server(t, (*httptest.Server).Start, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	options := loopback()
	options.Within = 50 * time.Millisecond
	_, _, err := get(t, safehttp.New(options), s.URL, 100)
	wantClass(t, err, safehttp.Timeout)
}

func TestDoReturnsWhenContextIsDone(t *testing.T) {
	t.Parallel()
	s := server(t, (*httptest.Server).Start, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = send(safehttp.New(loopback()), request, 100)
	wantClass(t, err, safehttp.Canceled)
	if !errors.Is(err, context.Canceled) {
		t.Error("the error does not unwrap to context.Canceled")
	}
}

func TestClientReachesTrustedServerOverTLS(t *testing.T) {
	t.Parallel()
	s := server(t, func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() },
		func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Proto)
		})
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	status, body, err := get(t, safehttp.NewWith(loopback(), nil, roots, time.Minute), s.URL, 100)
	if status != http.StatusOK || body != "HTTP/2.0" || err != nil {
		t.Errorf("got %d, %q, %v", status, body, err)
	}
}

func TestDoReturnsRedirects(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	target := server(t, (*httptest.Server).Start, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	s := server(t, (*httptest.Server).Start, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, target.URL, http.StatusTemporaryRedirect)
	})
	status, _, err := get(t, safehttp.New(loopback()), s.URL, 100)
	if status != http.StatusTemporaryRedirect || err != nil || reached.Load() != 0 {
		t.Errorf("got %d, %v and %d requests to the target", status, err, reached.Load())
	}
}

// hijack returns a handler that sends raw bytes and closes the connection.
func hijack(raw string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(connection, raw)
		_ = connection.Close()
	}
}

// fakeDNS returns a resolver that answers IPv4 lookups with the result of answer. A nil result means that the name
// doesn't exist.
func fakeDNS(answer func(name string) net.IP) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, end := net.Pipe()
		go serveDNS(end, answer)
		return client, nil
	}}
}

// serveDNS answers DNS queries over TCP (RFC 1035 section 4.2.2).
func serveDNS(connection net.Conn, answer func(string) net.IP) {
	defer func() { _ = connection.Close() }()
	for {
		var size [2]byte
		if _, err := io.ReadFull(connection, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(connection, query); err != nil {
			return
		}
		end := 12
		for query[end] != 0 {
			end += 1 + int(query[end])
		}
		question := query[12 : end+5]
		isIPv4 := question[len(question)-3] == 1
		reply := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question...)
		address := net.IP(nil)
		if isIPv4 {
			address = answer(string(query[13:end])).To4()
			reply[3] |= map[bool]byte{true: 3}[address == nil] // NXDOMAIN
		}
		if address != nil {
			reply[7] = 1
			reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
			reply = append(reply, address...)
		}
		framed := append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)
		if _, err := connection.Write(framed); err != nil {
			return
		}
	}
}
