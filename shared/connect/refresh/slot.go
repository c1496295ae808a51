package refresh

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/words/fault"
)

const (
	// exportSlot is left to exports; scheduled work has scheduledSlots.
	exportSlot = 3
	// noSlot is the place of an export where nothing could be found out.
	noSlot = -1
	// firstPause between two looks for a free slot grows up to longestPause.
	firstPause   = 50 * time.Millisecond
	longestPause = time.Second
)

func scheduledSlots() []int { return []int{0, 1, 2} }

// slot is a place at a token endpoint. It implements tokens.Slot.
type slot struct {
	limiter  Limiter
	endpoint string
	number   int
	owner    string
	until    time.Time
	isProbe  bool // its outcome decides about an open breaker
}

// Until implements tokens.Slot.
func (s slot) Until() time.Time { return s.until.Add(-slotMargin) }

// Release implements tokens.Slot.
func (s slot) Release(ctx context.Context, outcome error) {
	s.limiter.record(ctx, s.endpoint, s.isProbe, outcome)
	s.giveBack(ctx)
}

// giveBack gives a slot back also when the caller has given up. One that stays taken is free when its lease ends.
func (s slot) giveBack(ctx context.Context) {
	if s.number == noSlot {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stateWithin)
	defer cancel()
	_ = s.limiter.state.ReleaseSlot(ctx, s.endpoint, s.number, s.owner)
}

// take waits for a free slot, for maxWait; then *BusyError. That is no retry of a lost write (package retry): it ends
// with time, not with a number of tries, since a slot is free when a call of somebody else is over.
func (l Limiter) take(ctx context.Context, endpoint string) (slot, error) {
	waiting, cancel := context.WithTimeout(ctx, l.maxWait)
	defer cancel()
	owner := l.newID()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		place, err := l.takeNow(ctx, endpoint, owner)
		if !errors.Is(err, fault.Conflict) {
			return place, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-waiting.Done():
			timer.Stop()
			return slot{}, l.busy()
		}
	}
}

// takeNow takes a slot that is free; fault.Conflict when none is. If that cannot be found out, exports go ahead. A
// conflict at one slot leads to the next.
func (l Limiter) takeNow(ctx context.Context, endpoint, owner string) (slot, error) {
	numbers := scheduledSlots()
	if !l.scheduled {
		numbers = append([]int{exportSlot}, numbers...)
	}
	for _, number := range numbers {
		now := l.now()
		place := slot{limiter: l, endpoint: endpoint, number: number, owner: owner, until: now.Add(slotFor)}
		err := l.tryTake(ctx, place, now)
		if err == nil {
			return place, nil
		}
		if errors.Is(err, fault.Conflict) {
			continue
		}
		place.giveBack(ctx) // it may have been taken
		if l.scheduled {
			return slot{}, l.busy()
		}
		place.number = noSlot
		return place, nil
	}
	return slot{}, fault.Stale()
}

func (l Limiter) tryTake(ctx context.Context, place slot, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, stateWithin)
	defer cancel()
	return l.state.TakeSlot(ctx, place.endpoint, place.number, place.owner, now, place.until)
}
