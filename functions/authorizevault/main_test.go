package authorizevault_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/authorizevault"
	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/browsertest"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

const (
	attemptID = "3a1d5c90-2b7e-4c1f-8a52-7d0e9f6b4c21"
	bearer    = "Bearer token-1"
	fresh     = "urn:oid:2.999.1.1" // not chosen yet
	failed    = "urn:oid:2.999.1.2"
	underway  = "urn:oid:2.999.1.3"
	connected = "urn:oid:2.999.1.4"
	ambiguous = "urn:oid:2.999.1.5"
	silent    = "urn:oid:2.999.1.6"
)

// world holds the endpoint, the tables declared in template.yaml, and an attempt that has one located facility in each
// state.
type world struct {
	rows     rows
	now      time.Time
	log      bytes.Buffer
	limiter  httpapi.Limiter
	enqueued []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newAttempt(t, attempt.Attempt{
		Status: attempt.Located, IdentityEnds: keyedtest.Moment().Add(15 * time.Minute),
		Assertion: []byte("hidden-assertion"),
		DueAt:     keyedtest.Moment().Add(15 * time.Minute),
	})
}

// newAttempt is like newWorld, but stores a instead of the default attempt.
func newAttempt(t *testing.T, a attempt.Attempt) *world {
	t.Helper()
	made := tables.New(t)
	w := &world{now: keyedtest.Moment(), rows: rows{TEFCA: store.TEFCA{
		Flow: store.Flow{DB: made.DB, Table: made.Name("FlowTable")},
		Work: store.Work{DB: made.DB, Table: made.Name("WorkTable")},
	}}}
	a.ID, a.Tenant, a.TokenHash = attemptID, keyedtest.Tenants()[keyedtest.PublicA], binding.Hash("token-1")
	a.RequestID, a.CreatedAt, a.ExpiresAt = "mine", w.now, w.now.Add(binding.Lifetime)
	expect.NoError(t, w.rows.CreateAttempt(t.Context(), a,
		binding.Ticket{Hash: "hidden-ticket", Tenant: a.Tenant, AttemptID: a.ID, ExpiresAt: a.ExpiresAt}))
	for _, f := range []attempt.Facility{
		{ID: fresh, Match: tefca.Found},
		{ID: failed, Match: tefca.Found, Outcome: attempt.HasFailed, Reason: attempt.ReasonUnavailable},
		{ID: underway, Match: tefca.Found, Outcome: attempt.IsConnecting, LeaseUntil: w.now.Add(time.Minute)},
		{
			ID: connected, Match: tefca.Found, Outcome: attempt.IsConnected,
			Connected: attempt.Connected{
				ConnectionID:     "c0000000-0000-4000-8000-00000000000a",
				ConsentExpiresAt: w.now.Add(24 * time.Hour),
			},
		},
		{ID: ambiguous, Match: tefca.Ambiguous},
		{ID: silent, Match: tefca.Unanswered},
	} {
		f.Name, f.City, f.State, f.Access, f.ExpiresAt = "Clinic "+f.ID[len(f.ID)-1:], "Madison", "WI",
			tefca.Documents, a.ExpiresAt
		f.Local = []byte("hidden-local")
		expect.NoError(t, w.rows.SaveFacility(t.Context(), a.Tenant, a.ID, f))
	}
	return w
}

// EnqueueAttempt records the message and then returns an error, as if the message had been lost.
func (w *world) EnqueueAttempt(_ context.Context, of org.Tenant, id string) error {
	w.enqueued = append(w.enqueued, of.Key()+" "+id)
	return keyedtest.ErrTrouble
}

func (w *world) time() time.Time { return w.now }

// choose posts body to the endpoint, as the page that created the attempt does.
func (w *world) choose(t *testing.T, body string) *httptest.ResponseRecorder {
	t.Helper()
	return w.send(t, http.MethodPost, attemptID, browsertest.Page, body, bearer)
}

