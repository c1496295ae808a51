package attempt_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
	"recordbridge/shared/words/secret"
)

func crowd(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("f%02d", i)
	}
	return all
}

func TestChooseRejectsFacilitiesThatWereNotFound(t *testing.T) {
	t.Parallel()
	w, token := newWorld(t), pageToken()
	chosen := func(what, public string, kind fault.Kind, field string, wanted ...string) {
		t.Helper()
		before := w.facilities(t, attemptID)
		_, err := w.chooser().Choose(t.Context(), tenant, attemptID, token, wanted)
		refused(t, what, err, kind, field)
		if !strings.Contains(fault.Of(err).Public, public) || fmt.Sprint(before) != fmt.Sprint(w.facilities(t, attemptID)) ||
			len(w.enqueued) != 1 {
			t.Errorf("%s: %v; enqueued are %v", what, err, w.enqueued)
		}
	}
	w.verified(t, attemptID, "x")
	chosen("before anything is located", "not yet", fault.Conflict, "attempt_id", "f00")
	w.locate = func(_ context.Context, found func(tefca.Facility) error) error {
		for _, id := range crowd(50) {
			expect.NoError(t, found(facility(id, tefca.Found)))
		}
		return errors.Join(found(facility("a", tefca.Ambiguous)), found(facility("u", tefca.Unanswered)))
	}
	w.look(t, attemptID)
	chosen("nothing", "1 to 50", fault.Invalid, "tefca_directory_ids")
	chosen("too many", "1 to 50", fault.Invalid, "tefca_directory_ids", crowd(51)...)
	chosen("an unknown one", "not belong to this attempt", fault.Invalid, "tefca_directory_ids", "f00", "x")
	chosen("one that wants to know more", "did not find", fault.Invalid, "tefca_directory_ids", "f00", "a")
	chosen("one that is silent", "did not find", fault.Invalid, "tefca_directory_ids", "f00", "u")
	w.pass(time.Minute)
	p, err := w.chooser().Choose(t.Context(), tenant, attemptID, token, append(crowd(49), "f49"))
	expect.NoError(t, err)
	if p.Status != attempt.Authorizing || len(w.enqueued) != 2 || !p.Attempt.DueAt.Equal(w.time()) {
		t.Errorf("with as many as may be it is %+v; enqueued are %v", p, w.enqueued)
	}
	w.enqueued = w.enqueued[:1]
	w.pass(14 * time.Minute)
	chosen("after the identity has expired", "has expired", fault.Conflict, "attempt_id", "f00")
}

// TestChooseIsIdempotent checks that a repeated call retries only failed facilities.
func TestChooseIsIdempotent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.located(t, attemptID, "x", "connected", "connecting", "failed")
	w.read["failed"] = func() (records.Content, error) { return records.Content{}, tefca.ErrRefused }
	wanted := []string{"connected", "failed", "connected"}
	w.choose(t, attemptID, wanted...)
	w.look(t, attemptID)
	w.choose(t, attemptID, "connecting")
	before := w.facilities(t, attemptID)
	w.enqueued = nil
	w.choose(t, attemptID, "connected", "connecting")
	if after := w.facilities(t, attemptID); fmt.Sprint(after) != fmt.Sprint(before) || len(w.enqueued) != 0 {
		t.Errorf("it was %+v, and is %+v; enqueued are %v", before, after, w.enqueued)
	}
	w.choose(t, attemptID, wanted...)
	after := w.facilities(t, attemptID)
	if f := after["failed"]; f.Outcome != attempt.IsConnecting || f.Reason != "" ||
		after["connected"].Rev != before["connected"].Rev || after["connecting"].Rev != before["connecting"].Rev {
		t.Errorf("it was %+v, and is %+v", before, after)
	}
	if wanted[0] != "connected" || wanted[1] != "failed" {
		t.Errorf("the caller's list is %v now", wanted)
	}
}

// racing is a store whose first writes fail as if concurrent writers had won.
type racing struct {
	attempt.ChoiceStore

	err   error
	lost  int // number of remaining writes that fail
	tries int
	reads int
}

func (r *racing) Attempt(ctx context.Context, of org.Tenant, id string) (attempt.Attempt, error) {
	r.reads++
	return r.ChoiceStore.Attempt(ctx, of, id)
}

func (r *racing) Choose(ctx context.Context, a attempt.Attempt, chosen []attempt.Facility) error {
	r.tries++
	if r.lost--; r.lost >= 0 {
		return r.err
	}
	return r.ChoiceStore.Choose(ctx, a, chosen)
}

func TestChooseRetriesConflictingWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.located(t, attemptID, "x", "a")
	for _, c := range []struct {
		err   error
		lost  int
		tries int
		works bool
	}{
		{fault.Stale(), retry.Tries, retry.Tries, false},
		{fault.New(fault.Unavailable, fault.CodeUnavailable, "Busy."), 1, 1, false},
		{fault.Stale(), retry.Tries - 1, retry.Tries, true},
	} {
		store, chooser := &racing{ChoiceStore: w.rows, err: c.err, lost: c.lost}, w.chooser()
		chooser.Store = store
		if _, err := chooser.Choose(t.Context(), tenant, attemptID, pageToken(), []string{"a"}); (err == nil) != c.works ||
			store.tries != c.tries {
			t.Errorf("after %d tries: %v; want %+v", store.tries, err, c)
		}
	}
	w.pass(15 * time.Minute)
	store, chooser := &racing{ChoiceStore: w.rows}, w.chooser()
	chooser.Store = store
	if _, err := chooser.Choose(t.Context(), tenant, attemptID, pageToken(), []string{"a"}); !errors.Is(err,
		fault.Conflict) || store.reads != 1 {
		t.Errorf("a choice that cannot be made is tried %d times: %v", store.reads, err)
	}
}

// reversed returns facilities in reverse order, because a store may return them in any order.
type reversed struct{ attempt.WorkStore }

func (r reversed) Facilities(ctx context.Context, of org.Tenant, id string) ([]attempt.Facility, error) {
	all, err := r.WorkStore.Facilities(ctx, of, id)
	slices.Reverse(all)
	return all, err
}

func TestProgressRequiresTokenAndListsFoundFacilitiesFirst(t *testing.T) {
	t.Parallel()
	w, token := newWorld(t), pageToken()
	w.left(t, attemptID, "x")
	for name, c := range map[string]struct {
		id    string
		token secret.Text
	}{
		"no id": {"x", token}, "another id": {"4b2e6da1-3c8f-4d20-9b63-8e1f0a7c5d32", token},
		"another token": {attemptID, secret.New("another")},
	} {
		_, err := w.watcher().Progress(t.Context(), tenant, c.id, c.token)
		if refused(t, name, err, fault.NotFound, ""); fault.Of(err).Public != "Attempt not found." {
			t.Errorf("%s: %v tells them apart", name, err)
		}
	}
	const other = "4b2e6da1-3c8f-4d20-9b63-8e1f0a7c5d32"
	w.verified(t, other, "x")
	status := func(want attempt.Status) []attempt.Facility {
		t.Helper()
		p, err := attempt.Watcher{Store: reversed{w.rows}, Now: w.time}.Progress(t.Context(), tenant, other, token)
		if expect.NoError(t, err); p.Status != want || p.Failure != nil {
			t.Errorf("it is told as %s, %+v; want %s", p.Status, p.Failure, want)
		}
		return p.Facilities
	}
	names := map[string]tefca.Facility{
		"d": {ID: "d", Name: "Aspen", Match: tefca.Found}, "c": {ID: "c", Name: "Birch", Match: tefca.Found},
		"e": {ID: "e", Name: "Birch", Match: tefca.Found},
		"b": {ID: "b", Name: "Aspen", Match: tefca.Ambiguous}, "a": {ID: "a", Name: "Aspen", Match: tefca.Unanswered},
	}
	w.locate = func(_ context.Context, found func(tefca.Facility) error) error {
		for _, id := range slices.Sorted(maps.Keys(names)) {
			expect.NoError(t, found(names[id]))
		}
		if listed := status(attempt.Locating); len(listed) != len(names) {
			t.Errorf("while the network is asked, %+v are listed", listed)
		}
		return nil
	}
	w.look(t, other)
	order := make([]string, 0, len(names))
	for _, f := range status(attempt.Located) {
		order = append(order, f.ID)
	}
	if !slices.Equal(order, []string{"d", "c", "e", "b", "a"}) {
		t.Errorf("the order is %v", order)
	}
	w.choose(t, other, "c")
	w.pass(30*time.Minute - time.Nanosecond)
	status(attempt.Authorizing)
	w.pass(time.Nanosecond)
	status(attempt.Authorizing) // Facilities chosen before the expiry are reported until they are connected or fail.
	w.look(t, other)
	if listed := status(attempt.Expired); listed[1].Reason != attempt.ReasonIdentity || len(w.asked) != 0 {
		t.Errorf("after the identity has ended it is told of %+v; asked are %v", listed, w.asked)
	}
	if p, err := w.watcher().Progress(t.Context(), tenant, attemptID, token); err != nil || p.Status != attempt.Expired ||
		len(p.Facilities) != 0 {
		t.Errorf("one that never came back is %+v, %v", p, err)
	}
}
