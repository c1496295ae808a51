package pulse_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/smart/pulse"
	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/health"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/platform/safehttp"
)

const (
	baseURL       = "https://api.recordbridge.example/v1"
	configuration = "/fhir/.well-known/smart-configuration"
	metadata      = "/fhir/metadata"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// server is a FHIR server that counts the bytes it has sent.
type server struct {
	*httptest.Server

	sent atomic.Int64
}

func serve(t *testing.T, handle http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("User-Agent") != "Recordbridge (endpoint health; +"+baseURL+")" {
			t.Errorf("asked as %q", r.Header.Get("User-Agent"))
		}
		handle(counting{w, &s.sent}, r)
	}))
	t.Cleanup(s.Close)
	return s
}

type counting struct {
	http.ResponseWriter

	sent *atomic.Int64
}

func (c counting) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c counting) Write(body []byte) (int, error) {
	n, err := c.ResponseWriter.Write(body)
	c.sent.Add(int64(n))
	return n, err
}

// probe probes the server as the deployed function does, but allows loopback addresses.
func probe(t *testing.T, base string, within time.Duration) health.Finding {
	t.Helper()
	platforms, err := platform.NewRegistry()
	expect.NoError(t, err)
	client := safehttp.New(safehttp.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	return pulse.New(client, platforms, baseURL, func() time.Time { return noon }).
		Probe(ctx, health.Endpoint{ID: "e1", Mode: "live", Base: base + "/fhir", Platform: "smart"})
}

func stated(authorize, token string) string {
	return fmt.Sprintf(`{"authorization_endpoint":%q,"token_endpoint":%q,"code_challenge_methods_supported":["S256"]}`,
		authorize, token)
}

func TestProbeReportsHealthyServer(t *testing.T) {
	t.Parallel()
	var s *server
	s = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == configuration {
			bundle := `,"user_access_brand_bundle":"` + s.URL + `/brands.json"}`
			_, _ = io.WriteString(w, strings.TrimSuffix(stated(s.URL+"/authorize", s.URL+"/token"), "}")+bundle)
		}
	})
	want := health.Finding{
		Token: refresh.EndpointName(s.URL + "/token"),
		DiscoveredURLs: health.DiscoveredURLs{
			EndpointID: "e1", Mode: "live", SeenAt: noon, Pins: catalog.Pins{Authorization: s.URL, Token: s.URL},
			Bundle: s.URL + "/brands.json",
		},
	}
	if diff := cmp.Diff(want, probe(t, s.URL, time.Minute)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProbeReportsUntrustedDiscoveredURLs(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, stated("http://127.0.0.1:1/authorize", "http://127.0.0.1:1/token"))
	})
	want := []catalog.Departure{
		{Role: "authorization", To: "http://127.0.0.1:1"},
		{Role: "token", To: "http://127.0.0.1:1"},
	}
	if diff := cmp.Diff(want, probe(t, s.URL, time.Minute).DiscoveredURLs.Untrusted); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	ours := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, stated(baseURL+"/authorize", "https://elsewhere.example/token"))
	})
	if got := probe(t, ours.URL, time.Minute); got.Cause != "leads_to_us" || got.DiscoveredURLs.EndpointID != "" {
		t.Errorf("a discovery that leads to this service: %+v", got)
	}
}

// TestProbeFallsBackToCapabilityStatement checks that the prober reads the CapabilityStatement if the server has no
// SMART configuration. If the configuration may be missing only temporarily, the prober must not pin any URL from the
// capability statement.
func TestProbeFallsBackToCapabilityStatement(t *testing.T) {
	t.Parallel()
	for status, handedOn := range map[int]bool{http.StatusNotFound: true, http.StatusServiceUnavailable: false} {
		var s *server
		s = serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == configuration {
				w.WriteHeader(status)
				return
			}
			_, _ = fmt.Fprintf(w,
				`{"resourceType":"CapabilityStatement","rest":[{"mode":"server",`+
					`"security":{"extension":[{"url":"http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris",`+
					`"extension":[`+
					`{"url":"authorize","valueUri":"%s/authorize"},{"url":"token","valueUri":"%s/token"}]}]}}]}`, s.URL, s.URL)
		})
		if got := probe(t, s.URL, time.Minute); got.Cause != "" || (got.DiscoveredURLs.EndpointID != "") != handedOn {
			t.Errorf("after %d: %+v", status, got)
		}
	}
}

func TestProbeReportsFailureClassWithoutDetails(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		want   health.Finding
	}{
		"a page":          {answer(200, "<html>Jane Doe</html>"), health.Finding{Cause: "content"}},
		"no addresses":    {answer(200, "{}"), health.Finding{Cause: "no_endpoint"}},
		"no SMART server": {answer(404, ""), health.Finding{Cause: "not_found"}},
		"trouble":         {answer(500, ""), health.Finding{Cause: "server_fault"}},
		"plain challenges": {
			answer(200,
				`{"token_endpoint":"https://a.example","code_challenge_methods_supported":["plain"]}`),
			health.Finding{Cause: "no_s256"},
		},
		"deep nesting": {answer(200, strings.Repeat(`{"a":`, 200_000)), health.Finding{Cause: "no_endpoint"}},
		"a redirect abroad": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://other.example/", http.StatusFound)
		}, health.Finding{Cause: "foreign_link"}},
		"a redirect inside": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		}, health.Finding{Cause: "foreign_link"}},
		"an endless redirect": {func(w http.ResponseWriter,
			r *http.Request,
		) {
			http.Redirect(w, r, r.URL.Path+"/x", http.StatusFound)
		}, health.Finding{Cause: "rejected"}},
		"busy": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "600")
			w.WriteHeader(http.StatusTooManyRequests)
		}, health.Finding{Cause: "limited", Busy: true, Wait: 10 * time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, probe(t, serve(t, c.handle).URL, time.Minute)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestProbeReportsUnresponsiveServer(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	if got := probe(t, gone.URL, time.Minute); !cmp.Equal(got, silent("connect")) {
		t.Errorf("nobody listens: %+v", got)
	}
	slow := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, " "); err != nil {
				return
			}
			if http.NewResponseController(w).Flush() != nil {
				return
			}
			<-time.After(5 * time.Millisecond)
		}
	})
	if got := probe(t, slow.URL, 300*time.Millisecond); !cmp.Equal(got, silent("timeout")) {
		t.Errorf("a body that never ends: %+v", got)
	}
	if got := probe(t, "https://10.0.0.1", time.Minute); got.Cause != "blocked_address" || got.Silent {
		t.Errorf("a private address: %+v", got)
	}
}

func silent(class string) health.Finding { return health.Finding{Cause: class, Silent: true} }

func TestProbeLimitsResponseSize(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		part := []byte(strings.Repeat(`"a":"`+strings.Repeat("x", 1000)+`",`, 64))
		if _, err := w.Write([]byte("{")); err != nil {
			return
		}
		for range 64 << 20 / len(part) {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	})
	got := probe(t, s.URL, time.Minute)
	// The byte count includes bytes that the operating system buffered but the prober never read.
	if got.Cause != "too_large" || s.sent.Load() > 24<<20 {
		t.Errorf("%+v, after %d MiB", got, s.sent.Load()>>20)
	}
}
