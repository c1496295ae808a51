package refresh

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/fault"
)

const (
	// exportSlot is left to exports; scheduled work has scheduledSlots.
	exportSlot = 3
	// noSlot is the place of an export that Traffic could not give one.
	noSlot = -1
	// firstPause between two looks for a free slot grows up to longestPause.
	firstPause   = 50 * time.Millisecond
	longestPause = time.Second
)

func scheduledSlots() []int { return []int{0, 1, 2} }

// slot is a place at a token endpoint.
type slot struct {
	endpoint string
	number   int
	owner    string
	until    time.Time
}

// take waits for a free slot, as long as patience lasts; then *BusyError.
func (g Gate) take(ctx context.Context, endpoint string) (slot, error) {
	patience, cancel := context.WithTimeout(ctx, g.Patience)
	defer cancel()
	owner := g.NewID()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		place, err := g.takeNow(ctx, endpoint, owner)
		if !errors.Is(err, fault.Conflict) {
			return place, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-patience.Done():
			timer.Stop()
			return slot{}, g.busy()
		}
	}
}

// takeNow takes a slot that is free; fault.Conflict when none is. Where that cannot be found out, exports go ahead.
func (g Gate) takeNow(ctx context.Context, endpoint, owner string) (slot, error) {
	numbers := scheduledSlots()
	if !g.Scheduled {
		numbers = append([]int{exportSlot}, numbers...)
	}
	for _, number := range numbers {
		now := g.Now()
		place := slot{endpoint: endpoint, number: number, owner: owner, until: now.Add(slotFor)}
		err := g.tryTake(ctx, place, now)
		if err == nil {
			return place, nil
		}
		if errors.Is(err, fault.Conflict) {
			continue
		}
		g.release(ctx, place) // it may have been taken
		if g.Scheduled {
			return slot{}, g.busy()
		}
		place.number = noSlot
		return place, nil
	}
	return slot{}, fault.Stale()
}

func (g Gate) tryTake(ctx context.Context, place slot, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, trafficWithin)
	defer cancel()
	return g.Traffic.TakeSlot(ctx, place.endpoint, place.number, place.owner, now, place.until)
}

// release gives a slot back also when the caller has given up. One that stays taken is free when its lease ends.
func (g Gate) release(ctx context.Context, place slot) {
	if place.number == noSlot {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), trafficWithin)
	defer cancel()
	_ = g.Traffic.ReleaseSlot(ctx, place.endpoint, place.number, place.owner)
}
