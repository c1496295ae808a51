package webhookworker_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/webhook"
)

func listen(t *testing.T, serve func(c net.Conn)) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				serve(c)
			}()
		}
	}()
	return listener.Addr().String()
}

func loopback() *safehttp.Client {
	return safehttp.New(safehttp.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
}

// writing returns a server that responds to a request with head, followed by endless copies of again until the client
// disconnects.
func writing(head, again string) func(c net.Conn) {
	more := []byte(again)
	return func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			return
		}
		_, err := c.Write([]byte(head))
		for err == nil && len(more) > 0 {
			_, err = c.Write(more)
		}
	}
}

// TestPostSurvivesMisbehavingReceivers checks that misbehaving receivers consume limited time and memory, and don't
// affect later deliveries.
func TestPostSurvivesMisbehavingReceivers(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 1<<16)
	tests := map[string]struct {
		scheme string
		serve  func(c net.Conn)
		status int
		want   webhook.Failure
	}{
		"resets": {"http", func(c net.Conn) {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
		}, 0, webhook.FailedConnect},
		"speaks no TLS":       {"https", func(c net.Conn) { _, _ = c.Write([]byte(big)) }, 0, webhook.FailedTLS},
		"speaks no HTTP":      {"http", writing("220 mail.example ESMTP\r\n", ""), 0, webhook.FailedConnect},
		"answers without end": {"http", writing("HTTP/1.1 200 OK\r\n\r\n", big), 200, ""},
		"has headers without end": {
			"http", writing("HTTP/1.1 200 OK\r\n", "X-A: "+strings.Repeat("x", 1000)+"\r\n"), 0,
			webhook.FailedConnect,
		},
		"breaks off": {"http", writing("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf", ""), 200, ""},
		"promises much": {"http", writing("HTTP/1.1 200 OK\r\nContent-Length: 9999999999999\r\n\r\nx",
			""), 200, ""},
		"sends a compressed nobody": {"http", writing(
			"HTTP/1.1 500 No\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnone", ""), 500, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := listen(t, test.serve)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			got := post(ctx, t, loopback(), test.scheme+"://"+address+"/hook")
			if got.Status != test.status || got.Failure != test.want || len(got.Body) > 2<<10 {
				t.Errorf("status %d, failure %q, %d bytes; want %d, %q and at most 2 KiB", got.Status, got.Failure, len(got.Body),
					test.status, test.want)
			}
		})
	}
}

//nolint:paralleltest // it measures what the process allocates
func TestPostLimitsMemoryOfEndlessResponses(t *testing.T) {
	address := listen(t, writing("HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("x", 1<<16)))
	client := loopback()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const posts = 20
	for range posts {
		post(t.Context(), t, client, "http://"+address)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / posts; each > 256<<10 {
		t.Errorf("%d bytes for each post, want less than 256 KiB", each)
	}
}

func TestPostLimitsResponseHeaders(t *testing.T) {
	t.Parallel()
	header := http.Header{
		"Retry-After": {"7"}, "Webhook-Delivery": {"disable"}, "Set-Cookie": {"a=b"}, "Zz": {"one", "two"},
		"A-Long": {strings.Repeat("é", 200)}, "A-" + strings.Repeat("x", 100): {"1"},
	}
	client := doer(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: header, Body: http.NoBody}, nil
	})
	want := webhook.Answer{
		Status: 200, Body: []byte{}, RetryAfter: "7", Control: "disable",
		Header: map[string]string{
			"Retry-After": "7", "Webhook-Delivery": "disable", "Zz": "one, two",
			"A-Long": strings.Repeat("é", 128),
		},
	}
	if diff := cmp.Diff(want, post(t.Context(), t, client, receiver)); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	header["Odd"] = []string{strings.Repeat("x", 255) + "é"}
	if got := post(t.Context(), t, client, receiver).Header["Odd"]; got != strings.Repeat("x", 255) {
		t.Errorf("a value that is cut within a letter ends with %q", got[250:])
	}
	for i := range 100 {
		header[fmt.Sprintf("B-%02d", i)] = []string{"v"}
	}
	if got := post(t.Context(), t, client, receiver); len(got.Header) != 40 || got.RetryAfter != "7" ||
		got.Control != "disable" {
		t.Errorf("%d headers are kept, and of Retry-After %q", len(got.Header), got.RetryAfter)
	}
}
