package refresh

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/words/fault"
)

const (
	// exportSlot is the slot reserved for exports. Scheduled work uses the slots in scheduledSlots.
	exportSlot = 3
	// noSlot is the slot number of an export that runs without a slot because the shared state could not be read.
	noSlot = -1
	// firstPause is the pause between the first two checks for a free slot. Later pauses grow up to longestPause.
	firstPause   = 50 * time.Millisecond
	longestPause = time.Second
)

func scheduledSlots() []int { return []int{0, 1, 2} }

// slot is a lease that permits one request to a token endpoint. It implements tokens.Slot.
type slot struct {
	limiter  Limiter
	endpoint string
	number   int
	owner    string
	until    time.Time
	isProbe  bool // whether the call's outcome closes or reopens the circuit breaker
}

// Until implements tokens.Slot.
func (s slot) Until() time.Time { return s.until.Add(-slotMargin) }

// Release implements tokens.Slot.
func (s slot) Release(ctx context.Context, outcome error) {
	s.limiter.record(ctx, s.endpoint, s.isProbe, outcome)
	s.giveBack(ctx)
}

// giveBack releases a slot even if the caller's context has been cancelled. If the release fails, the slot becomes free
// when its lease expires.
func (s slot) giveBack(ctx context.Context) {
	if s.number == noSlot {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stateWithin)
	defer cancel()
	_ = s.limiter.state.ReleaseSlot(ctx, s.endpoint, s.number, s.owner)
}

// take leases a free slot, or returns *BusyError if none becomes free within maxWait. take does not use package retry,
// which retries lost writes. The limit is a duration rather than a number of tries, because slots become free only as
// other callers finish.
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
			return slot{}, l.busy(nil)
		}
	}
}

// takeNow leases a free slot, or returns fault.Conflict if no slot is free. If the state can't be read, exports
// continue without a slot.
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
		place.giveBack(ctx) // the slot may have been leased despite the error
		if l.scheduled {
			return slot{}, l.busy(err)
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
