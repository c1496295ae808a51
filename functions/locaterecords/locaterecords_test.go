package locaterecords_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/locaterecords"
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
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

const (
	attemptID = "3a1d5c90-2b7e-4c1f-8a52-7d0e9f6b4c21"
	bearer    = "Bearer token-1"
	missing   = "Attempt not found."
)

type world struct {
	rows    rows
	now     time.Time
	log     bytes.Buffer
	limiter httpapi.Limiter
}

func newWorld(t *testing.T) *world {
	t.Helper()
	made := tables.New(t)
	return &world{now: keyedtest.Moment(), rows: rows{TEFCA: store.TEFCA{
		Flow: store.Flow{DB: made.DB, Table: made.Name("FlowTable")},
		Work: store.Work{DB: made.DB, Table: made.Name("WorkTable")},
	}}}
}

func (w *world) time() time.Time { return w.now }

// put stores a completed test-mode attempt for organisation A, with default test data and the given facilities.
func (w *world) put(t *testing.T, a attempt.Attempt, facilities ...attempt.Facility) {
	t.Helper()
	a.ID, a.Tenant, a.TokenHash = attemptID, keyedtest.Tenants()[keyedtest.PublicA], binding.Hash("token-1")
	a.Provider, a.RequestID, a.CreatedAt, a.ExpiresAt = "simulated", "mine", w.now, w.now.Add(binding.Lifetime)
	a.NonceHash, a.Verifier, a.Assertion = "hidden-nonce", []byte("hidden-verifier"), []byte("hidden-assertion")
	ticket := binding.Ticket{Hash: "hidden-ticket", Tenant: a.Tenant, AttemptID: a.ID, ExpiresAt: a.ExpiresAt}
	expect.NoError(t, w.rows.CreateAttempt(t.Context(), a, ticket))
	for _, f := range facilities {
		f.Local, f.ExpiresAt = []byte("hidden-local"), a.ExpiresAt
		expect.NoError(t, w.rows.SaveFacility(t.Context(), a.Tenant, a.ID, f))
	}
}

func (w *world) get(t *testing.T, query string, authorization ...string) *httptest.ResponseRecorder {
	t.Helper()
	return w.send(t, http.MethodGet, attemptID, query, authorization...)
}

func (w *world) send(t *testing.T, method, id, query string, authorization ...string) *httptest.ResponseRecorder {
	t.Helper()
	auth := browsertest.Auth()
	auth.Limiter = w.limiter
	mux := http.NewServeMux()
	mux.Handle(locaterecords.Route, locaterecords.New(locaterecords.Deps{
		API: httpapi.New(httpapi.Options{
			Logger: logx.New(&w.log), Now: w.time,
			IDs: func() string { return keyedtest.RequestID },
		}),
		Auth: auth, Flows: attempt.Watcher{Store: w.rows, Now: w.time},
	}))
	r := httptest.NewRequestWithContext(t.Context(), method, "/bridge/tefca/records/"+id+query, http.NoBody)
	r.Header["Authorization"] = authorization
	r.Header.Set("Origin", browsertest.Origin)
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, r)
	return answer
}

// checkHidden checks that the response and the log don't contain any secrets, and that the log doesn't contain any
// patient data.
func (w *world) checkHidden(t *testing.T, body string) {
	t.Helper()
	line := w.log.String()
	for _, hidden := range []string{"hidden-", "token-1", binding.Hash("token-1")} {
		if strings.Contains(body, hidden) || strings.Contains(line, hidden) {
			t.Errorf("%q is told or logged:\n%s\n%s", hidden, body, line)
		}
	}
	if strings.Contains(line, "patient-7") || strings.Contains(line, "Clinic") || strings.Contains(line, "urn:oid:") {
		t.Errorf("the log has what is the patient's: %s", line)
	}
}

type rows struct {
	store.TEFCA

	failing  error
	unlisted error // error returned by Facilities
}

func (r rows) Attempt(ctx context.Context, tenant org.Tenant, id string) (attempt.Attempt, error) {
	if r.failing != nil {
		return attempt.Attempt{}, r.failing
	}
	return r.TEFCA.Attempt(ctx, tenant, id)
}

