package store_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/refresh"
)

const host = "hash-of-a-token-endpoint"

func TestOfManyTakersOfASlotOneWins(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	until := now.Add(time.Minute)
	take := func(at time.Time) int {
		return race(t, 16, func(ctx context.Context, i int) error {
			return s.traffic.TakeSlot(ctx, host, 0, fmt.Sprint("owner ", i, " at ", at), at, at.Add(time.Minute))
		})
	}
	if won := take(now); won != 1 {
		t.Errorf("%d of 16 took the free slot, want 1", won)
	}
	if won := take(until.Add(-time.Microsecond)); won != 0 {
		t.Errorf("%d of 16 took the slot before its end, want none", won)
	}
	if won := take(until); won != 1 {
		t.Errorf("%d of 16 took the slot at its end, want 1", won)
	}
}

func TestSlotsAndEndpointsAreIndependent(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	for _, endpoint := range []string{host, "another", "a third"} {
		for slot := range 4 {
			must(t, s.traffic.TakeSlot(t.Context(), endpoint, slot, strconv.Itoa(slot), now, now.Add(time.Minute)))
		}
	}
	must(t, s.traffic.ReleaseSlot(t.Context(), host, 2, "2"))
	for slot := range 4 {
		err := s.traffic.TakeSlot(t.Context(), host, slot, "new", now, now.Add(time.Minute))
		if slot == 2 {
			must(t, err)
			continue
		}
		wantConflict(t, fmt.Sprint("taking slot ", slot), err)
	}
	wantConflict(t, "the same slot elsewhere", s.traffic.TakeSlot(t.Context(), "another", 2, "new", now, now.Add(time.Minute)))
}

func TestASlotIsGivenBackByItsOwnerAlone(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	must(t, s.traffic.ReleaseSlot(t.Context(), host, 0, "first")) // of an endpoint that nobody knows
	must(t, s.traffic.TakeSlot(t.Context(), host, 0, "first", now, now.Add(time.Minute)))
	must(t, s.traffic.TakeSlot(t.Context(), host, 0, "first", now, now.Add(time.Minute))) // the answer was lost
	must(t, s.traffic.ReleaseSlot(t.Context(), host, 0, "second"))
	must(t, s.traffic.ReleaseSlot(t.Context(), host, 1, "first"))
	wantConflict(t, "after a stranger's release", s.traffic.TakeSlot(t.Context(), host, 0, "second", now, now.Add(time.Minute)))

	must(t, s.traffic.TakeSlot(t.Context(), host, 0, "second", now.Add(time.Minute), now.Add(2*time.Minute)))
	must(t, s.traffic.ReleaseSlot(t.Context(), host, 0, "first")) // too late: its time was over
	wantConflict(t, "after a late release", s.traffic.TakeSlot(t.Context(), host, 0, "third", now.Add(time.Minute), now.Add(time.Hour)))
	for range 2 {
		must(t, s.traffic.ReleaseSlot(t.Context(), host, 0, "second"))
	}
	must(t, s.traffic.TakeSlot(t.Context(), host, 0, "third", now, now.Add(time.Minute)))
}

func TestABreakerIsReplacedAsItWasSeen(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	check := func(want refresh.Breaker) {
		t.Helper()
		got, err := s.traffic.Breaker(t.Context(), host)
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("breaker (-want +got):\n%s", diff)
		}
	}
	var closed refresh.Breaker
	failing, open := refresh.Breaker{Failures: 1}, refresh.Breaker{Failures: 5, OpenUntil: now.Add(time.Minute)}
	check(closed)
	must(t, s.traffic.TakeSlot(t.Context(), host, 0, "owner", now, now.Add(time.Minute)))
	check(closed)
	for _, step := range []struct{ seen, next refresh.Breaker }{
		{closed, failing}, {failing, open}, {open, closed}, {closed, open}, {open, refresh.Breaker{OpenUntil: open.OpenUntil}},
	} {
		must(t, s.traffic.SaveBreaker(t.Context(), host, step.seen, step.next))
		check(step.next)
		for _, stale := range []refresh.Breaker{closed, failing, open, {Failures: 5}} {
			if stale != step.next {
				wantConflict(t, fmt.Sprintf("%+v over %+v", stale, step.next), s.traffic.SaveBreaker(t.Context(), host, stale, failing))
			}
		}
		check(step.next)
	}
	wantConflict(t, "another owner of the slot", s.traffic.TakeSlot(t.Context(), host, 0, "other", now, now.Add(time.Minute)))
}

func TestOfManyFailuresSeenAtOnceOneCounts(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	for i := range 2 {
		if won := race(t, 16, func(ctx context.Context, _ int) error {
			return s.traffic.SaveBreaker(ctx, host, refresh.Breaker{Failures: i}, refresh.Breaker{Failures: i + 1})
		}); won != 1 {
			t.Errorf("%d of 16 counted failure %d, want 1", won, i+1)
		}
	}
}

func TestAnswersAreSummedUpFromAMinuteOn(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	must(t, s.traffic.TakeSlot(t.Context(), host, 0, "owner", now, now.Add(time.Minute))) // its row is no counter
	must(t, s.traffic.Count(t.Context(), "another", now, true))
	check := func(since time.Time, answered, refused int) {
		t.Helper()
		gotAnswered, gotRefused, err := s.traffic.Counts(t.Context(), host, since)
		must(t, err)
		if gotAnswered != answered || gotRefused != refused {
			t.Errorf("since %v: %d answered, %d refused, want %d and %d", since, gotAnswered, gotRefused, answered, refused)
		}
	}
	check(now.Add(-time.Hour), 0, 0)
	race(t, 40, func(ctx context.Context, i int) error {
		return s.traffic.Count(ctx, host, now.Add(time.Duration(i%20)*time.Minute), i%4 == 0)
	})
	check(now, 40, 10)
	check(now.Truncate(time.Minute).Add(time.Minute-1), 40, 10)
	check(now.Add(5*time.Minute), 30, 6)
	check(now.Add(19*time.Minute), 2, 0)
	check(now.Add(20*time.Minute), 0, 0)
	check(now.Add(5*time.Minute).In(time.FixedZone("elsewhere", 3*3600)), 30, 6)
}

func TestWhatIsKnownOfAnEndpointEnds(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	ttl := func(sk string) string {
		t.Helper()
		value, _ := s.raw(t, "FlowTable", "HOST#"+host, sk)["ttl"].(string)
		return value
	}
	at := func(at time.Time) string { return fmt.Sprint("number ", at.Unix()) }
	must(t, s.traffic.TakeSlot(t.Context(), host, 0, "owner", now, now.Add(time.Minute)))
	later := now.Add(3 * time.Hour)
	must(t, s.traffic.TakeSlot(t.Context(), host, 1, "owner", later, later.Add(time.Minute)))
	must(t, s.traffic.SaveBreaker(t.Context(), host, refresh.Breaker{}, refresh.Breaker{Failures: 1}))
	if got, want := ttl("META"), at(later.Add(48*time.Hour)); got != want {
		t.Errorf("ttl %s, want %s", got, want)
	}
	must(t, s.traffic.Count(t.Context(), host, now, false))
	if got, want := ttl("M#202603040506"), at(now.Add(time.Hour)); got != want {
		t.Errorf("ttl of a minute %s, want %s", got, want)
	}
}
