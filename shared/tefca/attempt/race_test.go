package attempt_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
)

// failing is a store in which some writes of a given kind fail.
type failing struct {
	attempt.WorkStore

	write string // kind of write that fails
	skip  int    // number of writes of that kind that succeed before the first failure
	times int
	err   error

	erased bool               // whether reads report connections as erased
	end    attempt.Conclusion // the last conclusion that was stored
}

func (f *failing) SaveAttempt(ctx context.Context, a attempt.Attempt) error {
	if err := f.fails("attempt"); err != nil {
		return err
	}
	return f.WorkStore.SaveAttempt(ctx, a)
}

func (f *failing) SaveFacility(ctx context.Context, of org.Tenant, id string, saved attempt.Facility) error {
	if err := f.fails("facility"); err != nil {
		return err
	}
	return f.WorkStore.SaveFacility(ctx, of, id, saved)
}

func (f *failing) Conclude(ctx context.Context, c attempt.Conclusion) error {
	if err := f.fails("conclude"); err != nil {
		return err
	}
	f.end = c
	return f.WorkStore.Conclude(ctx, c)
}

func (f *failing) Connection(ctx context.Context, of org.Tenant, id string) (connection.Connection, error) {
	if f.erased {
		return connection.Connection{}, fault.Missing("Connection not found.")
	}
	return f.WorkStore.Connection(ctx, of, id)
}

func (f *failing) fails(write string) error {
	if write != f.write {
		return nil
	}
	if f.skip--; f.skip < 0 && f.skip >= -f.times {
		return f.err
	}
	return nil
}

// TestPatientHasOneConnectionPerFacility covers repeated sign-ins, with the same and different external IDs, and an
// erasure.
func TestPatientHasOneConnectionPerFacility(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	connect := func(id, externalID string) string {
		w.located(t, id, externalID, "a")
		w.choose(t, id, "a")
		w.look(t, id)
		return w.facilities(t, id)["a"].Connected.ConnectionID
	}
	const second, third, fourth = "4b2e6da1-3c8f-4d20-9b63-8e1f0a7c5d32", "5c3f7eb2-4d90-4e31-8c74-9f201b8d6e43",
		"6d408fc3-5ea1-4f42-8d85-a0312c9e7f54"
	one, none, again := connect(attemptID, "x"), connect(second, ""), connect(third, "x")
	if one == none || one != again {
		t.Errorf("with an external id it is %s, without %s, then %s", one, none, again)
	}
	if c := w.connection(t, none); len(c.External.Sum) != 0 {
		t.Errorf("without an external id it is %+v", c)
	}
	w.worker.Store = &failing{WorkStore: w.rows, erased: true}
	if next := connect(fourth, "x"); next == "" || next == one || w.connection(t, next).Generation != 1 {
		t.Errorf("after it was erased it is %s", next)
	}
}

// TestFailedRunDeletesCachedRecord checks that a run that can't create the connection deletes the cached record, even
// if the run is cut short.
func TestFailedRunDeletesCachedRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.located(t, attemptID, "x", "a")
	w.choose(t, attemptID, "a")
	ctx, cancel := context.WithCancel(t.Context())
	w.worker.Cache = &meddling{Cache: w, act: cancel}
	w.worker.Store = &failing{WorkStore: w.rows, write: "conclude", times: 1, err: errTrouble}
	if err := w.worker.Process(ctx, tenant, attemptID); !errors.Is(err, errTrouble) || w.batches != 1 || len(w.kept) != 0 {
		t.Errorf("the run ends with %v; of %d batches %v are kept", err, w.batches, w.kept)
	}
}

// TestWorkerRetriesOrStopsAfterConflict checks that a worker that loses a race retries only if it still has data to
// store. Any other error is internal, and the facility is reported as failed.
func TestWorkerRetriesOrStopsAfterConflict(t *testing.T) {
	t.Parallel()
	most := retry.Tries
	for name, c := range map[string]struct {
		broken  failing
		refused bool // whether the facility refuses access
		err     error
		outcome attempt.Outcome
		reason  attempt.Reason
		asked   int
	}{
		"the facility is somebody's": {
			failing{write: "facility", times: 1, err: fault.Stale()},
			false, nil,
			attempt.IsConnecting, "", 0,
		},
		"the facility cannot be claimed": {
			failing{write: "facility", times: 1, err: errTrouble},
			false, errTrouble,
			attempt.IsConnecting, "", 0,
		},
		"a refusal comes too late": {
			failing{write: "facility", skip: 1, times: 1, err: fault.Stale()},
			true, nil,
			attempt.IsConnecting, "", 1,
		},
		"a refusal cannot be stored": {
			failing{write: "facility", skip: 1, times: 1, err: errTrouble},
			true,
			errTrouble, attempt.IsConnecting, "", 1,
		},
		"others connect the person, too": {
			failing{write: "conclude", times: most - 1, err: fault.Stale()},
			false, nil,
			attempt.IsConnected, "", 1,
		},
		"others do nothing else": {
			failing{write: "conclude", times: most, err: fault.Stale()},
			false,
			fault.Conflict, attempt.HasFailed, attempt.ReasonInternal, 1,
		},
		"the connection cannot be stored": {
			failing{write: "conclude", times: 1, err: errTrouble},
			false, errTrouble,
			attempt.HasFailed, attempt.ReasonInternal, 1,
		},
		"the person goes on choosing": {
			failing{write: "attempt", times: most - 1, err: fault.Stale()},
			false, nil,
			attempt.IsConnected, "", 1,
		},
		"the person does nothing else": {
			failing{write: "attempt", times: most, err: fault.Stale()},
			false,
			fault.Conflict, attempt.IsConnected, "", 1,
		},
		"when to look next cannot be stored": {
			failing{write: "attempt", times: 1, err: errTrouble},
			false, errTrouble,
			attempt.IsConnected, "", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.located(t, attemptID, "x", "a", "b") // facility b was not chosen, so it causes no writes
			w.choose(t, attemptID, "a")
			if c.refused {
				w.read["a"] = func() (records.Content, error) { return records.Content{}, tefca.ErrRefused }
			}
			c.broken.WorkStore = w.worker.Store
			w.worker.Store = &c.broken
			if err := w.worker.Process(t.Context(), tenant, attemptID); !errors.Is(err, c.err) || c.err == nil && err != nil {
				t.Errorf("the run ends with %v, want %v", err, c.err)
			}
			f, kept := w.facilities(t, attemptID)["a"], 0
			if c.outcome == attempt.IsConnected {
				kept = 1
			}
			if f.Outcome != c.outcome || f.Reason != c.reason || len(w.asked) != c.asked || len(w.kept) != kept {
				t.Errorf("it is %+v; asked are %v, kept is %v", f, w.asked, w.kept)
			}
		})
	}
}

func TestConcurrentRunsQueryNetworkOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		broken failing
		err    error
		asked  bool
	}{
		"the other was faster":         {failing{write: "attempt", times: 1, err: fault.Stale()}, nil, false},
		"the attempt is out of reach":  {failing{write: "attempt", times: 1, err: errTrouble}, errTrouble, false},
		"a facility cannot be stored":  {failing{write: "facility", times: 1, err: errTrouble}, errTrouble, true},
		"what was found is not stored": {failing{write: "attempt", skip: 1, times: 1, err: errTrouble}, errTrouble, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.verified(t, attemptID, "x")
			asked, stopped := false, false
			w.locate = func(_ context.Context, found func(tefca.Facility) error) error {
				asked = true
				if err := found(facility("a", tefca.Found)); err != nil {
					stopped = true
					return fmt.Errorf("stopped: %w", tefca.ErrUnavailable)
				}
				return nil
			}
			c.broken.WorkStore = w.worker.Store
			w.worker.Store = &c.broken
			err := w.worker.Process(t.Context(), tenant, attemptID)
			if a := w.attempt(t, attemptID); !errors.Is(err, c.err) || c.err == nil && err != nil || asked != c.asked ||
				stopped != (c.broken.write == "facility") || a.Status != attempt.Locating {
				t.Errorf("the run ends with %v; the network was asked: %t; the attempt is %s", err, asked, a.Status)
			}
			w.pass(90 * time.Second) // The sweeper then completes the run.
			w.look(t, attemptID)
			if a := w.attempt(t, attemptID); a.Status != attempt.Located || !a.LeaseUntil.IsZero() ||
				len(w.facilities(t, attemptID)) != 1 {
				t.Errorf("afterwards it is %+v", a)
			}
		})
	}
}

// TestEncryptedDataIsBoundToItsRow checks that data moved to another row causes an internal failure whose log line
// names the row.
func TestEncryptedDataIsBoundToItsRow(t *testing.T) {
	t.Parallel()
	const other = "4b2e6da1-3c8f-4d20-9b63-8e1f0a7c5d32"
	w := newWorld(t)
	a, b := w.located(t, attemptID, "x", "a", "b"), w.located(t, other, "x", "a")
	of, from := w.facilities(t, attemptID), w.facilities(t, other)
	open := func(what, attribute string, change func(a *attempt.Attempt, f *attempt.Facility)) {
		t.Helper()
		now, f := w.attempt(t, attemptID), w.facilities(t, attemptID)["a"]
		f.Local = of["a"].Local
		now.Assertion = a.Assertion
		change(&now, &f)
		expect.NoError(t, w.rows.SaveAttempt(t.Context(), now))
		expect.NoError(t, w.rows.SaveFacility(t.Context(), tenant, attemptID, f))
		w.choose(t, attemptID, "a")
		err := w.worker.Process(t.Context(), tenant, attemptID)
		if at := fault.SpotOf(err); at.Attribute != attribute || at.Row != "TEFCA" || at.Operation != "open" ||
			len(w.asked) != 0 {
			t.Errorf("%s: %v at %+v; asked are %v", what, err, at, w.asked)
		}
	}
	open("of another facility", "local", func(_ *attempt.Attempt, f *attempt.Facility) { f.Local = of["b"].Local })
	open("of the same facility", "local", func(_ *attempt.Attempt, f *attempt.Facility) { f.Local = from["a"].Local })
	open("another's identity", "assertion", func(a *attempt.Attempt, _ *attempt.Facility) { a.Assertion = b.Assertion })
	open("no identity", "assertion", func(now *attempt.Attempt, _ *attempt.Facility) {
		now.Assertion = a.Assertion[:len(a.Assertion)-1]
	})

	const third, fourth = "5c3f7eb2-4d90-4e31-8c74-9f201b8d6e43", "6d408fc3-5ea1-4f42-8d85-a0312c9e7f54"
	w.left(t, third, "x")
	strange := w.attempt(t, third).Verifier
	back := w.left(t, fourth, "x")
	last := w.attempt(t, fourth)
	last.Verifier = strange
	expect.NoError(t, w.rows.SaveAttempt(t.Context(), last))
	exchanged := false
	w.exchange = func(context.Context, identity.Return) error { exchanged = true; return nil }
	_, err := w.completer().Complete(t.Context(), back)
	if p, unread := w.watcher().Progress(t.Context(), tenant, fourth, pageToken()); err == nil || exchanged ||
		unread != nil || p.Failure == nil || p.Failure.Cause != "internal" {
		t.Errorf("with another's verifier: %v; the attempt is %+v", err, p)
	}
}