func (r rows) Facilities(ctx context.Context, tenant org.Tenant, id string) ([]attempt.Facility, error) {
	if r.unlisted != nil {
		return nil, r.unlisted
	}
	return r.TEFCA.Facilities(ctx, tenant, id)
}

// fullBuckets implements httpapi.Buckets and rejects every request.
type fullBuckets struct{}

func (fullBuckets) Take(context.Context, string, ratelimit.Limit, time.Time) (ratelimit.Decision, error) {
	return ratelimit.Decision{RetryAfter: 2 * time.Second}, nil
}

func clinic(id string, match tefca.Match) attempt.Facility {
	return attempt.Facility{
		ID: id, Name: "Clinic " + id[len(id)-1:], City: "Madison", State: "WI", Match: match,
		Access: tefca.Documents,
	}
}

func chosen(id string, outcome attempt.Outcome, reason attempt.Reason) attempt.Facility {
	f := clinic(id, tefca.Found)
	f.Outcome, f.Reason = outcome, reason
	return f
}

func shown(id, match, outcome string) string {
	return `{"tefca_directory_id":"` + id + `","name":"Clinic ` + id[len(id)-1:] +
		`","city":"Madison","state":"WI","match":"` + match + `"` + outcome + `}`
}

func told(status, ends string, facilities ...string) string {
	if ends != "" {
		ends = `,"identity_expires_at":"` + ends + `"`
	}
	return `{"success":true,"data":{"attempt_id":"` + attemptID + `","status":"` + status + `"` + ends +
		`,"facilities":[` + strings.Join(facilities, ",") + `]}}`
}

func TestLocateRecordsReturnsProgress(t *testing.T) {
	t.Parallel()
	const f1, f2, f3, f4 = "urn:oid:2.999.1.1", "urn:oid:2.999.1.2", "urn:oid:2.999.1.3", "urn:oid:2.999.1.4"
	const ends = "2026-03-04T05:21:07Z"
	verified := keyedtest.Moment().Add(15 * time.Minute)
	connected := chosen(f2, attempt.IsConnected, "")
	connected.Connected = attempt.Connected{
		ConnectionID:     "c0000000-0000-4000-8000-00000000000a",
		ConsentExpiresAt: keyedtest.Moment().Add(24 * time.Hour),
	}
	connection := `,"outcome":"connected","connection":{"org_connection_id":"c0000000-0000-4000-8000-00000000000a",` +
		`"connection_status":"authorized",` +
		`"platform_type":"tefca","request_id":"mine","external_id":"patient-7","external_state":"visit-9",` +
		`"scope":"patient/*.read",` +
		`"consent_expires_at":"2026-03-05T05:06:07Z","tefca_directory_id":"` + f2 + `"}`
	for name, c := range map[string]struct {
		kept       attempt.Attempt
		facilities []attempt.Facility
		later      time.Duration
		want       string
	}{
		"made":            {attempt.Attempt{Status: attempt.Created}, nil, 0, told("created", "")},
		"at the provider": {attempt.Attempt{Status: attempt.Open}, nil, 0, told("open", "")},
		"just in time":    {attempt.Attempt{Status: attempt.Open}, nil, 30*time.Minute - time.Nanosecond, told("open", "")},
		"too late":        {attempt.Attempt{Status: attempt.Open}, nil, 30 * time.Minute, told("expired", "")},
		"nobody knows them": {
			attempt.Attempt{Status: attempt.Located, IdentityEnds: verified},
			nil, 0,
			told("located", ends),
		},
		"the network is asked": {
			attempt.Attempt{Status: attempt.Locating, IdentityEnds: verified},
			[]attempt.Facility{clinic(f1, tefca.Found)},
			0,
			told("locating", ends, shown(f1, "found", "")),
		},
		"who can be chosen first, then by name": {
			attempt.Attempt{Status: attempt.Located, IdentityEnds: verified},
			[]attempt.Facility{
				clinic(f1, tefca.Unanswered), clinic(f2, tefca.Ambiguous), clinic(f4, tefca.Found),
				clinic(f3, tefca.Found),
			},
			0,
			told("located", ends, shown(f3, "found", ""), shown(f4, "found", ""), shown(f2, "ambiguous", ""),
				shown(f1, "unanswered", "")),
		},
		"some are connected": {
			attempt.Attempt{Status: attempt.Located, IdentityEnds: verified, ExternalID: "patient-7", ExternalState: "visit-9"},
			[]attempt.Facility{chosen(f1, attempt.HasFailed, attempt.ReasonTooLarge), connected},
			0,
			told("located", ends, shown(f1, "found", `,"outcome":"failed","reason":"too_large"`),
				shown(f2, "found", connection)),
		},
		"one is being connected": {
			attempt.Attempt{Status: attempt.Located, IdentityEnds: verified},
			[]attempt.Facility{clinic(f1, tefca.Found), chosen(f3, attempt.IsConnecting, "")},
			0,
			told("authorizing", ends, shown(f1, "found", ""), shown(f3, "found", `,"outcome":"connecting"`)),
		},
		"what was chosen in time is told to its end": {
			attempt.Attempt{Status: attempt.Located, IdentityEnds: verified},
			[]attempt.Facility{chosen(f3, attempt.IsConnecting, "")},
			time.Hour,
			told("authorizing", ends, shown(f3, "found", `,"outcome":"connecting"`)),
		},
		"what was connected is told afterwards": {
			attempt.Attempt{Status: attempt.Located, IdentityEnds: verified},
			[]attempt.Facility{chosen(f3, attempt.HasFailed, attempt.ReasonIdentity)},
			30 * time.Minute,
			told("expired", ends, shown(f3, "found", `,"outcome":"failed","reason":"identity_expired"`)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(t, c.kept, c.facilities...)
			w.now = w.now.Add(c.later)
			got := w.get(t, browsertest.Page, bearer)
			browsertest.CheckAnswer(t, got, c.want)
			w.checkHidden(t, got.Body.String())
			if len(got.Header().Values("Set-Cookie")) != 0 || !strings.Contains(w.log.String(), `"attempt_id":"`+attemptID+`"`) {
				t.Errorf("headers %v, log %s", got.Header(), w.log.String())
			}
		})
	}
}

