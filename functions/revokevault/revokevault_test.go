package revokevault_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/functions/revokevault"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const (
	issuer  = "https://api.example/v1/sandbox/identity"
	first   = "c0000000-0000-4000-8000-00000000000a"
	second  = "c0000000-0000-4000-8000-00000000000b"
	third   = "c0000000-0000-4000-8000-00000000000c"
	maple   = `{"email":"maple.aster@tefca.example"}`
	subject = "p01" // synthetic patient Maple
)

type world struct {
	statuses map[string]connection.Status // status by connection ID; a listed connection without a status doesn't exist
	listed   []string
	unlisted error
	unread   error
	unended  map[string]error // errors returned by Disconnect, by connection ID
	ended    []string
	limiter  httpapi.Limiter
}

func newWorld() *world {
	return &world{
		listed: []string{third, second, first, "c0000000-0000-4000-8000-0000000000ff"},
		statuses: map[string]connection.Status{
			first: connection.Authorized, second: connection.Revoked,
			third: connection.Authorized,
		},
	}
}

func (w *world) PersonsConnections(_ context.Context, tenant org.Tenant, person string) ([]string, error) {
	if tenant != keyedtest.Tenants()[keyedtest.PublicA] || person != binding.Hash(issuer+"|"+subject) {
		return nil, w.unlisted
	}
	return w.listed, w.unlisted
}

func (w *world) Connection(_ context.Context, tenant org.Tenant, id string) (connection.Connection, error) {
	if w.unread != nil {
		return connection.Connection{}, w.unread
	}
	status, ok := w.statuses[id]
	if !ok || tenant != keyedtest.Tenants()[keyedtest.PublicA] {
		return connection.Connection{}, connection.Missing()
	}
	return connection.Connection{ID: id, Tenant: tenant, Status: status}, nil
}

func (w *world) Disconnect(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error) {
	if err := w.unended[id]; err != nil {
		return connection.Connection{}, err
	}
	w.ended, w.statuses[id] = append(w.ended, id), connection.Revoked
	return w.Connection(ctx, tenant, id)
}

func (w *world) check(t *testing.T, e keyedtest.Exchange) {
	t.Helper()
	if e.Method == "" {
		e.Method = http.MethodPost
	}
	e.Path = revokevault.Route
	e.Check(t, revokevault.Route, revokevault.New(revokevault.Deps{
		API: keyedtest.NewAPI(), Auth: httpapi.KeyAuth{Keys: keyedtest.Keys{}, Limiter: w.limiter},
		Revoker: attempt.Revoker{Persons: w, Disconnector: w, Issuer: issuer},
	}))
}

func revoked(ids ...string) string {
	list := ""
	if len(ids) > 0 {
		list = `"` + strings.Join(ids, `","`) + `"`
	}
	return `{"success":true,"data":{"request_id":"` + keyedtest.RequestID + `","revoked":[` + list + `]}}`
}

// TestRevokeVaultEndsActiveConnections also checks that the response doesn't list revoked or deleted connections, and
// that a repeated request returns an empty list.
func TestRevokeVaultEndsActiveConnections(t *testing.T) {
	t.Parallel()
	for _, body := range []string{maple, `{"email":"Maple.ASTER@tefca.example","org_id":"other"}`} {
		w := newWorld()
		w.check(t, keyedtest.Exchange{User: keyedtest.PublicA, Body: body, Status: 200, Want: revoked(first, third)})
		slices.Sort(w.ended)
		if diff := cmp.Diff([]string{first, third}, w.ended); diff != "" {
			t.Errorf("ended (-want +got):\n%s", diff)
		}
		w.check(t, keyedtest.Exchange{User: keyedtest.PublicA, Body: body, Status: 200, Want: revoked()})
	}
}

func TestRevokeVaultKeepsConnectionsOfOtherPatients(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.check(t, keyedtest.Exchange{
		User: keyedtest.PublicA, Body: `{"email":"sorrel.birch@tefca.example"}`, Status: 200,
		Want: revoked(),
	})
	w.check(t, keyedtest.Exchange{User: keyedtest.PublicB, Body: maple, Status: 200, Want: revoked()})
	if len(w.ended) != 0 {
		t.Errorf("ended %q", w.ended)
	}
}

func TestRevokeVaultRejectsLiveKey(t *testing.T) {
	t.Parallel()
	w := newWorld()
	want := keyedtest.FailureBody("svc_forbidden_mode", "This works only with test credentials.")
	for _, body := range []string{maple, `{"email":"nobody@tefca.example"}`} {
		w.check(t, keyedtest.Exchange{User: keyedtest.LiveA, Body: body, Status: 403, Want: want})
	}
	if len(w.ended) != 0 {
		t.Errorf("ended %q", w.ended)
	}
}

