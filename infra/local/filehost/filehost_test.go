package filehost_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"recordbridge/infra/local/filehost"
)

const listener = "127.0.0.1:4567"

func TestURLUsesHostNameWhenItResolves(t *testing.T) {
	t.Parallel()
	const byAddress = "http://" + listener
	tests := map[string]struct {
		found []string
		err   error
		want  string
	}{
		"this machine":                   {[]string{"::1", "127.0.0.1"}, nil, "http://files.localhost:4567"},
		"this machine, mapped":           {[]string{"::ffff:127.0.0.1"}, nil, "http://files.localhost:4567"},
		"unknown":                        {nil, errors.New("no such host"), byAddress},
		"nothing":                        {nil, nil, byAddress},
		"somebody else":                  {[]string{"192.0.2.1"}, nil, byAddress},
		"somebody else, too":             {[]string{"127.0.0.1", "192.0.2.1"}, nil, byAddress},
		"where nobody listens for files": {[]string{"::1"}, nil, byAddress},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lookup := func(ctx context.Context, _, host string) ([]netip.Addr, error) {
				if _, bounded := ctx.Deadline(); !bounded || host != "files.localhost" {
					t.Errorf("asked for %s, for a bounded time: %v", host, bounded)
				}
				all := make([]netip.Addr, 0, len(test.found))
				for _, at := range test.found {
					all = append(all, netip.MustParseAddr(at))
				}
				return all, test.err
			}
			if got := filehost.URL(t.Context(), lookup, netip.MustParseAddrPort(listener)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestRedirectsRewritesFileURLs(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]string{
		"http://127.0.0.1:4567/bucket/key?X-Amz-Signature=1": "http://files.localhost:4567/bucket/key?X-Amz-Signature=1",
		"http://127.0.0.1:45678/":                            "http://127.0.0.1:45678/",
		"http://127.0.0.1:4566/v1/bridge/callback":           "http://127.0.0.1:4566/v1/bridge/callback",
		"": "",
	} {
		answer := httptest.NewRecorder()
		filehost.Redirects(listener, "http://files.localhost:4567",
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", location)
				w.WriteHeader(http.StatusFound)
			})).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		if got := answer.Header().Get("Location"); got != want {
			t.Errorf("%s leads to %s, want %s", location, got, want)
		}
	}
}

// TestFilesRestoresSignedHostHeader covers clients that follow the redirect and therefore send the redirect URL's host.
func TestFilesRestoresSignedHostHeader(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"files.localhost:4567": listener, "Files.Localhost:4567": listener, listener: listener,
		"files.localhost:4566": "files.localhost:4566", "localhost:4567": "localhost:4567",
	} {
		got := ""
		request := httptest.NewRequest(http.MethodGet, "/bucket/key", http.NoBody)
		request.Host = host
		filehost.Files(listener, "http://files.localhost:4567",
			http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				got = r.Host
			})).ServeHTTP(httptest.NewRecorder(), request)
		if got != want {
			t.Errorf("as %s: the signature is looked at as for %s, want %s", host, got, want)
		}
	}
}
