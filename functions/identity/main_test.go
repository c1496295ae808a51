package identity_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"recordbridge/functions/identity"
	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/browsertest"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/infra/testkit/starttest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/tefca/attempt"
	csp "recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

const (
	baseURL   = "https://api.example/v1"
	attemptID = "3a1d5c90-2b7e-4c1f-8a52-7d0e9f6b4c21" // attempt ID generated for a request without one
	ownID     = "9b0d7c1e-4f25-4a86-b3d9-5e8a1c6f2740"
	authorize = "https://id.example/authorize?request_uri=urn%3Aexample%3A1"
)

// world holds the endpoint, the tables declared in template.yaml, and a configurable organisation and provider.
type world struct {
	handler  http.Handler
	rows     rows
	now      time.Time
	log      bytes.Buffer
	settings map[org.Mode]attempt.Setting
	plan     org.Plan
	unread   error // error returned by Organisation
	unbegun  error // error returned by Begin
	begun    []csp.Request
	asked    []csp.Provider
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newLimited(t, nil)
}

// newLimited is like newWorld but uses buckets to rate-limit requests.
func newLimited(t *testing.T, buckets httpapi.Buckets) *world {
	t.Helper()
	made := tables.New(t)
	second := csp.Provider{
		ID: "second", Name: "Second Identity", Mode: org.Test, Issuer: "https://second.example",
		ClientID: "client-2",
	}
	live := csp.Provider{
		ID: "real", Name: "Real Identity", Mode: org.Live, Issuer: "https://real.example",
		ClientID: "client-3",
	}
	w := &world{now: keyedtest.Moment(), plan: org.Paid, settings: map[org.Mode]attempt.Setting{
		org.Test: {Providers: []csp.Provider{csp.Simulated(baseURL), second}, Simulated: true},
		org.Live: {Providers: []csp.Provider{live}, Simulated: false},
	}}
	w.rows = rows{TEFCA: store.TEFCA{
		Flow: store.Flow{DB: made.DB, Table: made.Name("FlowTable")},
		Work: store.Work{DB: made.DB, Table: made.Name("WorkTable")},
	}}
	keys, key := made.Key(t)
	admission, random := attempt.Admission{Organisations: w, Settings: w.settings}, &counted{}
	limiter := httpapi.Limiter{Buckets: buckets, Limit: ratelimit.Limit{Name: "identity", Quota: 1, Window: time.Minute}}
	auth := browsertest.Auth()
	auth.Own = ownhosts.Own()
	auth.Limiter = limiter
	handler := identity.New(identity.Deps{
		API: httpapi.New(httpapi.Options{
			Logger: logx.New(&w.log), Now: w.time,
			IDs: func() string { return keyedtest.RequestID },
		}),
		Auth: auth, Limiter: limiter, BaseURL: baseURL,
		Flows: attempt.Creator{
			Admission: admission, Store: &w.rows, Now: w.time, NewID: func() string { return attemptID },
			Random: random,
		},
		Windows: attempt.Starter{
			Admission: admission, Store: &w.rows, Party: w,
			Sealer:  kms.New(keys, kms.TokensKey(key), attempt.VerifierPurpose, w.time),
			BaseURL: baseURL,
			Now:     w.time, Random: random,
		},
	})
	mux := http.NewServeMux() // the function serves two routes, distinguished by their patterns
	mux.Handle(identity.Route, handler)
	mux.Handle(identity.StartRoute, handler)
	w.handler = mux
	return w
}

func (w *world) Organisation(_ context.Context, publicID string) (org.Organisation, error) {
	if publicID != keyedtest.LiveA {
		return org.Organisation{}, errors.New("test mode is open to everybody")
	}
	return org.Organisation{Plan: w.plan}, w.unread
}

func (w *world) Begin(_ context.Context, at csp.Provider, request csp.Request) (string, csp.Authority, error) {
	w.asked, w.begun = append(w.asked, at), append(w.begun, request)
	return authorize, csp.Authority{
		Provider: at, RedirectURI: request.RedirectURI,
		TokenEndpoint: at.Issuer + "/token",
	}, w.unbegun
}

func (w *world) time() time.Time { return w.now }

func (w *world) post(t *testing.T, body string) *httptest.ResponseRecorder {
	t.Helper()
	return browsertest.Send(t, w.handler, http.MethodPost, identity.Route+browsertest.Page, body)
}

// leave posts a start value to the endpoint, as the service's pages do.
func (w *world) leave(t *testing.T, start string) *httptest.ResponseRecorder {
	t.Helper()
	return w.send(starttest.Request(t, identity.StartRoute, starttest.Body(start)))
}

func (w *world) send(r *http.Request) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, r)
	return answer
}

func (w *world) attempt(t *testing.T, id string) attempt.Attempt {
	t.Helper()
	a, err := w.rows.Attempt(t.Context(), keyedtest.Tenants()[keyedtest.PublicA], id)
	expect.NoError(t, err)
	return a
}

// checkNothingMade checks that no attempt exists with either ID.
func (w *world) checkNothingMade(t *testing.T, after string) {
	t.Helper()
	for _, of := range []string{keyedtest.PublicA, keyedtest.LiveA} {
		for _, id := range []string{attemptID, ownID} {
			if _, err := w.rows.Attempt(t.Context(), keyedtest.Tenants()[of], id); !errors.Is(err, fault.NotFound) {
				t.Errorf("after %s there is attempt %s of %s: %v", after, id, of, err)
			}
		}
	}
}

type rows struct {
	store.TEFCA

	failing error
}

func (r *rows) CreateAttempt(ctx context.Context, a attempt.Attempt, ticket binding.Ticket) error {
	if r.failing != nil {
		return r.failing
	}
	return r.TEFCA.CreateAttempt(ctx, a, ticket)
}

func (r *rows) Ticket(ctx context.Context, hash string, now time.Time) (binding.Ticket, error) {
	if r.failing != nil {
		return binding.Ticket{}, r.failing
	}
	return r.TEFCA.Ticket(ctx, hash, now)
}

// counted is a deterministic random source whose nth read fills the buffer with bytes of value n.
type counted struct{ n byte }

func (c *counted) Read(into []byte) (int, error) {
	c.n++
	return copy(into, bytes.Repeat([]byte{c.n}, len(into))), nil
}

// value returns the base64 encoding of the nth value read from counted.
func value(n byte) string { return base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{n}, 32)) }

// fullBuckets implements httpapi.Buckets and rejects every request.
type fullBuckets struct{}

func (fullBuckets) Take(context.Context, string, ratelimit.Limit, time.Time) (ratelimit.Decision, error) {
	return ratelimit.Decision{RetryAfter: 2 * time.Second}, nil
}
