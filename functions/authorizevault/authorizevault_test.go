package authorizevault_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/browsertest"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/words/retry"
)

// shown returns the JSON representation of a facility with the given outcome.
func shown(id, match, outcome string) string {
	return `{"tefca_directory_id":"` + id + `","name":"Clinic ` + id[len(id)-1:] +
		`","city":"Madison","state":"WI","match":"` + match + `"` + outcome + `}`
}

// told returns the expected response body for the given outcomes of the first two facilities.
func told(first, second string) string {
	return `{"success":true,"data":{"attempt_id":"` + attemptID +
		`","status":"authorizing","identity_expires_at":"2026-03-04T05:21:07Z","facilities":[` +
		strings.Join([]string{
			shown(fresh, "found", first), shown(failed, "found", second), shown(underway, "found", `,"outcome":"connecting"`),
			shown(connected, "found",
				`,"outcome":"connected","connection":{"org_connection_id":"c0000000-0000-4000-8000-00000000000a",`+
					`"connection_status":"authorized","platform_type":"tefca","request_id":"mine","scope":"patient/*.read",`+
					`"consent_expires_at":"2026-03-05T05:06:07Z","tefca_directory_id":"`+connected+`"}`),
			shown(ambiguous, "ambiguous", ""), shown(silent, "unanswered", ""),
		}, ",") + `]}}`
}

const (
	connecting = `,"outcome":"connecting"`
	hasFailed  = `,"outcome":"failed","reason":"unavailable"`
	located    = 6
)

// TestAuthorizeVaultConnectsChosenFacilities covers newly chosen facilities and facilities that previously failed to
// connect. Facilities that are not chosen must not change.
func TestAuthorizeVaultConnectsChosenFacilities(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body          string
		first, second string
		changed       []string
	}{
		"one": {chosen(fresh), connecting, hasFailed, []string{fresh}},
		"one of several": {
			`{"tefca_directory_ids":["` + failed + `"],"attempt_id":"x","external_id":"y"}`, "", connecting,
			[]string{failed},
		},
		"two":               {chosen(failed, fresh), connecting, connecting, []string{fresh, failed}},
		"twice the same":    {chosen(fresh, fresh), connecting, hasFailed, []string{fresh}},
		"those that are":    {chosen(underway, connected), "", hasFailed, nil},
		"one more of those": {chosen(underway, connected, fresh), connecting, hasFailed, []string{fresh}},
		"fifty words":       {chosen(slices.Repeat([]string{fresh}, 50)...), connecting, hasFailed, []string{fresh}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			before := w.facilities(t)
			w.now = w.now.Add(time.Minute)
			got := w.choose(t, c.body)
			browsertest.CheckAnswer(t, got, told(c.first, c.second))
			w.checkHidden(t, got.Body.String())
			wanted, due := []string(nil), keyedtest.Moment().Add(15*time.Minute)
			for _, id := range c.changed {
				f := before[id]
				f.Outcome, f.Reason, f.Rev = attempt.IsConnecting, "", 2
				before[id] = f
				wanted, due = []string{"test#a0000000-0000-4000-8000-000000000001 " + attemptID}, w.now
			}
			if diff := cmp.Diff(before, w.facilities(t)); diff != "" || len(before) != located {
				t.Errorf("facilities (-want +got):\n%s", diff)
			}
			if kept := w.attempt(t); kept.Status != attempt.Located || !kept.DueAt.Equal(due) || len(kept.Assertion) == 0 {
				t.Errorf("kept %+v, want it due at %v", kept, due)
			}
			if diff := cmp.Diff(wanted, w.enqueued); diff != "" {
				t.Errorf("the worker was told of (-want +got):\n%s", diff)
			}
			w.enqueued = nil
			browsertest.CheckAnswer(t, w.choose(t, c.body), told(c.first, c.second))
			if diff := cmp.Diff(before, w.facilities(t)); diff != "" || len(w.enqueued) != 0 {
				t.Errorf("once more, facilities (-want +got):\n%s\nthe worker was told of %q", diff, w.enqueued)
			}
		})
	}
}

