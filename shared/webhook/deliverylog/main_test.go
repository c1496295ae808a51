package deliverylog_test

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

const day = 24 * time.Hour

var (
	tenant = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}
	// noon is a time with the same precision as stored times.
	noon = time.Date(2026, 3, 4, 12, 0, 0, 123456000, time.UTC)
)

// world holds the log, the tables from template.yaml, a worker that fills the log, and a clock.
type world struct {
	rows   store.Webhooks
	log    deliverylog.Details
	sealer *kms.Sealer
	answer webhook.Answer
	now    time.Time
	counts *counted
	made   tables.Tables
}

func newWorld(t *testing.T) *world {
	t.Helper()
	made := tables.New(t)
	keys, key := made.Key(t)
	w := &world{made: made, now: noon, answer: webhook.Answer{Status: 200}}
	clock := func() time.Time { return w.now }
	w.sealer = kms.New(keys, kms.TokensKey(key), webhook.SecretPurpose, clock)
	w.rows = store.NewWebhooks(
		store.Work{DB: made.DB, Table: made.Name("WorkTable")},
		store.Control{DB: made.DB, Table: made.Name("ControlTable")},
	)
	w.counts = &counted{Rows: store.DeliveryLog{DB: made.DB, Table: made.Name("WorkTable")}}
	w.log = deliverylog.Details{Log: deliverylog.Log{Rows: w.counts, Subscriptions: w.rows, Now: clock}, Answers: w.sealer}
	return w
}

type counted struct {
	deliverylog.Rows

	read int
}

func (c *counted) Deliveries(ctx context.Context, of org.Tenant, ids []string) ([]webhook.Delivery, error) {
	c.read += len(ids)
	return c.Rows.Deliveries(ctx, of, ids)
}

func (w *world) Post(context.Context, string, map[string]string, []byte) (webhook.Answer, error) {
	return w.answer, nil
}

func (w *world) EnqueueDelivery(context.Context, org.Tenant, string, time.Duration) error {
	return nil
}

func (w *world) NotifyFailing(context.Context, webhook.Subscription, webhook.Health) error {
	return nil
}

func (w *world) NotifyDisabled(context.Context, webhook.Subscription, webhook.Reason, webhook.Health, time.Time) error {
	return nil
}

func (w *world) worker() webhook.Worker {
	return webhook.Worker{
		Store: w.rows, Health: w.rows, Owners: w, Secrets: w.sealer, Poster: w, Queue: w,
		Pacer: webhook.NewPacer(w.log.Now),
		Now:   w.log.Now, Jitter: func() float64 { return 0.5 }, Lease: time.Minute,
	}
}

// subscribe creates a webhook for all event types used by the tests.
func (w *world) subscribe(t *testing.T, of org.Tenant) webhook.Subscription {
	t.Helper()
	editor := webhook.Editor{
		Own: ownhosts.Own(), Vault: w.sealer, Reach: safehttp.Options{}, Random: rand.Reader,
		Now: w.log.Now,
	}
	s, _, err := editor.Create(t.Context(), webhook.Draft{
		ID: ids.Random(), Tenant: of, URL: "https://hooks.example/in", Optional: []webhook.Type{webhook.AuthorizationEnded},
	})
	expect.NoError(t, err)
	expect.NoError(t, w.rows.CreateSubscription(t.Context(), s))
	return s
}

// emit stores an event and makes its deliveries' first attempts.
func (w *world) emit(t *testing.T, of org.Tenant, what webhook.Type) webhook.Event {
	t.Helper()
	event, err := webhook.NewEvent(of, what, ids.Random(), 0, w.now, webhook.Test{Hello: "world"})
	expect.NoError(t, err)
	expect.NoError(t, w.rows.CreateEvent(t.Context(), event))
	expect.NoError(t, w.worker().DeliverEvent(t.Context(), of, event.ID))
	return event
}

// put stores a delivery and its event.
func (w *world) put(ctx context.Context, d webhook.Delivery, what webhook.Type) error {
	event := webhook.Event{
		ID: ids.Derive("event", d.ID), Tenant: d.Tenant, Type: what, Body: []byte(`{}`),
		CreatedAt: d.CreatedAt,
	}
	if err := w.rows.CreateEvent(ctx, event); err != nil {
		return err
	}
	d.EventID = event.ID
	return w.rows.FanOut(ctx, event, []webhook.Delivery{d})
}

func (w *world) search(t *testing.T, of org.Tenant, q deliverylog.Query) deliverylog.Page {
	t.Helper()
	page, err := w.log.Search(t.Context(), of, q)
	expect.NoError(t, err)
	return page
}

// follow reads all pages and calls between after each page.
func (w *world) follow(t *testing.T, of org.Tenant, q deliverylog.Query, between func()) []deliverylog.Entry {
	t.Helper()
	var all []deliverylog.Entry
	for range 1000 {
		page := w.search(t, of, q)
		all = append(all, page.Entries...)
		if page.Next == "" {
			return all
		}
		q.After = page.Next
		between()
	}
	t.Fatal("the list has no end")
	return nil
}

func nothing() {}

func wantInvalid(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, fault.Invalid) {
		t.Errorf("%s = %v, want fault.Invalid", what, err)
	}
}

func idsOf(entries []deliverylog.Entry) []string {
	all := make([]string, len(entries))
	for i, e := range entries {
		all[i] = e.ID
	}
	return all
}
