package attempt_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// TestLocateStoresLastReportUnlessUnanswered checks that Unanswered never replaces a response, even if the run that
// received the response crashed.
func TestLocateStoresLastReportUnlessUnanswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.verified(t, attemptID, "")
	w.locate = func(_ context.Context, found func(tefca.Facility) error) error {
		for _, f := range []tefca.Facility{
			facility("a", tefca.Found), facility("b", tefca.Unanswered),
			facility("b", tefca.Ambiguous), facility("c", tefca.Found), facility("d", tefca.Found),
		} {
			if err := found(f); err != nil {
				return err
			}
		}
		panic("a crash")
	}
	func() {
		defer func() { _ = recover() }()
		_ = w.worker.Process(t.Context(), tenant, attemptID)
	}()
	w.pass(75 * time.Second)
	w.look(t, attemptID) // The crashed run still holds the lease, so no other run queries the network.
	if a := w.attempt(t, attemptID); a.Status != attempt.Locating || !a.DueAt.Equal(a.LeaseUntil) {
		t.Fatalf("the attempt is %+v", a)
	}
	w.pass(15 * time.Second)
	w.locate = func(_ context.Context, found func(tefca.Facility) error) error {
		for _, f := range []tefca.Facility{
			facility("a", tefca.Unanswered), facility("b", tefca.Found),
			facility("c", tefca.Ambiguous), facility("", tefca.Found),
		} {
			if err := found(f); err != nil {
				return err
			}
		}
		return nil
	}
	w.look(t, attemptID)
	found := w.facilities(t, attemptID)
	for id, want := range map[string]tefca.Match{
		"a": tefca.Found, "b": tefca.Found, "c": tefca.Ambiguous,
		"d": tefca.Found,
	} {
		if found[id].Match != want || !found[id].ExpiresAt.Equal(start.Add(30*time.Minute)) {
			t.Errorf("facility %s is %q, want %q", id, found[id].Match, want)
		}
	}
	a := w.attempt(t, attemptID)
	if len(found) != 4 || a.Status != attempt.Located || !a.DueAt.Equal(a.IdentityEnds) {
		t.Errorf("the attempt is %+v, with %d facilities", a, len(found))
	}
}

func TestLocateFailsAttemptWhenNetworkFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		told   bool // whether the facility has already been reported
		passes time.Duration
		gone   bool // whether the network is no longer in the configuration
		status attempt.Status
		cause  string
		code   fault.Code
		action string // the suggested action, or part of it
	}{
		"it does not answer": {
			err: tefca.ErrUnavailable, status: attempt.Failed, cause: "network_unavailable",
			code: fault.CodeServerError, action: "The network did not respond",
		},
		"it is configured no more": {
			gone: true, status: attempt.Failed, cause: "network_unavailable",
			code: fault.CodeServerError,
		},
		"it breaks off": {err: tefca.ErrUnavailable, told: true, status: attempt.Located},
		"it does not accept the identity": {
			err: fmt.Errorf("no: %w", tefca.ErrIdentity), status: attempt.Failed,
			cause: "identity_refused", code: fault.CodeTokenExchange, action: "ask the operator whether",
		},
		"nor after it has told something": {
			err: tefca.ErrIdentity, told: true, status: attempt.Failed,
			cause: "identity_refused", code: fault.CodeTokenExchange, action: "ask the operator whether",
		},
		"it wants more of the person": {
			err: tefca.ErrDemographics, status: attempt.Failed,
			cause: "demographics_missing", code: fault.CodeTokenExchange, action: "complete the profile",
		},
		"the identity has ended meanwhile": {
			passes: 15 * time.Minute, status: attempt.Failed, cause: "identity_expired",
			code: fault.CodeTokenExchange,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.verified(t, attemptID, "")
			w.locate = func(_ context.Context, found func(tefca.Facility) error) error {
				if c.told {
					expect.NoError(t, found(facility("a", tefca.Found)))
				}
				return c.err
			}
			w.pass(c.passes)
			if c.gone {
				w.worker.Networks = nil
			}
			w.look(t, attemptID)
			a := w.attempt(t, attemptID)
			p, err := w.watcher().Progress(t.Context(), tenant, attemptID, pageToken())
			expect.NoError(t, err)
			if p.Failure != nil && (!strings.Contains(p.Failure.SuggestedAction, c.action) ||
				p.Failure.Error != string(c.code) || p.Failure.RequestID != "request-1") {
				t.Errorf("the page is told %+v", p.Failure)
			}
			if a.Status != c.status || a.Ending.Cause != c.cause {
				t.Errorf("the attempt is %s, cause %q", a.Status, a.Ending.Cause)
			}
			if a.Status == attempt.Failed && (len(a.Assertion) != 0 || !a.DueAt.IsZero() ||
				len(w.facilities(t, attemptID)["a"].Local) != 0) {
				t.Errorf("the identity is still there: %+v, %+v", a, w.facilities(t, attemptID))
			}
		})
	}
}

func TestFailedFacilityStoresFailureReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reasons := map[string]error{
		"refused": tefca.ErrRefused, "unavailable": tefca.ErrUnavailable, "too_large": tefca.ErrTooLarge,
		"invalid_content":  tefca.ErrContent,
		"other_person":     tefca.ErrOtherPerson,
		"identity_expired": tefca.ErrIdentity, "internal": errTrouble, "not there": tefca.ErrNotFound,
	}
	all := append(make([]string, 0, 1+len(reasons)), "good")
	for id, err := range reasons {
		all = append(all, id)
		w.read[id] = func() (records.Content, error) { return records.Content{}, fmt.Errorf("read: %w", err) }
	}
	w.located(t, attemptID, "", all...)
	w.choose(t, attemptID, all...)
	if err := w.worker.Process(t.Context(), tenant, attemptID); !errors.Is(err, errTrouble) {
		t.Errorf("our own failure is told as %v", err)
	}
	found := w.facilities(t, attemptID)
	for id := range reasons {
		want := map[string]string{"not there": "unavailable"}[id]
		if f := found[id]; f.Outcome != attempt.HasFailed || string(f.Reason) != cmp.Or(want, id) || !f.LeaseUntil.IsZero() {
			t.Errorf("%s: %+v", id, f)
		}
	}
	if f := found["good"]; f.Outcome != attempt.IsConnected ||
		w.connection(t, f.Connected.ConnectionID).DirectoryID != "good" {
		t.Errorf("the good one is %+v", f)
	}
	delete(w.read, "refused")
	w.choose(t, attemptID, "refused", "good")
	asked := len(w.asked)
	w.look(t, attemptID)
	if f := w.facilities(t, attemptID)["refused"]; f.Outcome != attempt.IsConnected || len(w.asked) != asked+1 {
		t.Errorf("chosen again it is %+v; asked were %v", f, w.asked[asked:])
	}
}

func TestWorkerDiscardsResultWhenLeaseIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.located(t, attemptID, "", "a")
	w.choose(t, attemptID, "a")
	w.read["a"] = func() (records.Content, error) {
		w.mu.Lock()
		delete(w.read, "a")
		w.mu.Unlock()
		w.pass(2 * time.Minute)
		w.look(t, attemptID) // The facility may still respond, so a duplicate message has no effect.
		if f, a := w.facilities(t, attemptID)["a"], w.attempt(t, attemptID); f.Outcome != attempt.IsConnecting ||
			!a.DueAt.Equal(f.LeaseUntil) {
			t.Errorf("it is %+v, of %+v", f, a)
		}
		w.pass(time.Minute)
		w.look(t, attemptID)
		return records.Content{Documents: 9}, nil
	}
	w.look(t, attemptID)
	f := w.facilities(t, attemptID)["a"]
	c := w.connection(t, f.Connected.ConnectionID)
	if a := w.attempt(t, attemptID); f.Outcome != attempt.IsConnected || c.Generation != 1 || len(w.asked) != 2 ||
		!a.DueAt.Equal(a.IdentityEnds) {
		t.Errorf("it is %+v, connected as %+v, after %v", f, c, w.asked)
	}
	if len(w.kept) != 1 || w.kept[w.batchNames()[0]].Documents != 1 {
		t.Errorf("kept is %+v: what was written late has to go", w.kept)
	}
}

// TestConcurrentSignInsCreateOneConnection checks that one of several concurrent sign-ins creates the connection and
// the others reauthorise it.
func TestConcurrentSignInsCreateOneConnection(t *testing.T) {
	t.Parallel()
	const other = "4b2e6da1-3c8f-4d20-9b63-8e1f0a7c5d32"
	w := newWorld(t)
	w.located(t, attemptID, "x", "a")
	w.located(t, other, "x", "a")
	w.choose(t, attemptID, "a")
	w.choose(t, other, "a")
	writes := &meddling{Cache: w}
	w.worker.Cache = writes
	writes.act = func() { w.look(t, other) } // the other worker runs between this worker's decision and its write
	w.look(t, attemptID)
	one, two := w.facilities(t, attemptID)["a"], w.facilities(t, other)["a"]
	if one.Connected.ConnectionID == "" || one.Connected.ConnectionID != two.Connected.ConnectionID {
		t.Fatalf("one made %+v, the other %+v", one, two)
	}
	c := w.connection(t, one.Connected.ConnectionID)
	if c.Generation != 2 || len(w.kept) != 2 {
		t.Errorf("the connection is %+v, kept are %v", c, w.batchNames())
	}
}

