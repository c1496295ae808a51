package smart_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

type counting struct {
	smart.Doer

	calls *atomic.Int64
}

func (c counting) Do(r *http.Request) (*http.Response, error) {
	c.calls.Add(1)
	return c.Doer.Do(r)
}

func TestAuthorizerCachesDiscovery(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	canned := answering{body: configuration(t, map[string]any{"authorization_endpoint": "authorize"})}
	authorizer := smart.NewAuthorizer(counting{canned, &calls}, rand.Reader, func() time.Time { return now })
	for _, step := range []struct {
		base string
		wait time.Duration
		want int64
	}{
		{"https://a.example", 0, 1},
		{"https://a.example", 0, 1},
		{"https://b.example", 0, 2},
		{"https://a.example", 10*time.Minute - 1, 2},
		{"https://a.example", 1, 3},
		{"https://a.example", 0, 3},
	} {
		now = now.Add(step.wait)
		authority, err := authorizer.Discover(t.Context(), step.base)
		if err != nil || authority.AuthorizationEndpoint != step.base+"/authorize" || calls.Load() != step.want {
			t.Errorf("after %v: %s after %d requests, want %d: %v", step.wait, authority.AuthorizationEndpoint, calls.Load(),
				step.want, err)
		}
	}
}

func TestAuthorizerLimitsDiscoveryCacheSize(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	canned := answering{body: configuration(t, map[string]any{"authorization_endpoint": "authorize"})}
	authorizer := smart.NewAuthorizer(counting{canned, &calls}, rand.Reader,
		func() time.Time { now = now.Add(time.Millisecond); return now })
	asked := func(i int) bool {
		before := calls.Load()
		if _, err := authorizer.Discover(t.Context(), fmt.Sprintf("https://h%d.example", i)); err != nil {
			t.Fatal(err)
		}
		return calls.Load() > before
	}
	for i := range 257 {
		asked(i)
	}
	if asked(256) || asked(1) || !asked(0) {
		t.Error("want the last 256 remembered and the oldest forgotten")
	}
}

func TestAuthorizerDoesNotCacheSubstituteForSMARTConfiguration(t *testing.T) {
	t.Parallel()
	var hasRecovered atomic.Bool
	e := newEHR(t, map[string]http.HandlerFunc{
		"/r4/.well-known/smart-configuration": func(w http.ResponseWriter, r *http.Request) {
			if !hasRecovered.Load() {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			body := configuration(t, map[string]any{"authorization_endpoint": "https://login.example/authorize"})
			reply(http.StatusOK, body)(w, r)
		},
		"/r4/metadata": reply(http.StatusOK, statement("SELF/authorize", "oauth/token")),
	})
	authorizer := smart.NewAuthorizer(doer(), rand.Reader, time.Now)
	first, err := authorizer.Discover(t.Context(), e.URL+"/r4")
	if err != nil || !first.Substitute {
		t.Fatalf("discovery during the failure: %+v, %v", first, err)
	}
	hasRecovered.Store(true)
	again, err := authorizer.Discover(t.Context(), e.URL+"/r4")
	if err != nil || again.AuthorizationEndpoint != "https://login.example/authorize" {
		t.Errorf("discovery after the failure: %+v, %v", again, err)
	}
}

func TestAuthorizerDoesNotCacheFailedDiscovery(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	authorizer := smart.NewAuthorizer(counting{answering{status: http.StatusBadGateway}, &calls}, rand.Reader, time.Now)
	for want := int64(2); want <= 4; want += 2 {
		if _, err := authorizer.Discover(t.Context(), "https://a.example"); !errors.Is(err, fault.Unavailable) ||
			calls.Load() != want {
			t.Errorf("%v after %d requests, want %d", err, calls.Load(), want)
		}
	}
}

// moved returns a health system whose token endpoint moved from old to current. The old URL responds with the given
// status.
func moved(t *testing.T, status int, old, current string) *ehr {
	t.Helper()
	return newEHR(t, map[string]http.HandlerFunc{
		"/old": reply(status, old),
		"/new": reply(http.StatusOK, current),
		"/r4/.well-known/smart-configuration": reply(http.StatusOK,
			configuration(t, map[string]any{"token_endpoint": "SELF/new"})),
	})
}

func (e *ehr) refresh(t *testing.T, from string) (tokens.Set, error) {
	t.Helper()
	return portal(doer(), time.Now, public{}).Refresh(t.Context(), org.Tenant{}, tokens.Set{
		TokenEndpoint: e.URL + from, FHIRBase: e.URL + "/r4", ClientID: "client", RefreshToken: secret.New("r"),
	})
}

func (e *ehr) paths() string {
	seen := e.requests()
	all := make([]string, 0, len(seen))
	for _, r := range seen {
		all = append(all, strings.TrimPrefix(r.URL.Path, "/r4/.well-known"))
	}
	return strings.Join(all, " ")
}

func TestRefreshRediscoversStaleTokenEndpointOnce(t *testing.T) {
	t.Parallel()
	const good, gone, stranger = `{"access_token":"a"}`, `<html></html>`, `{"error":"invalid_client"}`
	for name, test := range map[string]struct {
		status     int
		old, fresh string
		asked      string
		moved      bool
		refused    bool
	}{
		"404":                     {404, gone, good, "/old /smart-configuration /new", true, false},
		"invalid_client":          {401, stranger, good, "/old /smart-configuration /new", true, false},
		"invalid_client, again":   {401, stranger, stranger, "/old /smart-configuration /new", false, false},
		"404, then invalid_grant": {404, gone, `{"error":"invalid_grant"}`, "/old /smart-configuration /new", false, true},
		"404 with invalid_grant":  {404, `{"error":"invalid_grant"}`, good, "/old", false, true},
		"invalid_scope":           {400, `{"error":"invalid_scope"}`, good, "/old", false, false},
		"500":                     {500, gone, good, "/old", false, false},
		"403":                     {403, gone, good, "/old", false, false},
		"a good answer":           {200, `{}`, good, "/old", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := moved(t, test.status, test.old, test.fresh)
			set, err := e.refresh(t, "/old")
			if (err == nil) != test.moved || errors.Is(err, tokens.ErrRefused) != test.refused || e.paths() != test.asked {
				t.Errorf("%v after %s, want %s", err, e.paths(), test.asked)
			}
			if test.moved && (set.TokenEndpoint != e.URL+"/new" || set.RefreshToken.Reveal() != "r") {
				t.Errorf("the tokens belong to %s", set.TokenEndpoint)
			}
		})
	}
}

