package refresh_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// clerk is a fake that records calls in order and returns the configured errors.
type clerk struct {
	asked        []string
	due, enqueue error
}

func (d *clerk) RefreshDue(_ context.Context, of org.Tenant, id string, now time.Time) error {
	d.asked = append(d.asked, "due "+of.Key()+" "+id+" "+now.Format(time.RFC3339))
	return d.due
}

func (d *clerk) EnqueueConnection(_ context.Context, of org.Tenant, id string) error {
	d.asked = append(d.asked, "enqueue "+of.Key()+" "+id)
	return d.enqueue
}

// TestPromptMarksRowDueBeforeEnqueueing checks the order because a message about a row that is not due has no effect.
func TestPromptMarksRowDueBeforeEnqueueing(t *testing.T) {
	t.Parallel()
	due, enqueue := "due "+tenant.Key()+" "+connID+" 2026-03-04T05:06:07Z", "enqueue "+tenant.Key()+" "+connID
	for name, test := range map[string]struct {
		clerk clerk
		asked []string
		err   error
	}{
		"well":                  {clerk{}, []string{due, enqueue}, nil},
		"a lost message":        {clerk{enqueue: errOurs}, []string{due, enqueue}, nil},
		"not authorized":        {clerk{due: fault.Stale()}, []string{due}, fault.Conflict},
		"the row cannot be due": {clerk{due: errOurs}, []string{due}, errOurs},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := refresh.Prompt{Rows: &test.clerk, Enqueuer: &test.clerk}.RefreshDue(t.Context(), tenant, connID, start)
			if !errors.Is(err, test.err) || !slices.Equal(test.clerk.asked, test.asked) {
				t.Errorf("got %v after %q", err, test.clerk.asked)
			}
		})
	}
}
