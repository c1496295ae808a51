package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/words/fault"
)

func bare(api edge, limiter httpapi.Limiter) http.Handler {
	type request struct {
		Name string `query:"name"`
	}
	f := func(_ context.Context, in request) (echo, error) {
		switch in.Name {
		case "strange":
			return echo{}, fault.BadRequest("name is strange.")
		case "broken":
			return echo{}, errors.New("broken at 10.0.0.7")
		}
		return echo{Text: "<" + in.Name + ">"}, nil
	}
	return api.Serve("/.well-known/x", httpapi.Methods{http.MethodGet: httpapi.Bare(limiter, time.Hour, f)})
}

func TestBareDocumentHasNoEnvelopeAndIsCacheable(t *testing.T) {
	t.Parallel()
	handler := bare(newEdge(), httpapi.Limiter{})
	w := do(handler, newRequest(http.MethodGet, "/.well-known/x?name=a", ""))
	wantBody(t, w, http.StatusOK, `{"text":"<a>"}`)
	wantHeader(t, w, "Content-Type", "application/json")
	wantHeader(t, w, "Cache-Control", "public, max-age=3600")
	wantHeader(t, w, "Access-Control-Allow-Origin", "*")
	wantHeader(t, w, "X-Content-Type-Options", "nosniff")
	wantHeader(t, w, "X-Request-Id", requestID)
	w = do(handler, newRequest(http.MethodHead, "/.well-known/x?name=a", ""))
	wantHeader(t, w, "Cache-Control", "public, max-age=3600")
	if w.Code != http.StatusOK || w.Body.Len() != 0 {
		t.Errorf("HEAD: %d %s", w.Code, w.Body)
	}
}

func TestBareDocumentFailureIsNotCacheable(t *testing.T) {
	t.Parallel()
	handler := bare(newEdge(), httpapi.Limiter{})
	for query, want := range map[string]struct {
		status int
		body   string
	}{
		"name=strange":  {http.StatusBadRequest, errorBody("svc_invalid_request", "name is strange.")},
		"name=a&name=b": {http.StatusBadRequest, errorBody("svc_invalid_request", "name must not be repeated.")},
		"name=broken": {
			http.StatusInternalServerError,
			errorBody("svc_server_error", "Something went wrong on our side. Please try again."),
		},
	} {
		w := do(handler, newRequest(http.MethodGet, "/.well-known/x?"+query, ""))
		wantBody(t, w, want.status, want.body)
		wantHeader(t, w, "Cache-Control", "no-store")
		wantHeader(t, w, "Access-Control-Allow-Origin", "*")
	}
	w := do(handler, newRequest(http.MethodPost, "/.well-known/x", ""))
	wantHeader(t, w, "Allow", "GET, HEAD, OPTIONS")
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

func TestBareDocumentIsRateLimitedByAddress(t *testing.T) {
	t.Parallel()
	limit := ratelimit.Limit{Name: "x", Quota: 1, Window: time.Minute}
	handler := bare(newEdge(), httpapi.Limiter{Buckets: &buckets{}, Limit: limit})
	get := func(remote string) int {
		r := newRequest(http.MethodGet, "/.well-known/x", "")
		r.RemoteAddr = remote
		return do(handler, r).Code
	}
	for i, c := range []struct {
		remote string
		want   int
	}{{"192.0.2.1:1", 200}, {"192.0.2.1:2", 429}, {"192.0.2.2:1", 200}} {
		if got := get(c.remote); got != c.want {
			t.Errorf("request %d: got %d, want %d", i, got, c.want)
		}
	}
}