func TestAuthorizeVaultRejectsAllFacilitiesWhenOneIsInvalid(t *testing.T) {
	t.Parallel()
	const number, notFound, notOfIt = "tefca_directory_ids must have 1 to 50 IDs.",
		"One of the facilities did not find the person.", "One of the facilities does not belong to this attempt."
	const field = "tefca_directory_ids"
	w := newWorld(t)
	before, facilities := w.attempt(t), w.facilities(t)
	for body, c := range map[string]struct{ says, field string }{
		"":                               {"A JSON request body is required.", ""},
		`[]`:                             {"The request body must be a JSON object.", ""},
		`{}`:                             {"tefca_directory_ids is required.", field},
		`{"tefca_directory_ids":null}`:   {"tefca_directory_ids is required.", field},
		`{"tefca_directory_ids":[]}`:     {number, field},
		`{"tefca_directory_ids":"a"}`:    {"tefca_directory_ids must be an array.", field},
		`{"tefca_directory_ids":[7]}`:    {"tefca_directory_ids must be a string.", field},
		`{"tefca_directory_ids":[null]}`: {notOfIt, field},
		chosen(slices.Repeat([]string{fresh}, 51)...): {number, field},
		chosen(fresh, ambiguous):                      {notFound, field},
		chosen(silent):                                {notFound, field},
		chosen(fresh, "urn:oid:2.999.9"):              {notOfIt, field},
		chosen(""):                                    {notOfIt, field},
		chosen(strings.ToUpper(fresh)):                {notOfIt, field},
	} {
		w.log.Reset()
		got := w.choose(t, body)
		if text := strings.TrimSpace(got.Body.String()); got.Code != http.StatusBadRequest ||
			text != keyedtest.FailureBody("svc_invalid_request", c.says) {
			t.Errorf("%s: got %d %s\nwant 400 %s", body, got.Code, text, c.says)
		}
		if !strings.Contains(w.log.String(), c.field) {
			t.Errorf("%s: the log does not name %s: %s", body, c.field, w.log.String())
		}
		w.checkHidden(t, got.Body.String())
	}
	if got := w.choose(t, chosen(strings.Repeat("x", 64<<10))); got.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a body that is too large: %d %s", got.Code, got.Body)
	}
	if diff := cmp.Diff(before, w.attempt(t)) + cmp.Diff(facilities, w.facilities(t)); diff != "" || len(w.enqueued) != 0 {
		t.Errorf("after refusals (-before +after):\n%s\nthe worker was told of %q", diff, w.enqueued)
	}
}

// TestAuthorizeVaultReturnsConflictUnlessFacilitiesCanBeChosen covers attempts for which no facilities were located,
// failed attempts and expired identities.
func TestAuthorizeVaultReturnsConflictUnlessFacilitiesCanBeChosen(t *testing.T) {
	t.Parallel()
	const notYet = "This attempt's facilities can't be chosen, or not yet."
	const over = "The identity check has expired. Nothing more was shared. Please verify your identity once more."
	ends := keyedtest.Moment().Add(15 * time.Minute)
	for name, c := range map[string]struct {
		kept  attempt.Attempt
		later time.Duration
		says  string
	}{
		"made":            {attempt.Attempt{Status: attempt.Created}, 0, notYet},
		"at the provider": {attempt.Attempt{Status: attempt.Open}, 0, notYet},
		"the network is asked": {attempt.Attempt{
			Status: attempt.Locating, Assertion: []byte("a"),
			IdentityEnds: ends,
		}, 0, notYet},
		"failed": {attempt.Attempt{
			Status: attempt.Failed, Assertion: []byte("a"),
			IdentityEnds: ends,
		}, 0, notYet},
		"the identity has run out": {
			attempt.Attempt{Status: attempt.Located, Assertion: []byte("a"), IdentityEnds: ends},
			15 * time.Minute, over,
		},
		"the identity is gone": {attempt.Attempt{Status: attempt.Located, IdentityEnds: ends}, 0, over},
		"the attempt is over": {
			attempt.Attempt{Status: attempt.Located, Assertion: []byte("a"), IdentityEnds: ends},
			time.Hour, over,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newAttempt(t, c.kept)
			before := w.facilities(t)
			w.now = w.now.Add(c.later)
			for _, body := range []string{chosen(fresh), chosen(connected)} {
				got := w.choose(t, body)
				if text := strings.TrimSpace(got.Body.String()); got.Code != http.StatusConflict ||
					text != keyedtest.FailureBody("svc_conflict", c.says) {
					t.Errorf("got %d %s", got.Code, text)
				}
			}
			if w.rows.reads != 2 {
				t.Errorf("what will not change was read %d times, want once for each choice", w.rows.reads)
			}
			if diff := cmp.Diff(before, w.facilities(t)); diff != "" || len(w.enqueued) != 0 {
				t.Errorf("facilities (-want +got):\n%s\nthe worker was told of %q", diff, w.enqueued)
			}
		})
	}
	in := newWorld(t)
	in.now = in.now.Add(15*time.Minute - time.Nanosecond)
	if got := in.choose(t, chosen(fresh)); got.Code != http.StatusOK {
		t.Errorf("just in time it answered %d %s", got.Code, got.Body)
	}
}