func TestRefreshDoesNotRetryUnmovedTokenEndpoint(t *testing.T) {
	t.Parallel()
	for name, configured := range map[string]http.HandlerFunc{
		"unchanged": reply(http.StatusOK, configuration(t, map[string]any{"token_endpoint": "SELF/old"})),
		"not known": reply(http.StatusBadGateway, ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEHR(t, map[string]http.HandlerFunc{
				"/old":                                reply(http.StatusUnauthorized, `{"error":"invalid_client"}`),
				"/r4/.well-known/smart-configuration": configured,
			})
			if _, err := e.refresh(t, "/old"); err == nil || errors.Is(err, tokens.ErrRefused) ||
				strings.Count(e.paths(), "/old") != 1 {
				t.Errorf("%v after %s", err, e.paths())
			}
		})
	}
}

// pinned is a catalogue with a single endpoint.
type pinned catalog.Endpoint

func (p pinned) Endpoint(_ context.Context, id string) (catalog.Endpoint, error) {
	if id != p.ID {
		return catalog.Endpoint{}, fault.Missing("Endpoint not found.")
	}
	if p.Status == "broken" {
		return catalog.Endpoint{}, errors.New("the table is away")
	}
	return catalog.Endpoint(p), nil
}

// TestRefreshRejectsMovedTokenEndpointOutsidePins covers discovery documents that name a token server other than the
// one that issued the tokens.
func TestRefreshRejectsMovedTokenEndpointOutsidePins(t *testing.T) {
	t.Parallel()
	type world struct {
		set       *tokens.Set
		endpoint  *pinned
		here, new string // origins
	}
	for name, c := range map[string]struct {
		prepare func(w world)
		follows bool
	}{
		"approved":            {func(world) {}, true},
		"pinned where it was": {func(w world) { w.endpoint.Pins.Token = w.here }, false},
		"another issuer":      {func(w world) { w.endpoint.Pins.Issuer = "https://other.example" }, false},
		"never pinned":        {func(w world) { w.endpoint.Pins = catalog.Pins{} }, false},
		"never pinned, and where the tokens have been": {func(w world) {
			w.endpoint.Pins, w.set.TokenEndpoint = catalog.Pins{}, w.new+"/old"
		}, true},
		"a set that does not know its endpoint": {func(w world) { w.set.EndpointID = "" }, false},
		"an endpoint that is gone":              {func(w world) { w.endpoint.ID = "another" }, false},
		"an endpoint that cannot be read":       {func(w world) { w.endpoint.Status = "broken" }, false},
		"an endpoint of another FHIR base":      {func(w world) { w.endpoint.FHIRBase = "https://other.example/r4" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gone := reply(http.StatusNotFound, "")
			away := newEHR(t, map[string]http.HandlerFunc{"/new": reply(http.StatusOK, `{"access_token":"a"}`), "/old": gone})
			e := newEHR(t, map[string]http.HandlerFunc{
				"/old": gone,
				"/r4/.well-known/smart-configuration": reply(http.StatusOK,
					configuration(t, map[string]any{"token_endpoint": away.URL + "/new"})),
			})
			server, err := smart.Discover(t.Context(), doer(), e.URL+"/r4")
			if err != nil {
				t.Fatal(err)
			}
			endpoint := pinned{ID: "endpoint-7", FHIRBase: e.URL + "/r4", Pins: catalog.Pins{
				Issuer: server.Issuer, Authorization: catalog.Origin(server.AuthorizationEndpoint), Token: away.URL,
				Keys: catalog.Origin(server.KeySet),
			}}
			set := tokens.Set{
				EndpointID: "endpoint-7", TokenEndpoint: e.URL + "/old", FHIRBase: e.URL + "/r4", ClientID: "client",
				RefreshToken: secret.New("r"),
			}
			c.prepare(world{&set, &endpoint, e.URL, away.URL})
			var line strings.Builder
			ctx, event := logx.Begin(t.Context())
			fresh, err := smart.NewPortal(doer(), public{}, endpoint, time.Now).Refresh(ctx, org.Tenant{}, set)
			event.Emit(ctx, logx.New(&line), "test")
			if c.follows {
				if err != nil || fresh.TokenEndpoint != away.URL+"/new" || fresh.EndpointID != set.EndpointID {
					t.Errorf("got %v, at %s", err, fresh.TokenEndpoint)
				}
				return
			}
			if err == nil || errors.Is(err, tokens.ErrRefused) || strings.Contains(away.paths(), "/new") {
				t.Errorf("got %v, and the new server was asked %q", err, away.paths())
			}
			if told := strings.Contains(line.String(), `"event":"portal_moved"`); told == (endpoint.Status == "broken") {
				t.Errorf("the log says %s", line.String())
			}
		})
	}
}
