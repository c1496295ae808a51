package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"recordbridge/infra/local/template"
	"recordbridge/shared/words/ids"
)

// checkKeyed checks that only the organisation's test key can access its test data. Requests with a live key or another
// organisation's key must get the given status and error code.
func (f finished) checkKeyed(t *testing.T, route template.Route, others int, code string) {
	t.Helper()
	f.checkKeys(t, route, expected{others, code}, expected{others, code})
	own := f.seeded.Organisations[0]
	if got := f.as(route, own.PublicID, own.PrivateKey); got.status >= http.StatusBadRequest {
		t.Errorf("%s %s with the own key: got %d %s", route.Method, route.Path, got.status, got.Error)
	}
}

type expected struct {
	status int
	code   string
}

// checkKeys checks that the route rejects invalid keys. others is the expected response to another organisation's key,
// and live is the one to the organisation's own live key.
func (f finished) checkKeys(t *testing.T, route template.Route, others, live expected) {
	t.Helper()
	f.checkRefusals(t, route)
	for name, c := range map[string]struct {
		of   int
		want expected
	}{"another organisation's key": {2, others}, "the live key": {1, live}} {
		pair := f.seeded.Organisations[c.of]
		f.checkKey(t, route, name, pair.PublicID, pair.PrivateKey, c.want)
	}
}

func (f finished) checkRefusals(t *testing.T, route template.Route) {
	t.Helper()
	own, live, other := f.seeded.Organisations[0], f.seeded.Organisations[1], f.seeded.Organisations[2]
	for _, attack := range []struct{ name, publicID, key string }{
		{"no key", "", ""},
		{"another organisation's key under the own id", own.PublicID, other.PrivateKey},
		{"the live key under the test id", own.PublicID, live.PrivateKey},
		{"an unknown id", "public_test_" + ids.Random(), own.PrivateKey},
		{"a mistyped key", own.PublicID, own.PrivateKey[:len(own.PrivateKey)-1] + "!"},
	} {
		f.checkKey(t, route, attack.name, attack.publicID, attack.key,
			expected{http.StatusUnauthorized, "svc_unauthorized_client"})
	}
}

// checkKey checks the response to a request with the given key. The response must not contain the organisation's data.
func (f finished) checkKey(t *testing.T, route template.Route, name, publicID, key string, want expected) {
	t.Helper()
	got := f.as(route, publicID, key)
	if got.status != want.status || got.Error != want.code {
		t.Errorf("%s %s with %s: got %d %s, want %d %s", route.Method, route.Path, name, got.status, got.Error,
			want.status, want.code)
	}
	if strings.Contains(string(got.raw), f.connectionID) || strings.Contains(string(got.raw), f.taskID) {
		t.Errorf("%s %s with %s shows what is not its own: %s", route.Method, route.Path, name, got.raw)
	}
	challenge := got.header.Get("X-Amzn-Remapped-Www-Authenticate")
	if (got.status == http.StatusUnauthorized) != strings.HasPrefix(challenge, "Basic ") {
		t.Errorf("%s %s with %s: the challenge is %q", route.Method, route.Path, name, challenge)
	}
	if id := got.header.Get("X-Request-Id"); id == "" || got.status >= http.StatusBadRequest && got.Request != id {
		t.Errorf("%s %s with %s: request_id %q, header %q", route.Method, route.Path, name, got.Request, id)
	}
}

// checkMode checks that all keys for a mode produce the same status and error code. The status must be 200, or 404 if
// the mode has no data.
func (f finished) checkMode(t *testing.T, route template.Route) {
	t.Helper()
	var stands [2]expected
	for i := range stands {
		pair := f.seeded.Organisations[i] // Organisations[0] holds the test key, Organisations[1] the live key
		got := f.as(route, pair.PublicID, pair.PrivateKey)
		stands[i] = expected{got.status, got.Error}
		if !slices.Contains([]expected{{http.StatusOK, ""}, {http.StatusNotFound, "svc_not_found"}}, stands[i]) {
			t.Errorf("%s %s with a key of its own: %d %s", route.Method, route.Path, got.status, got.raw)
		}
	}
	f.checkKeys(t, route, stands[0], stands[1])
}

// TestCatalogExportRequiresKeyForItsMode checks that a mode's catalogue can be downloaded only with a key for that
// mode.
func TestCatalogExportRequiresKeyForItsMode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.catalog.goLive("test", f.catalog.institutions(1))
		route := template.Route{Method: http.MethodGet, Path: "/bridge/catalog/export"}
		f.finished().checkMode(t, route)
		f.finished().checkKeys(t, route, expected{http.StatusOK, ""}, expected{http.StatusNotFound, "svc_not_found"})
	})
}
