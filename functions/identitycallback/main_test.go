package identitycallback_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/identitycallback"
	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	attemptID = "3a1d5c90-2b7e-4c1f-8a52-7d0e9f6b4c21"
	baseURL   = "https://api.example/v1"
	idToken   = "header.claims-of-maple.signature"
)

// world holds the endpoint, the tables declared in template.yaml, an attempt whose browser has been redirected to the
// provider, and a configurable provider.
type world struct {
	handler http.Handler
	rows    rows
	now     time.Time
	log     bytes.Buffer
	sealer  *kms.Sealer // encrypts identities

	request  identity.Request // authorization request received by the provider
	started  binding.Started
	at       string        // identity provider in the callback URL
	lasts    time.Duration // how long the identity stays valid
	refuses  error         // error returned by Exchange
	pinned   []identity.Authority
	back     []identity.Return
	deadline time.Time
	enqueued []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newLimited(t, nil)
}

// newLimited is like newWorld, but limits requests with buckets.
func newLimited(t *testing.T, buckets httpapi.Buckets) *world {
	t.Helper()
	made := tables.New(t)
	w := &world{now: keyedtest.Moment(), at: "simulated", lasts: 15 * time.Minute}
	w.rows = rows{TEFCA: store.TEFCA{
		Flow: store.Flow{DB: made.DB, Table: made.Name("FlowTable")},
		Work: store.Work{DB: made.DB, Table: made.Name("WorkTable")},
	}}
	keys, key := made.Key(t)
	verifiers := kms.New(keys, kms.TokensKey(key), attempt.VerifierPurpose, w.time)
	w.sealer = kms.New(keys, kms.TokensKey(key), attempt.AssertionPurpose, w.time)
	w.handler = identitycallback.New(identitycallback.Deps{
		API: httpapi.New(httpapi.Options{
			Logger: logx.New(&w.log), Now: w.time,
			IDs: func() string { return keyedtest.RequestID },
		}),
		Limiter: httpapi.Limiter{
			Buckets: buckets,
			Limit:   ratelimit.Limit{Name: "identitycallback", Quota: 1, Window: time.Minute},
		},
		Flows: attempt.Completer{
			Store: &w.rows, Party: w, Verifiers: verifiers, Assertions: w.sealer, Enqueuer: w,
			Now: w.time,
		},
	})
	admission := attempt.Admission{Settings: map[org.Mode]attempt.Setting{
		org.Test: {Providers: []identity.Provider{identity.Simulated(baseURL)}}, org.Live: {},
	}}
	creator := attempt.Creator{
		Admission: admission, Store: &w.rows, Now: w.time,
		NewID: func() string { return attemptID }, Random: rand.Reader,
	}
	prepared, err := creator.Create(t.Context(), attempt.Request{
		Tenant: keyedtest.Tenants()[keyedtest.PublicA], Provider: "simulated", ExternalID: "patient-7",
		ExternalState: "visit&9", RequestID: "mine",
	})
	expect.NoError(t, err)
	starter := attempt.Starter{
		Admission: admission, Store: &w.rows, Party: w, Sealer: verifiers, BaseURL: baseURL, Now: w.time, Random: rand.Reader,
	}
	w.started, err = starter.Leave(t.Context(), prepared.Start)
	expect.NoError(t, err)
	return w
}

func (w *world) Begin(_ context.Context, at identity.Provider,
	request identity.Request,
) (string, identity.Authority, error) {
	w.request = request
	return "https://id.example/authorize", identity.Authority{
		Provider: at, RedirectURI: request.RedirectURI,
		TokenEndpoint: at.Issuer + "/token",
	}, nil
}

func (w *world) Exchange(ctx context.Context, pinned identity.Authority,
	back identity.Return,
) (tefca.Assertion, error) {
	w.pinned, w.back = append(w.pinned, pinned), append(w.back, back)
	w.deadline, _ = ctx.Deadline()
	if w.refuses != nil {
		return tefca.Assertion{}, w.refuses
	}
	return tefca.Assertion{
		Provider: "simulated", Issuer: "https://id.example", Subject: "p01", Level: 2,
		Person: tefca.Person{Given: "Maple", Family: "Aster"},
		Token:  secret.New(idToken), IssuedAt: w.now, ExpiresAt: w.now.Add(w.lasts),
	}, nil
}

// EnqueueAttempt records the message and then fails, as if the message had been lost.
func (w *world) EnqueueAttempt(_ context.Context, of org.Tenant, id string) error {
	w.enqueued = append(w.enqueued, of.Key()+" "+id)
	return keyedtest.ErrTrouble
}

func (w *world) time() time.Time { return w.now }

// visit sends the callback request from the browser that started the attempt.
func (w *world) visit(query string) *httptest.ResponseRecorder {
	return w.visitWith(http.MethodGet, query, "", w.started.CookieValue.Reveal())
}

func (w *world) visitWith(method, query, language, cookie string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, identity.CallbackPath+"/"+w.at+query, http.NoBody)
	r.SetPathValue("provider", w.at)
	r.Header.Set("Accept-Language", language)
	if cookie != "" {
		r.AddCookie(&http.Cookie{Name: "__Host-" + w.started.CookieName, Value: cookie})
	}
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, r)
	return answer
}

// success returns the callback query of a successful sign-in.
func (w *world) success() string {
	return "?state=" + w.request.State + "&code=c%2B1&iss=https%3A%2F%2Fid.example&session_state=x"
}

func (w *world) attempt(t *testing.T) attempt.Attempt {
	t.Helper()
	a, err := w.rows.Attempt(t.Context(), keyedtest.Tenants()[keyedtest.PublicA], attemptID)
	expect.NoError(t, err)
	return a
}

// checkHidden checks that the page and the log don't contain any part of the identity or its proofs.
func (w *world) checkHidden(t *testing.T, page string) {
	t.Helper()
	for _, hidden := range []string{
		"c+1", "c%2B1", w.request.State, w.request.Nonce, w.started.CookieValue.Reveal(), idToken, "Maple", "Aster", "p01",
		"patient-7", "visit",
	} {
		if strings.Contains(page, hidden) || strings.Contains(w.log.String(), hidden) {
			t.Errorf("%q is on the page or in the log:\n%s\n%s", hidden, page, w.log.String())
		}
	}
}

type rows struct {
	store.TEFCA

	untaken error
	unread  error
	unsaved error
}

func (r *rows) TakeState(ctx context.Context, hash, bindingHash string, now time.Time) (binding.State, error) {
	if r.untaken != nil {
		return binding.State{}, r.untaken
	}
	return r.TEFCA.TakeState(ctx, hash, bindingHash, now)
}

func (r *rows) Attempt(ctx context.Context, tenant org.Tenant, id string) (attempt.Attempt, error) {
	if r.unread != nil {
		return attempt.Attempt{}, r.unread
	}
	return r.TEFCA.Attempt(ctx, tenant, id)
}

func (r *rows) SaveAttempt(ctx context.Context, a attempt.Attempt) error {
	if r.unsaved != nil {
		return r.unsaved
	}
	return r.TEFCA.SaveAttempt(ctx, a)
}

// fullBuckets implements httpapi.Buckets and rejects every request.
type fullBuckets struct{}

func (fullBuckets) Take(context.Context, string, ratelimit.Limit, time.Time) (ratelimit.Decision, error) {
	return ratelimit.Decision{RetryAfter: 2 * time.Second}, nil
}
