package exportworker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"recordbridge/functions/exportworker"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/org"
)

var errTrouble = errors.New("trouble on our side")

type exports struct {
	calls    int
	admitted int
	tenant   org.Tenant
	id       string
	deadline time.Time
	err      error
}

func (e *exports) Work(_ context.Context, tenant org.Tenant, taskID string, deadline time.Time) error {
	e.calls++
	e.tenant, e.id, e.deadline = tenant, taskID, deadline
	return e.err
}

func (e *exports) Admit(_ context.Context, tenant org.Tenant) error {
	e.admitted, e.tenant = e.admitted+1, tenant
	return e.err
}

func tenant() org.Tenant {
	return org.Tenant{Mode: org.Live, OrgID: "a0000000-0000-4000-8000-000000000001"}
}

func TestWorkerPassesFunctionDeadlineToTask(t *testing.T) {
	t.Parallel()
	deadline := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(t.Context(), deadline)
	defer cancel()
	var e exports
	if err := exportworker.New(&e)(ctx, due.Item{Tenant: tenant(), Kind: due.Task, ID: "task"}); err != nil {
		t.Fatal(err)
	}
	if e.calls != 1 || e.tenant != tenant() || e.id != "task" || !e.deadline.Equal(deadline) {
		t.Errorf("called with %+v, want the deadline %v", e, deadline)
	}
}

func TestWorkerStartsQueuedExportsOnShareMessage(t *testing.T) {
	t.Parallel()
	var e exports
	if err := exportworker.New(&e)(t.Context(),
		due.Item{Tenant: tenant(), Kind: due.Share, ID: tenant().OrgID}); err != nil {
		t.Fatal(err)
	}
	if e.calls != 0 || e.admitted != 1 || e.tenant != tenant() {
		t.Errorf("called with %+v, want one call for the tenant", e)
	}
}

func TestWorkerSetsNoDeadlineWhenContextHasNone(t *testing.T) {
	t.Parallel()
	var e exports
	if err := exportworker.New(&e)(t.Context(), due.Item{Tenant: tenant(), Kind: due.Task, ID: "task"}); err != nil ||
		!e.deadline.IsZero() {
		t.Errorf("deadline %v, error %v", e.deadline, err)
	}
}

func TestWorkerRetriesMessageAfterInternalFailure(t *testing.T) {
	t.Parallel()
	e := exports{err: errTrouble}
	if err := exportworker.New(&e)(t.Context(), due.Item{Tenant: tenant(), Kind: due.Task, ID: "task"}); !errors.Is(err,
		errTrouble) {
		t.Errorf("got %v", err)
	}
}

func TestWorkerDropsMessageOfUnexpectedKind(t *testing.T) {
	t.Parallel()
	for _, kind := range []due.Kind{due.Event, due.Delivery, "other"} {
		e := exports{err: errTrouble}
		if err := exportworker.New(&e)(t.Context(), due.Item{Tenant: tenant(), Kind: kind, ID: "x"}); err != nil ||
			e.calls != 0 {
			t.Errorf("%s: %d calls, %v", kind, e.calls, err)
		}
	}
}