// TestRevokeVaultRejectsInvalidAddress covers values that are not a synthetic patient's address. The response must
// never repeat the submitted value.
func TestRevokeVaultRejectsInvalidAddress(t *testing.T) {
	t.Parallel()
	nobody := keyedtest.FailureBody("svc_invalid_request",
		"email must be the address of a synthetic TEFCA patient.")
	refused := func(says string) string { return keyedtest.FailureBody("svc_invalid_request", says) }
	for name, e := range map[string]keyedtest.Exchange{
		"nobody's address": {Body: `{"email":"nobody@tefca.example"}`, Status: 400, Want: nobody},
		"part of one":      {Body: `{"email":"maple.aster"}`, Status: 400, Want: nobody},
		"blanks around":    {Body: `{"email":" maple.aster@tefca.example "}`, Status: 400, Want: nobody},
		"no address":       {Body: `{}`, Status: 400, Want: refused("email is required.")},
		"an empty one":     {Body: `{"email":""}`, Status: 400, Want: refused("email is required.")},
		"null":             {Body: `{"email":null}`, Status: 400, Want: refused("email is required.")},
		"a number":         {Body: `{"email":7}`, Status: 400, Want: refused("email must be a string.")},
		"a list": {
			Body: `{"email":["maple.aster@tefca.example"]}`, Status: 400,
			Want: refused("email must be a string."),
		},
		"twice": {
			Body: `{"email":"a","Email":"b"}`, Status: 400,
			Want: refused("The request body contains a duplicate member."),
		},
		"no body":   {Status: 400, Want: refused("A JSON request body is required.")},
		"no object": {Body: `[]`, Status: 400, Want: refused("The request body must be a JSON object.")},
		"GET": {
			Method: http.MethodGet, Status: 405, Want: keyedtest.FailureBody("svc_method_not_allowed",
				"This method is not allowed for this URL. Allowed methods: POST, OPTIONS."),
			Header: map[string]string{"Allow": "POST, OPTIONS"},
		},
		"too large": {
			Body: `{"email":"` + strings.Repeat("x", 64<<10) + `"}`, Status: 413,
			Want: keyedtest.FailureBody("svc_payload_too_large", "The request body must not exceed 64 KiB."),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			e.User = keyedtest.PublicA
			w.check(t, e)
			if len(w.ended) != 0 {
				t.Errorf("ended %q", w.ended)
			}
		})
	}
}

func TestRevokeVaultRequiresKey(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]keyedtest.Exchange{
		"no key":      {},
		"a wrong key": {User: keyedtest.PublicA, Key: "other"},
		"a stranger":  {User: "public_test_x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			e.Body, e.Status, e.Want = maple, 401, keyedtest.Unauthorized
			w.check(t, e)
			if len(w.ended) != 0 {
				t.Errorf("ended %q", w.ended)
			}
		})
	}
}

// TestRevokeVaultReturnsErrorWhenPartlyRevoked checks that repeating the request ends the remaining connections.
func TestRevokeVaultReturnsErrorWhenPartlyRevoked(t *testing.T) {
	t.Parallel()
	lost := keyedtest.FailureBody("svc_unavailable", "The record changed at the same time. Please try again.")
	for name, c := range map[string]struct {
		change func(*world)
		status int
		want   string
	}{
		"connections that are not listed": {func(w *world) { w.unlisted = keyedtest.ErrTrouble }, 500, keyedtest.ServerError},
		"a connection that is not read":   {func(w *world) { w.unread = keyedtest.ErrTrouble }, 500, keyedtest.ServerError},
		"one that does not end": {
			func(w *world) { w.unended = map[string]error{first: keyedtest.ErrTrouble} }, 500,
			keyedtest.ServerError,
		},
		"a race that is lost": {func(w *world) { w.unended = map[string]error{first: fault.Stale()} }, 503, lost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			c.change(w)
			w.check(t, keyedtest.Exchange{User: keyedtest.PublicA, Body: maple, Status: c.status, Want: c.want})
			w.unlisted, w.unread, w.unended = nil, nil, nil
			w.check(t, keyedtest.Exchange{
				User: keyedtest.PublicA, Body: maple, Status: 200,
				Want: revoked(slices.Sorted(w.left())...),
			})
		})
	}
}

func (w *world) left() func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for id, status := range w.statuses {
			if status == connection.Authorized && !yield(id) {
				return
			}
		}
	}
}

// fullBuckets implements httpapi.Buckets and rejects every request.
type fullBuckets struct{}

func (fullBuckets) Take(context.Context, string, ratelimit.Limit, time.Time) (ratelimit.Decision, error) {
	return ratelimit.Decision{RetryAfter: 2 * time.Second}, nil
}

func TestRevokeVaultIsRateLimited(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.limiter = httpapi.Limiter{
		Buckets: fullBuckets{},
		Limit:   ratelimit.Limit{Name: "keyed", Quota: 1, Window: time.Minute},
	}
	w.check(t, keyedtest.Exchange{
		User: keyedtest.PublicA, Body: maple, Status: 429,
		Want:   keyedtest.FailureBody("svc_rate_limited", "Too many requests. Please wait before you try again."),
		Header: map[string]string{"Retry-After": "2"},
	})
	if len(w.ended) != 0 {
		t.Errorf("ended %q", w.ended)
	}
}