// TestLocateRecordsReturnsFailureWhenAttemptFailed checks that the response contains the cause and the remedy as long
// as the row exists. A response about a failed attempt must never list facilities.
func TestLocateRecordsReturnsFailureWhenAttemptFailed(t *testing.T) {
	t.Parallel()
	for cause, action := range map[string]string{
		"level_too_low": "The provider confirms less than identity assurance level 2. Let the patient complete its " +
			"verification, or choose another provider.",
		"network_unavailable": "The network did not respond, or failed. Let the patient try again later.",
		"of another release":  "Let the patient try again. If it happens again, send support the request ID.",
	} {
		w := newWorld(t)
		w.put(t, attempt.Attempt{
			Status: attempt.Failed, ExternalState: "visit-9",
			Ending: attempt.Ending{Error: "e", Description: "d", Cause: cause, RequestID: "r"},
		}, clinic("urn:oid:2.999.1.1", tefca.Found))
		w.now = w.now.Add(time.Hour)
		got := w.get(t, browsertest.Page, bearer)
		browsertest.CheckAnswer(t, got, strings.TrimSuffix(told("failed", ""), "}}")+
			`,"error":{"error":"e","error_description":"d","request_id":"r",`+
			`"external_state":"visit-9","cause":"`+cause+`","suggested_action":"`+action+`"}}}`)
		w.checkHidden(t, got.Body.String())
	}
}

func TestLocateRecordsAcceptsIDInEitherCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, attempt.Attempt{Status: attempt.Open})
	for _, header := range []string{bearer, "bearer token-1", "BEARER  token-1 "} {
		browsertest.CheckAnswer(t, w.send(t, http.MethodGet, strings.ToUpper(attemptID), browsertest.Page, header),
			told("open", ""))
	}
}