type meddling struct {
	attempt.Cache

	act  func()
	told func(ctx context.Context) // may be nil
}

func (m *meddling) Write(ctx context.Context, of org.Tenant, id string,
	content records.Content,
) (tokens.Records, error) {
	if m.told != nil {
		m.told(ctx)
	}
	if act := m.act; act != nil {
		m.act = nil
		act()
	}
	return m.Cache.Write(ctx, of, id, content)
}

// TestReadContinuesAfterIdentityExpires checks that the identity is deleted only after the last read has finished.
func TestReadContinuesAfterIdentityExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.located(t, attemptID, "x", "a")
	w.pass(14 * time.Minute)
	w.choose(t, attemptID, "a")
	w.read["a"] = func() (records.Content, error) {
		w.pass(90 * time.Second)
		w.look(t, attemptID)
		return records.Content{}, nil
	}
	w.look(t, attemptID)
	if f, a := w.facilities(t, attemptID)["a"], w.attempt(t, attemptID); f.Outcome != attempt.IsConnected ||
		len(a.Assertion) != 0 {
		t.Errorf("it is %+v, of %+v", f, a)
	}
}

// TestFixturesAreIgnoredInLiveMode also checks that a worker reads nothing in a mode without a network.
func TestFixturesAreIgnoredInLiveMode(t *testing.T) {
	t.Parallel()
	w, live := newWorld(t), org.Tenant{Mode: org.Live, OrgID: tenant.OrgID}
	a := w.located(t, attemptID, "x", "a")
	f := w.facilities(t, attemptID)["a"]
	a.Tenant, a.DueAt, a.Rev, f.Rev, f.Outcome = live, w.time(), 0, 0, attempt.IsConnecting
	a.Assertion = bytes.ReplaceAll(a.Assertion, []byte(tenant.Key()), []byte(live.Key()))
	f.Local = bytes.ReplaceAll(f.Local, []byte(tenant.Key()), []byte(live.Key()))
	ticket := binding.Ticket{Hash: "live", Tenant: live, AttemptID: a.ID, ExpiresAt: a.ExpiresAt}
	expect.NoError(t, w.rows.CreateAttempt(t.Context(), a, ticket))
	look := func() attempt.Facility {
		expect.NoError(t, w.rows.SaveFacility(t.Context(), live, a.ID, f))
		expect.NoError(t, w.worker.Process(t.Context(), live, a.ID))
		all, err := w.rows.Facilities(t.Context(), live, a.ID)
		expect.NoError(t, err)
		return all[0]
	}
	if f = look(); f.Reason != attempt.ReasonUnavailable || len(w.asked) != 0 {
		t.Errorf("without a network it is %+v; asked are %v", f, w.asked)
	}
	w.worker.Networks = map[org.Mode]tefca.Network{org.Live: w, org.Test: nil}
	f.Outcome, f.Reason = attempt.IsConnecting, ""
	if f = look(); f.Outcome != attempt.IsConnected || len(w.kept) != 1 || len(w.kept["b"].Fixtures) != 0 {
		t.Errorf("in live mode it is %+v; kept is %+v", f, w.kept)
	}
}

func TestFHIRFacilityIsConnectedWithoutCachedRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.verified(t, attemptID, "")
	w.locate = func(_ context.Context, found func(tefca.Facility) error) error {
		f := facility("a", tefca.Found)
		f.Access, f.Local = tefca.FHIR, secret.Text{} // With FHIR, the server identifies the person without a local ID.
		return found(f)
	}
	w.open = func() (tokens.Set, error) {
		return tokens.Set{FHIRBase: "https://ehr.example/r4", ExpiresAt: start.Add(time.Hour)}, nil
	}
	w.look(t, attemptID)
	w.worker.Store = &failing{WorkStore: w.rows, write: "conclude", times: 1, err: fault.Stale()}
	if f := w.facilities(t, attemptID)["a"]; len(f.Local) != 0 {
		t.Errorf("of nothing %q is sealed", f.Local)
	}
	w.choose(t, attemptID, "a")
	w.look(t, attemptID)
	f := w.facilities(t, attemptID)["a"]
	if c := w.connection(t, f.Connected.ConnectionID); !c.ConsentExpiresAt.Equal(start.Add(time.Hour)) ||
		len(w.kept) != 0 || len(w.asked) != 0 {
		t.Errorf("the connection is %+v; kept is %v, read were %v", c, w.kept, w.asked)
	}
}

// save simulates another function that stores a connection.
func (w *world) save(t *testing.T, c connection.Connection) error {
	t.Helper()
	return store.NewRefresh(w.conns, store.Tokens{}, store.Events(w.rows.Work)).SaveConnection(t.Context(), c)
}