func (w *world) send(t *testing.T, method, id, query, body string, authorization ...string) *httptest.ResponseRecorder {
	t.Helper()
	auth := browsertest.Auth()
	auth.Limiter = w.limiter
	mux := http.NewServeMux()
	mux.Handle(authorizevault.Route, authorizevault.New(authorizevault.Deps{
		API: httpapi.New(httpapi.Options{
			Logger: logx.New(&w.log), Now: w.time,
			IDs: func() string { return keyedtest.RequestID },
		}),
		Auth:  auth,
		Flows: attempt.Chooser{Watcher: attempt.Watcher{Store: &w.rows, Now: w.time}, Store: &w.rows, Enqueuer: w},
	}))
	r := httptest.NewRequestWithContext(t.Context(), method, "/bridge/tefca/records/"+id+"/authorization"+query,
		strings.NewReader(body))
	r.Header["Authorization"] = authorization
	r.Header.Set("Origin", browsertest.Origin)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, r)
	return answer
}

func chosen(ids ...string) string {
	return `{"tefca_directory_ids":["` + strings.Join(ids, `","`) + `"]}`
}

func (w *world) attempt(t *testing.T) attempt.Attempt {
	t.Helper()
	a, err := w.rows.TEFCA.Attempt(t.Context(), keyedtest.Tenants()[keyedtest.PublicA], attemptID)
	expect.NoError(t, err)
	return a
}

func (w *world) facilities(t *testing.T) map[string]attempt.Facility {
	t.Helper()
	all, err := w.rows.TEFCA.Facilities(t.Context(), keyedtest.Tenants()[keyedtest.PublicA], attemptID)
	expect.NoError(t, err)
	found := map[string]attempt.Facility{}
	for _, f := range all {
		found[f.ID] = f
	}
	return found
}

// checkHidden checks that the response and the log don't contain any secrets. The log must not contain facility names,
// because they would reveal where the patient has been treated.
func (w *world) checkHidden(t *testing.T, body string) {
	t.Helper()
	line := w.log.String()
	for _, hidden := range []string{"hidden-", "token-1", binding.Hash("token-1"), "trouble at"} {
		if strings.Contains(body, hidden) || hidden != "trouble at" && strings.Contains(line, hidden) {
			t.Errorf("%q is told or logged:\n%s\n%s", hidden, body, line)
		}
	}
	if strings.Contains(line, "urn:oid:") || strings.Contains(line, "Clinic") {
		t.Errorf("the log tells where a patient was: %s", line)
	}
}

type rows struct {
	store.TEFCA

	losing   int // number of initial compare-and-swap writes that fail
	tries    int
	reads    int
	failing  error // error returned by Attempt
	unlisted error // error returned by Facilities
	unkept   error // error returned by Choose
}

func (r *rows) Attempt(ctx context.Context, tenant org.Tenant, id string) (attempt.Attempt, error) {
	r.reads++
	if r.failing != nil {
		return attempt.Attempt{}, r.failing
	}
	return r.TEFCA.Attempt(ctx, tenant, id)
}

func (r *rows) Facilities(ctx context.Context, tenant org.Tenant, id string) ([]attempt.Facility, error) {
	if r.unlisted != nil {
		return nil, r.unlisted
	}
	return r.TEFCA.Facilities(ctx, tenant, id)
}

func (r *rows) Choose(ctx context.Context, a attempt.Attempt, chosen []attempt.Facility) error {
	r.tries++
	if r.tries <= r.losing {
		return fault.Stale()
	}
	if r.unkept != nil {
		return r.unkept
	}
	return r.TEFCA.Choose(ctx, a, chosen)
}

// fullBuckets implements httpapi.Buckets and rejects every request.
type fullBuckets struct{}

func (fullBuckets) Take(context.Context, string, ratelimit.Limit, time.Time) (ratelimit.Decision, error) {
	return ratelimit.Decision{RetryAfter: 2 * time.Second}, nil
}