// TestLocateRecordsHidesAttemptFromCallerWithoutToken checks that an unknown attempt, another organisation's attempt
// and a wrong token get the same response.
func TestLocateRecordsHidesAttemptFromCallerWithoutToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, attempt.Attempt{Status: attempt.Open})
	const livePage = "?public_id=" + keyedtest.LiveA
	for name, c := range map[string]struct {
		id, query string
		headers   []string
	}{
		"no header":            {attemptID, browsertest.Page, nil},
		"an empty one":         {attemptID, browsertest.Page, []string{""}},
		"a guess":              {attemptID, browsertest.Page, []string{"Bearer token-2"}},
		"the hash":             {attemptID, browsertest.Page, []string{"Bearer " + binding.Hash("token-1")}},
		"no scheme":            {attemptID, browsertest.Page, []string{"token-1"}},
		"another scheme":       {attemptID, browsertest.Page, []string{"Basic token-1"}},
		"the scheme alone":     {attemptID, browsertest.Page, []string{"Bearer"}},
		"an unknown attempt":   {"9b0d7c1e-4f25-4a86-b3d9-5e8a1c6f2740", browsertest.Page, []string{bearer}},
		"no UUID":              {"x", browsertest.Page, []string{bearer}},
		"another organisation": {attemptID, "?public_id=" + keyedtest.PublicB, []string{bearer}},
		"the other mode":       {attemptID, livePage, []string{bearer}},
	} {
		got := w.send(t, http.MethodGet, c.id, c.query, c.headers...)
		if text := strings.TrimSpace(got.Body.String()); got.Code != http.StatusNotFound ||
			text != keyedtest.FailureBody("svc_not_found", missing) {
			t.Errorf("%s: %d %s", name, got.Code, text)
		}
		if h := got.Header(); h.Get("WWW-Authenticate") != "" || h.Get("Cache-Control") != "no-store" ||
			h.Get("Access-Control-Allow-Origin") == "" {
			t.Errorf("%s: headers %v", name, h)
		}
	}
	w.checkHidden(t, "")
}

func TestLocateRecordsRejectsMalformedRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, attempt.Attempt{Status: attempt.Located})
	two := w.get(t, browsertest.Page, bearer, "Bearer token-2")
	stranger, nobody := w.get(t, "?public_id=x", bearer), w.get(t, "", bearer)
	posted := w.send(t, http.MethodPost, attemptID, browsertest.Page, bearer)
	w.rows.unlisted = keyedtest.ErrTrouble
	unlisted := w.get(t, browsertest.Page, bearer)
	w.rows.failing = keyedtest.ErrTrouble
	failed := w.get(t, browsertest.Page, bearer)
	w.limiter = httpapi.Limiter{
		Buckets: fullBuckets{},
		Limit:   ratelimit.Limit{Name: "locaterecords", Quota: 1, Window: time.Minute},
	}
	often := w.get(t, browsertest.Page, bearer)
	for name, c := range map[string]struct {
		got    *httptest.ResponseRecorder
		status int
		want   string
	}{
		"two tokens": {
			two, 400,
			keyedtest.FailureBody("svc_invalid_request", "Authorization must not be repeated."),
		},
		"an unknown public id": {
			stranger, 401,
			keyedtest.FailureBody("svc_unauthorized_client", "public_id is unknown."),
		},
		"no public id": {nobody, 400, keyedtest.FailureBody("svc_invalid_request", "public_id is required.")},
		"POST": {
			posted, 405,
			keyedtest.FailureBody("svc_method_not_allowed",
				"This method is not allowed for this URL. Allowed methods: DELETE, GET, HEAD, OPTIONS."),
		},
		"facilities that are not read": {unlisted, 500, keyedtest.ServerError},
		"an attempt that is not read":  {failed, 500, keyedtest.ServerError},
		"too many questions": {
			often, 429,
			keyedtest.FailureBody("svc_rate_limited", "Too many requests. Please wait before you try again."),
		},
	} {
		if text := strings.TrimSpace(c.got.Body.String()); c.got.Code != c.status || text != c.want ||
			c.got.Header().Get("WWW-Authenticate") != "" {
			t.Errorf("%s: got %d %s\nwant %d %s", name, c.got.Code, text, c.status, c.want)
		}
	}
	if often.Header().Get("Retry-After") != "2" {
		t.Errorf("too many questions: headers %v", often.Header())
	}
}
