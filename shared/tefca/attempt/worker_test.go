package attempt_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"recordbridge/shared/connection"
	"recordbridge/shared/org"
	"recordbridge/shared/store"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/testkit/expect"
	"recordbridge/shared/tokens"
)

// TestTheLastWordOfAFacilityCountsButThatItIsSilent: also of one that has answered an earlier run, which crashed.
func TestTheLastWordOfAFacilityCountsButThatItIsSilent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.verified(t, attemptID, "")
	w.locate = func(_ context.Context, found func(tefca.Facility) error) error {
		for _, f := range []tefca.Facility{facility("a", tefca.Found), facility("b", tefca.Unanswered), facility("c", tefca.Found), facility("d", tefca.Found)} {
			if err := found(f); err != nil {
				return err
			}
		}
		panic("a crash")
	}
	func() {
		defer func() { _ = recover() }()
		_ = w.worker.Look(t.Context(), tenant, attemptID)
	}()
	w.look(t, attemptID) // while the lease of the one that crashed lasts, nobody asks
	if a := w.attempt(t, attemptID); a.Status != attempt.Locating || !a.DueAt.Equal(a.LeaseUntil) {
		t.Fatalf("the attempt is %+v", a)
	}
	w.pass(2 * time.Minute)
	w.locate = func(_ context.Context, found func(tefca.Facility) error) error {
		for _, f := range []tefca.Facility{facility("a", tefca.Unanswered), facility("b", tefca.Found), facility("c", tefca.Ambiguous), facility("", tefca.Found)} {
			if err := found(f); err != nil {
				return err
			}
		}
		return nil
	}
	w.look(t, attemptID)
	found := w.facilities(t, attemptID)
	for id, want := range map[string]tefca.Match{"a": tefca.Found, "b": tefca.Found, "c": tefca.Ambiguous, "d": tefca.Found} {
		if found[id].Match != want {
			t.Errorf("facility %s is %q, want %q", id, found[id].Match, want)
		}
	}
	a := w.attempt(t, attemptID)
	if len(found) != 4 || a.Status != attempt.Located || !a.DueAt.Equal(a.IdentityEnds) {
		t.Errorf("the attempt is %+v, with %d facilities", a, len(found))
	}
}

func TestANetworkThatCannotBeAskedEndsTheAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		told   bool // of a facility, before
		passes time.Duration
		status attempt.Status
		cause  string
	}{
		"it does not answer":               {err: tefca.ErrUnavailable, status: attempt.Failed, cause: "network_unavailable"},
		"it breaks off":                    {err: tefca.ErrUnavailable, told: true, status: attempt.Located},
		"it does not accept the identity":  {err: fmt.Errorf("no: %w", tefca.ErrIdentity), status: attempt.Failed, cause: "identity_refused"},
		"nor after it has told something":  {err: tefca.ErrIdentity, told: true, status: attempt.Failed, cause: "identity_refused"},
		"the identity has ended meanwhile": {passes: 15 * time.Minute, status: attempt.Failed, cause: "identity_expired"},
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
			w.look(t, attemptID)
			a := w.attempt(t, attemptID)
			if a.Status != c.status || a.Ending.Cause != c.cause {
				t.Errorf("the attempt is %s, cause %q", a.Status, a.Ending.Cause)
			}
			if a.Status == attempt.Failed && (len(a.Assertion) != 0 || !a.DueAt.IsZero() || len(w.facilities(t, attemptID)["a"].Local) != 0) {
				t.Errorf("the identity is still there: %+v, %+v", a, w.facilities(t, attemptID))
			}
		})
	}
}

func TestWhyAFacilityFailsIsToldByAWord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reasons := map[string]error{
		"refused": tefca.ErrRefused, "unavailable": tefca.ErrUnavailable, "too_large": tefca.ErrTooLarge, "invalid_content": tefca.ErrContent,
		"identity_expired": tefca.ErrIdentity, "internal": errTrouble,
	}
	all := append(make([]string, 0, 1+len(reasons)), "good")
	for id, err := range reasons {
		all = append(all, id)
		w.read[id] = func() (records.Content, error) { return records.Content{}, fmt.Errorf("read: %w", err) }
	}
	w.located(t, attemptID, "", all...)
	w.choose(t, attemptID, all...)
	if err := w.worker.Look(t.Context(), tenant, attemptID); !errors.Is(err, errTrouble) {
		t.Errorf("our own failure is told as %v", err)
	}
	found := w.facilities(t, attemptID)
	for id := range reasons {
		if f := found[id]; f.Outcome != attempt.HasFailed || string(f.Reason) != id || !f.LeaseUntil.IsZero() {
			t.Errorf("%s: %+v", id, f)
		}
	}
	if f := found["good"]; f.Outcome != attempt.IsConnected || w.connection(t, f.Connected.ConnectionID).DirectoryID != "good" {
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

// TestAWorkerThatIsLateStoresNothing: another has the facility by then.
func TestAWorkerThatIsLateStoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.located(t, attemptID, "", "a")
	w.choose(t, attemptID, "a")
	w.read["a"] = func() (records.Content, error) {
		w.mu.Lock()
		delete(w.read, "a")
		w.mu.Unlock()
		w.look(t, attemptID) // while the lease lasts, a second message changes nothing
		if f := w.facilities(t, attemptID)["a"]; f.Outcome != attempt.IsConnecting {
			t.Errorf("it is %+v", f)
		}
		w.pass(3 * time.Minute)
		w.look(t, attemptID)
		return records.Content{Documents: 9}, nil
	}
	w.look(t, attemptID)
	f := w.facilities(t, attemptID)["a"]
	c := w.connection(t, f.Connected.ConnectionID)
	if f.Outcome != attempt.IsConnected || c.Generation != 1 || len(w.asked) != 2 {
		t.Errorf("it is %+v, connected as %+v, after %v", f, c, w.asked)
	}
	if len(w.kept) != 1 || w.kept[w.batchNames()[0]].Documents != 1 {
		t.Errorf("kept is %+v: what was written late has to go", w.kept)
	}
}

