package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

var neighbour = org.Tenant{Mode: org.Test, OrgID: "0b000000-0000-4000-8000-00000000000b"}

// batching returns a worker that plans several events together.
func (w *world) batching(t *testing.T) webhook.Worker {
	t.Helper()
	db, ok := w.store.Events.DB.(store.EventDB)
	if !ok {
		t.Fatal("the world's client reads no batches")
	}
	worker := w.worker()
	worker.Batches = store.EventBatches{Rows: w.store.Events, Log: store.EventLog{DB: db, Table: w.store.Events.Table}}
	return worker
}

func (w *world) subscribeFor(t *testing.T, of org.Tenant, id string) {
	t.Helper()
	s := webhook.Subscription{
		ID: id, Tenant: of, URL: "https://" + id + ".example/hook", Types: webhook.Required(),
		CreatedAt: time.Now(),
	}
	sealed, err := w.sealer.Seal(t.Context(), of, s.SecretBinding(), []byte(newSecret(t).Reveal()))
	expect.NoError(t, err)
	s.Secrets = []webhook.SealedSecret{{Sealed: sealed}}
	expect.NoError(t, w.store.CreateSubscription(t.Context(), s))
}

// emitFor stores n events of a tenant and returns references to them.
func (w *world) emitFor(t *testing.T, of org.Tenant, n int) []webhook.Reference {
	t.Helper()
	all := make([]webhook.Reference, 0, n)
	for i := range n {
		event, err := webhook.NewEvent(of, webhook.TestEvent, fmt.Sprint("subject", i), 0, time.Now(),
			webhook.Test{Hello: "world"})
		expect.NoError(t, err)
		expect.NoError(t, w.store.CreateEvent(t.Context(), event))
		all = append(all, webhook.Reference{Tenant: of, ID: event.ID})
	}
	return all
}

func planned(t *testing.T, worker webhook.Worker, references []webhook.Reference) map[webhook.Reference]webhook.Plan {
	t.Helper()
	plans, err := worker.PlanTogether(t.Context(), references)
	expect.NoError(t, err)
	return plans
}

// deliver delivers all plans and handles events without a plan individually.
func deliver(t *testing.T, worker webhook.Worker, references []webhook.Reference,
	plans map[webhook.Reference]webhook.Plan,
) {
	t.Helper()
	for _, r := range references {
		plan, ok := plans[r]
		if !ok {
			expect.NoError(t, worker.DeliverEvent(t.Context(), r.Tenant, r.ID))
			continue
		}
		expect.NoError(t, worker.Deliver(t.Context(), plan))
	}
}

func TestPlanTogetherSharesCallsBetweenEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.subscribe(t, "s1")
		w.subscribeFor(t, neighbour, "s2")
		references := append(w.emitFor(t, tenant, 4), w.emitFor(t, neighbour, 3)...)
		w.calls = nil
		worker := w.batching(t)
		plans := planned(t, worker, references)
		// UpdateItem reserves a slot for each attempt except a webhook's first.
		got := slices.DeleteFunc(slices.Clone(w.calls), func(call string) bool { return call == "dynamodb UpdateItem" })
		slices.Sort(got)
		want := []string{"dynamodb BatchGetItem", "dynamodb Query", "dynamodb Query", "dynamodb TransactWriteItems"}
		if diff := cmp.Diff(want, got); diff != "" || len(plans) != len(references) {
			t.Errorf("%d plans with these calls (-want +got):\n%s", len(plans), diff)
		}
		deliver(t, worker, references, plans)
		perURL := map[string]int{}
		for _, p := range w.posts {
			perURL[p.url]++
		}
		if diff := cmp.Diff(map[string]int{"https://s1.example/hook": 4, "https://s2.example/hook": 3}, perURL); diff != "" {
			t.Errorf("attempts by webhook (-want +got):\n%s", diff)
		}
		deliver(t, worker, references, planned(t, worker, references))
		if rows := w.due(t); len(w.posts) != len(references) || len(rows) != 0 {
			t.Errorf("%d attempts after duplicates, due %v; want %d and none", len(w.posts), rows, len(references))
		}
	})
}

func TestPlanTogetherMakesSameCallsAsDeliverEventForOneEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.subscribe(t, "s1")
		references := w.emitFor(t, tenant, 1)
		w.calls = nil
		worker := w.batching(t)
		deliver(t, worker, references, planned(t, worker, references))
		slices.Sort(w.calls)
		want := []string{
			"dynamodb GetItem", "dynamodb Query", "dynamodb TransactWriteItems", "dynamodb TransactWriteItems",
			"kms Decrypt",
		}
		if diff := cmp.Diff(want, w.calls); diff != "" || len(w.posts) != 1 {
			t.Errorf("%d attempts with these calls (-want +got):\n%s", len(w.posts), diff)
		}
	})
}

