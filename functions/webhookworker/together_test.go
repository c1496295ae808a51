package webhookworker_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/functions/webhookworker"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// planner is a fake Planner that plans every event except unplanned.
type planner struct {
	unplanned string
	asked     []webhook.Reference
	delivered int
	err       error
	unread    error
}

func (p *planner) PlanTogether(_ context.Context,
	references []webhook.Reference,
) (map[webhook.Reference]webhook.Plan, error) {
	p.asked = references
	plans := map[webhook.Reference]webhook.Plan{}
	for _, r := range references {
		if r.ID != p.unplanned {
			plans[r] = webhook.Plan{}
		}
	}
	return plans, p.unread
}

func (p *planner) Deliver(context.Context, webhook.Plan) error {
	p.delivered++
	return p.err
}

func TestBatchDeliveryUsesEachPlanOnce(t *testing.T) {
	t.Parallel()
	o1, o2 := org.Tenant{Mode: org.Test, OrgID: "o1"}, org.Tenant{Mode: org.Test, OrgID: "o2"}
	batch := []due.Item{
		{Tenant: o1, Kind: due.Event, ID: "a"},
		{Tenant: o1, Kind: due.Event, ID: "a"},
		{Tenant: o2, Kind: due.Event, ID: "a"},
		{Tenant: o1, Kind: due.Event, ID: "b"},
		{Tenant: o1, Kind: due.Delivery, ID: "a"},
		{Tenant: o1, Kind: due.Notice, ID: "c"},
	}
	p, w := planner{unplanned: "b"}, webhooks{}
	handle := webhookworker.Together(&p, webhookworker.New(&w, &w))(t.Context(), batch)
	for _, i := range batch {
		if err := handle(t.Context(), i); err != nil {
			t.Error(err)
		}
	}
	want := []webhook.Reference{{Tenant: o1, ID: "a"}, {Tenant: o2, ID: "a"}, {Tenant: o1, ID: "b"}}
	if diff := cmp.Diff(want, p.asked); diff != "" {
		t.Errorf("planned (-want +got):\n%s", diff)
	}
	calls := []string{"event test#o1 a", "event test#o1 b", "delivery test#o1 a", "notice test#o1 c"}
	if diff := cmp.Diff(calls, w.calls); diff != "" || p.delivered != 2 {
		t.Errorf("%d plans delivered, want 2; without a plan (-want +got):\n%s", p.delivered, diff)
	}
}

func TestBatchDeliveryReturnsDeliveryError(t *testing.T) {
	t.Parallel()
	i := due.Item{Tenant: org.Tenant{Mode: org.Test, OrgID: "o1"}, Kind: due.Event, ID: "a"}
	p, w := planner{err: errTrouble}, webhooks{}
	handle := webhookworker.Together(&p, webhookworker.New(&w, &w))(t.Context(), []due.Item{i})
	if err := handle(t.Context(), i); !errors.Is(err, errTrouble) {
		t.Errorf("got %v, want the delivery's error", err)
	}
}

func TestBatchDeliveryRetriesMessagesWhenEventsCannotBeRead(t *testing.T) {
	t.Parallel()
	tenant := org.Tenant{Mode: org.Test, OrgID: "o1"}
	batch := []due.Item{{Tenant: tenant, Kind: due.Event, ID: "a"}, {Tenant: tenant, Kind: due.Delivery, ID: "b"}}
	p, w := planner{unplanned: "a", unread: errTrouble}, webhooks{}
	handle := webhookworker.Together(&p, webhookworker.New(&w, &w))(t.Context(), batch)
	if err := handle(t.Context(), batch[0]); !errors.Is(err, errTrouble) {
		t.Errorf("an event: %v, want the error of reading", err)
	}
	if err := handle(t.Context(), batch[1]); err != nil || len(w.calls) != 1 {
		t.Errorf("a delivery: %v, called %q; want it handled", err, w.calls)
	}
}
