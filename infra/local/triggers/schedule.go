package triggers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// ErrNoSchedule is returned by Fire if the function has no schedule.
var ErrNoSchedule = errors.New("the function has no schedule")

// Fire invokes a function immediately, as its schedule would, and waits for it to complete. Fire returns ErrNoSchedule
// if the function has no schedule.
func (t *Triggers) Fire(ctx context.Context, function string) error {
	at := slices.IndexFunc(t.options.Schedules, func(s Schedule) bool { return s.Function == function })
	if at < 0 {
		return fmt.Errorf("fire %q: %w", function, ErrNoSchedule)
	}
	return t.fire(ctx, t.options.Schedules[at])
}

// tick invokes the schedule's function at the end of each period. Like EventBridge, tick does not wait for the previous
// invocation to complete.
func (t *Triggers) tick(ctx context.Context, schedule Schedule) {
	var running sync.WaitGroup
	defer running.Wait()
	ticker := time.NewTicker(schedule.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			running.Go(func() {
				if err := t.fire(ctx, schedule); err != nil && ctx.Err() == nil {
					t.options.Log.WarnContext(ctx, "scheduled run failed",
						slog.String("function", schedule.Function), slog.Any("error", err))
				}
			})
		}
	}
}

func (t *Triggers) fire(ctx context.Context, schedule Schedule) error {
	payload, err := json.Marshal(events.CloudWatchEvent{
		Version: "0", ID: t.options.NewID(), DetailType: "Scheduled Event", Source: "aws.events",
		AccountID: t.options.Account, Region: t.options.Region, Time: time.Now().UTC().Truncate(time.Second),
		Resources: []string{"arn:aws:events:" + t.options.Region + ":" + t.options.Account + ":rule/" + schedule.Name},
		Detail:    json.RawMessage(`{}`),
	})
	if err != nil {
		return fmt.Errorf("event of %s: %w", schedule.Name, err)
	}
	if _, err := t.options.Invoker.Invoke(ctx, schedule.Function, payload); err != nil {
		return fmt.Errorf("invoke %s: %w", schedule.Function, err)
	}
	return nil
}