// TestAuthorizeVaultHidesAttemptFromCallerWithoutToken checks that an unknown attempt, another organisation's attempt
// and a wrong token get the same response and don't change any data.
func TestAuthorizeVaultHidesAttemptFromCallerWithoutToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.facilities(t)
	for name, c := range map[string]struct {
		id, query string
		headers   []string
	}{
		"no header":            {attemptID, browsertest.Page, nil},
		"a guess":              {attemptID, browsertest.Page, []string{"Bearer token-2"}},
		"the hash":             {attemptID, browsertest.Page, []string{"Bearer " + binding.Hash("token-1")}},
		"another scheme":       {attemptID, browsertest.Page, []string{"Basic token-1"}},
		"an unknown attempt":   {"9b0d7c1e-4f25-4a86-b3d9-5e8a1c6f2740", browsertest.Page, []string{bearer}},
		"no UUID":              {"x", browsertest.Page, []string{bearer}},
		"another organisation": {attemptID, "?public_id=" + keyedtest.PublicB, []string{bearer}},
		"the other mode":       {attemptID, "?public_id=" + keyedtest.LiveA, []string{bearer}},
	} {
		got := w.send(t, http.MethodPost, c.id, c.query, chosen(fresh), c.headers...)
		want := keyedtest.FailureBody("svc_not_found", "Attempt not found.")
		if text := strings.TrimSpace(got.Body.String()); got.Code != http.StatusNotFound || text != want ||
			got.Header().Get("WWW-Authenticate") != "" {
			t.Errorf("%s: %d %s", name, got.Code, text)
		}
	}
	if diff := cmp.Diff(before, w.facilities(t)); diff != "" || len(w.enqueued) != 0 {
		t.Errorf("facilities (-want +got):\n%s\nthe worker was told of %q", diff, w.enqueued)
	}
	w.checkHidden(t, "")
}

// TestAuthorizeVaultRetriesConflictingWrite checks that a write that loses a compare-and-swap is retried a few times.
// If the last retry also fails, the endpoint must return an error and must not choose any facility.
func TestAuthorizeVaultRetriesConflictingWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rows.losing = retry.Tries - 1
	browsertest.CheckAnswer(t, w.choose(t, chosen(fresh)), told(connecting, hasFailed))
	if w.rows.tries != retry.Tries || len(w.enqueued) != 1 {
		t.Errorf("%d tries, the worker was told of %q", w.rows.tries, w.enqueued)
	}
	w = newWorld(t)
	w.rows.losing = retry.Tries
	got := w.choose(t, chosen(fresh))
	want := keyedtest.FailureBody("svc_unavailable", "The record changed at the same time. Please try again.")
	text := strings.TrimSpace(got.Body.String())
	if got.Code != http.StatusServiceUnavailable || text != want || w.rows.tries != retry.Tries || len(w.enqueued) != 0 {
		t.Errorf("got %d %s after %d tries, the worker was told of %q", got.Code, text, w.rows.tries, w.enqueued)
	}
}

func TestAuthorizeVaultReturnsServerErrorWhenStoreFails(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*rows){
		"the attempt is not read":  func(r *rows) { r.failing = keyedtest.ErrTrouble },
		"facilities are not read":  func(r *rows) { r.unlisted = keyedtest.ErrTrouble },
		"the choice is not stored": func(r *rows) { r.unkept = keyedtest.ErrTrouble },
	} {
		w := newWorld(t)
		change(&w.rows)
		got := w.choose(t, chosen(fresh))
		if text := strings.TrimSpace(got.Body.String()); got.Code != http.StatusInternalServerError ||
			text != keyedtest.ServerError || w.rows.tries > 1 || len(w.enqueued) != 0 {
			t.Errorf("%s: %d %s after %d tries, the worker was told of %q", name, got.Code, text, w.rows.tries, w.enqueued)
		}
		w.checkHidden(t, got.Body.String())
	}
}

func TestAuthorizeVaultRejectsMalformedRequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, query string
		headers       []string
		limited       bool
		status        int
		want          string
	}{
		"two tokens": {
			http.MethodPost, browsertest.Page,
			[]string{bearer, bearer},
			false, 400,
			keyedtest.FailureBody("svc_invalid_request", "Authorization must not be repeated."),
		},
		"no public id": {
			http.MethodPost, "",
			[]string{bearer},
			false, 400,
			keyedtest.FailureBody("svc_invalid_request", "public_id is required."),
		},
		"an unknown public id": {
			http.MethodPost, "?public_id=x",
			[]string{bearer},
			false, 401,
			keyedtest.FailureBody("svc_unauthorized_client", "public_id is unknown."),
		},
		"GET": {
			http.MethodGet, browsertest.Page,
			[]string{bearer},
			false, 405,
			keyedtest.FailureBody("svc_method_not_allowed",
				"This method is not allowed for this URL. Allowed methods: POST, OPTIONS."),
		},
		"too many choices": {
			http.MethodPost, browsertest.Page,
			[]string{bearer},
			true, 429,
			keyedtest.FailureBody("svc_rate_limited", "Too many requests. Please wait before you try again."),
		},
	} {
		w := newWorld(t)
		if c.limited {
			w.limiter = httpapi.Limiter{
				Buckets: fullBuckets{},
				Limit:   ratelimit.Limit{Name: "authorizevault", Quota: 1, Window: time.Minute},
			}
		}
		got := w.send(t, c.method, attemptID, c.query, chosen(fresh), c.headers...)
		if text := strings.TrimSpace(got.Body.String()); got.Code != c.status || text != c.want || w.rows.tries != 0 ||
			got.Header().Get("WWW-Authenticate") != "" {
			t.Errorf("%s: got %d %s\nwant %d %s", name, got.Code, text, c.status, c.want)
		}
	}
}
