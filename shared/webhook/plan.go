package webhook

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"recordbridge/shared/words/fault"
)

// Plan holds an event and its planned deliveries, unless the deliveries are already stored.
type Plan struct {
	event      Event
	dispatches []dispatch
	isStored   bool
}

func (w Worker) plan(ctx context.Context, event Event, subscriptions []Subscription) (Plan, error) {
	planned := Plan{event: event}
	for _, s := range subscriptions {
		if event.FannedOut || !s.has(event.Type) {
			continue
		}
		d, err := w.first(ctx, event, s)
		if err != nil {
			return Plan{}, err
		}
		planned.dispatches = append(planned.dispatches, d)
	}
	return planned, nil
}

// Deliver stores a plan's deliveries, unless they are already stored, and makes the first attempt of each. Only one
// caller may deliver a plan. Errors are internal.
func (w Worker) Deliver(ctx context.Context, p Plan) error {
	if p.event.FannedOut {
		return nil
	}
	if !p.isStored {
		if err := w.Store.FanOut(ctx, p.event, deliveriesOf(p.dispatches)); err != nil {
			if errors.Is(err, fault.Conflict) {
				return nil
			}
			return fmt.Errorf("fan out event: %w", err)
		}
	}
	if len(p.dispatches) == 0 {
		return nil
	}
	last := len(p.dispatches) - 1 // usually there is only one dispatch, which needs no goroutine
	var posts errgroup.Group
	posts.SetLimit(parallelPosts)
	for _, d := range p.dispatches[:last] {
		posts.Go(func() error { return w.begin(ctx, d) })
	}
	return errors.Join(w.begin(ctx, p.dispatches[last]), posts.Wait())
}
