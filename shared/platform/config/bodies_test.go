package config_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/platform/config"
)

type countedWrites struct {
	net.Conn

	count *atomic.Int64
}

func (c countedWrites) Write(p []byte) (int, error) {
	c.count.Add(1)
	return c.Conn.Write(p)
}

func TestPlainBodiesSendHeadersAndSmallBodyInOneWrite(t *testing.T) {
	t.Parallel()
	var received, writes atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		received.Store(n)
	}))
	t.Cleanup(server.Close)
	client := config.PlainBodies(&http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, network, address)
			return countedWrites{c, &writes}, err
		},
	}})
	// net/http doesn't recognise this body type, just as it doesn't recognise the SDK's.
	body := struct{ io.Reader }{strings.NewReader(strings.Repeat("x", 1000))}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, body)
	expect.NoError(t, err)
	r.ContentLength = 1000
	response, err := client.Do(r)
	expect.NoError(t, err)
	expect.NoError(t, response.Body.Close())
	if received.Load() != 1000 || writes.Load() != 1 {
		t.Errorf("%d bytes received of 1000, in %d writes, want 1", received.Load(), writes.Load())
	}
}