// TestOfSeveralSignInsAtOnceOneMakesTheConnection, and the others authorise it once more.
func TestOfSeveralSignInsAtOnceOneMakesTheConnection(t *testing.T) {
	t.Parallel()
	const other = "4b2e6da1-3c8f-4d20-9b63-8e1f0a7c5d32"
	w := newWorld(t)
	w.located(t, attemptID, "x", "a")
	w.located(t, other, "x", "a")
	w.choose(t, attemptID, "a")
	w.choose(t, other, "a")
	writes := &meddling{Cache: w}
	w.worker.Cache = writes
	writes.act = func() { w.look(t, other) } // between what is decided and what is stored
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

// meddling does something when a record is kept, once.
type meddling struct {
	attempt.Cache

	act func()
}

// Write implements attempt.Cache.
func (m *meddling) Write(ctx context.Context, of org.Tenant, id string, content records.Content) (tokens.Records, error) {
	if act := m.act; act != nil {
		m.act = nil
		act()
	}
	return m.Cache.Write(ctx, of, id, content)
}

func TestAConnectionEndsWithWhatIsKeptOfTheRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.located(t, attemptID, "x", "a")
	w.choose(t, attemptID, "a")
	w.look(t, attemptID)
	c := w.connection(t, w.facilities(t, attemptID)["a"].Connected.ConnectionID)
	ends := start.Add(24 * time.Hour)
	if c.Status != connection.Authorized || c.Scope != "patient/*.read" || c.PlatformType != "tefca" || c.EndpointID != "" || !c.ConsentExpiresAt.Equal(ends) ||
		!c.Refresh.RefreshAt.Equal(ends) || !c.Refresh.Unrenewable || !c.Refresh.Warned || len(c.External.Sum) == 0 || len(w.told) != 2 {
		t.Errorf("the connection is %+v; told were %v", c, w.told)
	}
	if content := w.kept["b"]; content.Generation != 1 || content.Fixtures["alder.xml"] == nil {
		t.Errorf("kept is %+v", content)
	}
	w.pass(15 * time.Minute)
	w.look(t, attemptID)
	if a := w.attempt(t, attemptID); len(a.Assertion) != 0 || !a.DueAt.IsZero() {
		t.Errorf("the identity is still there: %+v", a)
	}
}

func TestWhatTheOrganisationHasEndedMeanwhileStaysEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.located(t, attemptID, "x", "a")
	w.choose(t, attemptID, "a")
	w.look(t, attemptID)
	id := w.facilities(t, attemptID)["a"].Connected.ConnectionID
	const next, last = "4b2e6da1-3c8f-4d20-9b63-8e1f0a7c5d32", "5c3f7eb2-4d90-4e31-8c74-9f201b8d6e43"
	w.located(t, next, "x", "a")
	w.choose(t, next, "a")
	w.pass(time.Second)
	c := w.connection(t, id)
	c.Status, c.Refresh = connection.Revoked, connection.RefreshState{Ended: connection.Disconnected, EndedAt: w.time()}
	expect.NoError(t, w.save(t, c))
	w.look(t, next)
	if f := w.facilities(t, next)["a"]; f.Outcome != attempt.HasFailed || f.Reason != attempt.ReasonRefused || w.connection(t, id).Status != connection.Revoked {
		t.Errorf("it is %+v", f)
	}
	w.pass(time.Second)
	w.located(t, last, "x", "a") // who signs in afterwards means it
	w.choose(t, last, "a")
	w.look(t, last)
	if c := w.connection(t, id); c.Status != connection.Authorized || c.Generation != 2 {
		t.Errorf("afterwards it is %+v", c)
	}
}

func TestAFacilityWithAServerOfItsOwnNeedsNoCache(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.verified(t, attemptID, "")
	w.locate = func(_ context.Context, found func(tefca.Facility) error) error {
		f := facility("a", tefca.Found)
		f.Access = tefca.FHIR
		return found(f)
	}
	w.open = func() (tokens.Set, error) {
		return tokens.Set{FHIRBase: "https://ehr.example/r4", ExpiresAt: start.Add(time.Hour)}, nil
	}
	w.look(t, attemptID)
	w.choose(t, attemptID, "a")
	w.look(t, attemptID)
	f := w.facilities(t, attemptID)["a"]
	if c := w.connection(t, f.Connected.ConnectionID); !c.ConsentExpiresAt.Equal(start.Add(time.Hour)) || len(w.kept) != 0 || len(w.asked) != 0 {
		t.Errorf("the connection is %+v; kept is %v, read were %v", c, w.kept, w.asked)
	}
}

// save stores a connection as another function does.
func (w *world) save(t *testing.T, c connection.Connection) error {
	t.Helper()
	return store.NewRefresh(w.conns, store.Tokens{}, w.rows.Work).SaveConnection(t.Context(), c)
}
