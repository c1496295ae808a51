package storetest

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/refresh"
)

const endpoint = "hash-of-a-token-endpoint"

// EndpointState tests a token endpoint's refresh state, which all functions share. A slot must have only one owner at a
// time. A breaker may be replaced only if it hasn't changed since it was read. Every response must be counted exactly
// once.
func EndpointState(t *testing.T, open func(testing.TB) refresh.EndpointState) {
	t.Helper()
	run(t, open, map[string]func(subject[refresh.EndpointState]){
		"of many takers of a slot one wins":        oneTaker,
		"slots and endpoints are independent":      slotsApart,
		"a slot is given back by its owner alone":  slotGivenBack,
		"a breaker is replaced as it was seen":     breakerAsSeen,
		"of many failures seen at once one counts": oneFailure,
		"answers are summed up from a minute on":   answersFromAMinute,
	})
}

func oneTaker(c subject[refresh.EndpointState]) {
	t, s := c.t, c.store
	until := now().Add(time.Minute)
	take := func(at time.Time) int {
		return expect.Winners(t, 16, func(ctx context.Context, i int) error {
			return s.TakeSlot(ctx, endpoint, 0, fmt.Sprint("owner ", i, " at ", at), at, at.Add(time.Minute))
		})
	}
	if won := take(now()); won != 1 {
		t.Errorf("%d of 16 took the free slot, want 1", won)
	}
	if won := take(until); won != 0 {
		t.Errorf("%d of 16 took the slot in its last moment, want none", won)
	}
	if won := take(until.Add(time.Microsecond)); won != 1 {
		t.Errorf("%d of 16 took the slot after its end, want 1", won)
	}
}

func slotsApart(c subject[refresh.EndpointState]) {
	t, s := c.t, c.store
	for _, of := range []string{endpoint, "another", "a third"} {
		for slot := range 4 {
			expect.NoError(t, s.TakeSlot(t.Context(), of, slot, strconv.Itoa(slot), now(), now().Add(time.Minute)))
		}
	}
	expect.NoError(t, s.ReleaseSlot(t.Context(), endpoint, 2, "2"))
	for slot := range 4 {
		err := s.TakeSlot(t.Context(), endpoint, slot, "new", now(), now().Add(time.Minute))
		if slot == 2 {
			expect.NoError(t, err)
			continue
		}
		expect.Conflict(t, fmt.Sprint("taking slot ", slot), err)
	}
	expect.Conflict(t, "the same slot elsewhere",
		s.TakeSlot(t.Context(), "another", 2, "new", now(), now().Add(time.Minute)))
}

func slotGivenBack(c subject[refresh.EndpointState]) {
	t, s := c.t, c.store
	take := func(owner string, at, until time.Time) error {
		return s.TakeSlot(t.Context(), endpoint, 0, owner, at, until)
	}
	release := func(slot int, owner string) {
		t.Helper()
		expect.NoError(t, s.ReleaseSlot(t.Context(), endpoint, slot, owner))
	}
	end := now().Add(time.Minute)
	release(0, "first") // an endpoint without any stored state
	expect.NoError(t, take("first", now(), end))
	expect.NoError(t, take("first", now(), end)) // repeated call after a lost response
	release(0, "second")
	release(1, "first")
	expect.Conflict(t, "after a stranger's release", take("second", now(), end))

	end = end.Add(time.Microsecond)
	expect.NoError(t, take("second", end, end.Add(time.Minute)))
	release(0, "first") // too late: the slot has expired
	expect.Conflict(t, "after a late release", take("third", end, now().Add(time.Hour)))
	release(0, "second")
	release(0, "second")
	expect.NoError(t, take("third", now(), end))
}

func breakerAsSeen(c subject[refresh.EndpointState]) {
	t, s := c.t, c.store
	check := func(want refresh.Breaker) {
		t.Helper()
		got, err := s.Breaker(t.Context(), endpoint)
		expect.NoError(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("breaker (-want +got):\n%s", diff)
		}
	}
	var closed refresh.Breaker
	failing, open := refresh.Breaker{Failures: 1}, refresh.Breaker{Failures: 5, OpenUntil: now().Add(time.Minute)}
	check(closed)
	expect.NoError(t, s.TakeSlot(t.Context(), endpoint, 0, "owner", now(), now().Add(time.Minute)))
	check(closed)
	for _, step := range []struct{ seen, next refresh.Breaker }{
		{closed, failing},
		{failing, open},
		{open, closed},
		{closed, open},
		{open, refresh.Breaker{OpenUntil: open.OpenUntil}},
	} {
		expect.NoError(t, s.SaveBreaker(t.Context(), endpoint, step.seen, step.next))
		check(step.next)
		for _, stale := range []refresh.Breaker{closed, failing, open, {Failures: 5}} {
			if stale != step.next {
				expect.Conflict(t, fmt.Sprintf("%+v over %+v", stale, step.next),
					s.SaveBreaker(t.Context(), endpoint, stale, failing))
			}
		}
		check(step.next)
	}
	expect.Conflict(t, "another owner of the slot",
		s.TakeSlot(t.Context(), endpoint, 0, "other", now(), now().Add(time.Minute)))
}

func oneFailure(c subject[refresh.EndpointState]) {
	t, s := c.t, c.store
	for i := range 2 {
		if won := expect.Winners(t, 16, func(ctx context.Context, _ int) error {
			return s.SaveBreaker(ctx, endpoint, refresh.Breaker{Failures: i}, refresh.Breaker{Failures: i + 1})
		}); won != 1 {
			t.Errorf("%d of 16 counted failure %d, want 1", won, i+1)
		}
	}
}

func answersFromAMinute(c subject[refresh.EndpointState]) {
	t, s := c.t, c.store
	// Taking a slot must not affect the counters.
	expect.NoError(t, s.TakeSlot(t.Context(), endpoint, 0, "owner", now(), now().Add(time.Minute)))
	expect.NoError(t, s.Count(t.Context(), "another", now(), true))
	check := func(since time.Time, answered, refused int) {
		t.Helper()
		gotAnswered, gotRefused, err := s.Counts(t.Context(), endpoint, since)
		expect.NoError(t, err)
		if gotAnswered != answered || gotRefused != refused {
			t.Errorf("since %v: %d answered, %d refused, want %d and %d", since, gotAnswered, gotRefused, answered, refused)
		}
	}
	check(now().Add(-time.Hour), 0, 0)
	expect.Winners(t, 40, func(ctx context.Context, i int) error {
		return s.Count(ctx, endpoint, now().Add(time.Duration(i%20)*time.Minute), i%4 == 0)
	})
	check(now(), 40, 10)
	check(now().Truncate(time.Minute).Add(time.Minute-1), 40, 10)
	check(now().Add(5*time.Minute), 30, 6)
	check(now().Add(19*time.Minute), 2, 0)
	check(now().Add(20*time.Minute), 0, 0)
	check(now().Add(5*time.Minute).In(time.FixedZone("elsewhere", 3*3600)), 30, 6)
}