func TestPlanTogetherSeparatesTenants(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.subscribe(t, "s1")
		w.subscribeFor(t, neighbour, "s2")
		own := w.emitFor(t, tenant, 2)
		foreign := webhook.Reference{Tenant: neighbour, ID: own[0].ID}
		live := webhook.Reference{Tenant: org.Tenant{Mode: org.Live, OrgID: tenant.OrgID}, ID: own[0].ID}
		plans := planned(t, w.batching(t), append(own, foreign, live))
		if _, isForeign := plans[foreign]; isForeign || len(plans) != 2 {
			t.Errorf("%d plans, one for another tenant: %t; want the 2 of the event's own", len(plans), isForeign)
		}
	})
}

// brokenBatches is a store whose FanOutAll method always fails. If isLost is set, FanOutAll fails only after its writes
// have taken effect.
type brokenBatches struct {
	webhook.BatchStore

	isLost   bool
	isUnread bool
}

func (b brokenBatches) FanOutAll(ctx context.Context, all []webhook.FanOut) error {
	if b.isLost {
		if err := b.BatchStore.FanOutAll(ctx, all); err != nil {
			return err
		}
	}
	return errors.New("no answer")
}

func (b brokenBatches) Events(ctx context.Context,
	references []webhook.Reference,
) (map[webhook.Reference]webhook.Event, error) {
	if b.isUnread {
		return nil, errors.New("no answer")
	}
	return b.BatchStore.Events(ctx, references)
}

func TestPlanTogetherReturnsReadError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.subscribe(t, "s1")
		worker := w.batching(t)
		worker.Batches = brokenBatches{BatchStore: worker.Batches, isUnread: true}
		if plans, err := worker.PlanTogether(t.Context(), w.emitFor(t, tenant, 2)); err == nil || len(plans) != 0 {
			t.Errorf("%d plans, %v; want an error", len(plans), err)
		}
	})
}

func TestDeliverFansOutUnstoredPlan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.subscribe(t, "s1")
		references := w.emitFor(t, tenant, 3)
		worker := w.batching(t)
		worker.Batches = brokenBatches{BatchStore: worker.Batches}
		plans := planned(t, worker, references)
		expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, references[1].ID))
		deliver(t, worker, references, plans)
		if rows := w.due(t); len(w.posts) != 3 || len(rows) != 0 {
			t.Errorf("%d attempts, due %v; want 3 and none", len(w.posts), rows)
		}
	})
}

func TestSweeperDeliversFanOutWithLostResponse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.subscribe(t, "s1")
		references := w.emitFor(t, tenant, 3)
		worker := w.batching(t)
		worker.Batches = brokenBatches{BatchStore: worker.Batches, isLost: true}
		deliver(t, worker, references, planned(t, worker, references))
		rows := w.due(t)
		if len(w.posts) != 0 || len(rows) != 3 {
			t.Fatalf("%d attempts, due %v; want none, and 3 deliveries left to the sweeper", len(w.posts), rows)
		}
		sleepUntil(time.Now().Add(lease + time.Second))
		for _, row := range rows {
			expect.NoError(t, worker.RetryDelivery(t.Context(), tenant, row.ID))
		}
		if rows := w.due(t); len(w.posts) != 3 || len(rows) != 0 {
			t.Errorf("%d attempts, due %v; want 3 and none", len(w.posts), rows)
		}
	})
}

func TestPlanTogetherRespectsTransactionLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		const receivers, events = 25, 6
		for i := range receivers {
			w.subscribe(t, fmt.Sprint("s", i))
		}
		references := w.emitFor(t, tenant, events)
		worker := w.batching(t)
		deliver(t, worker, references, planned(t, worker, references))
		for len(w.due(t)) > 0 { // Make the attempts that the rate limits have deferred.
			sleepUntil(time.Now().Add(time.Minute))
			for _, row := range w.due(t) {
				expect.NoError(t, worker.RetryDelivery(t.Context(), tenant, row.ID))
			}
		}
		if len(w.posts) != receivers*events {
			t.Errorf("%d attempts, want %d", len(w.posts), receivers*events)
		}
	})
}

// stuck is a store that returns one tenant's subscriptions only after the caller has given up.
type stuck struct {
	webhook.Store

	of org.Tenant
}

func (s stuck) Subscriptions(ctx context.Context, tenant org.Tenant) ([]webhook.Subscription, error) {
	if tenant == s.of {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Store.Subscriptions(ctx, tenant)
}

func TestPlanTogetherSkipsSlowTenant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.subscribe(t, "s1")
		w.subscribeFor(t, neighbour, "s2")
		references := append(w.emitFor(t, tenant, 2), w.emitFor(t, neighbour, 2)...)
		worker := w.batching(t)
		worker.Store = stuck{Store: w.store, of: neighbour}
		began := time.Now()
		plans := planned(t, worker, references)
		if took := time.Since(began); took > 500*time.Millisecond {
			t.Errorf("one tenant's subscriptions held up the other for %v, want at most 500 ms", took)
		}
		for r := range plans {
			if r.Tenant == neighbour {
				t.Errorf("a plan without subscriptions: %v", r)
			}
		}
		deliver(t, worker, references[:2], plans)
		if got := w.receivers(); len(got) != 2 || !strings.HasPrefix(got[0], "https://s1.") {
			t.Errorf("attempts went to %q, want both to the tenant that could be read", got)
		}
	})
}
