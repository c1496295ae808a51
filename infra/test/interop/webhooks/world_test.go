package webhooks_test

import (
	"context"
	"crypto/rand"
	"maps"
	"net/http"
	"testing"
	"time"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/export"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

var tenant = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}

// world holds the webhook worker's tables and records the webhook requests that the worker sends.
type world struct {
	store  store.Webhooks
	sealer *kms.Sealer
	posts  []post
}

// post is a received webhook request.
type post struct {
	header map[string]string
	body   string
}

func (p post) saying(name, value string) post {
	p.header = maps.Clone(p.header)
	p.header[name] = value
	return p
}

func newWorld(t *testing.T) *world {
	t.Helper()
	made := tables.New(t)
	keys, key := made.Key(t)
	return &world{
		sealer: kms.New(keys, kms.TokensKey(key), webhook.SecretPurpose, time.Now),
		store: store.NewWebhooks(
			store.Work{DB: made.DB, Table: made.Name("WorkTable")},
			store.Control{DB: made.DB, Table: made.Name("ControlTable")},
		),
	}
}

// Post implements webhook.Poster.
func (w *world) Post(_ context.Context, _ string, header map[string]string, body []byte) (webhook.Answer, error) {
	w.posts = append(w.posts, post{header: header, body: string(body)})
	return webhook.Answer{Status: http.StatusNoContent}, nil
}

// NotifyFailing implements webhook.Owners.
func (*world) NotifyFailing(context.Context, webhook.Subscription, webhook.Health) error { return nil }

// NotifyDisabled implements webhook.Owners.
func (*world) NotifyDisabled(context.Context, webhook.Subscription, webhook.Reason, webhook.Health, time.Time) error {
	return nil
}

// EnqueueDelivery implements webhook.Queue.
func (*world) EnqueueDelivery(context.Context, org.Tenant, string, time.Duration) error {
	return nil
}

func (w *world) editor(now time.Time) webhook.Editor {
	return webhook.Editor{
		Own: ownhosts.Own(), Vault: w.sealer, Reach: safehttp.Options{}, Random: rand.Reader,
		Now: func() time.Time { return now },
	}
}

// subscribe creates the only subscription, which covers every event type and has both kinds of signing key.
func (w *world) subscribe(t *testing.T) (webhook.Subscription, secret.Text) {
	t.Helper()
	types := make([]webhook.Type, 0, len(webhook.Catalogue()))
	for _, k := range webhook.Catalogue() {
		types = append(types, k.Type)
	}
	sub, text, err := w.editor(time.Now()).Create(t.Context(), webhook.Draft{
		ID: ids.Random(), Tenant: tenant, URL: "https://alder.example/hook", Optional: types, SigningKey: true,
	})
	expect.NoError(t, err)
	expect.NoError(t, w.store.CreateSubscription(t.Context(), sub))
	return w.stored(t), text
}

func (w *world) rotate(t *testing.T, sub webhook.Subscription, at time.Time) (webhook.Subscription, secret.Text) {
	t.Helper()
	rotated, text, err := w.editor(at).Rotate(t.Context(), sub, false)
	expect.NoError(t, err)
	expect.NoError(t, w.store.SaveSubscription(t.Context(), rotated))
	return w.stored(t), text
}

func (w *world) stored(t *testing.T) webhook.Subscription {
	t.Helper()
	all, err := w.store.Subscriptions(t.Context(), tenant)
	expect.NoError(t, err)
	if len(all) != 1 {
		t.Fatalf("%d subscriptions, want 1", len(all))
	}
	return all[0]
}

// deliver creates and delivers an event of the given type.
func (w *world) deliver(t *testing.T, kind webhook.Type) post {
	t.Helper()
	event, err := webhook.NewEvent(tenant, kind, ids.Random(), 0, time.Now(), webhook.Example(kind))
	expect.NoError(t, err)
	expect.NoError(t, w.store.CreateEvent(t.Context(), event))
	worker := webhook.Worker{
		Store: w.store, Health: w.store, Owners: w, Secrets: w.sealer, Poster: w, Queue: w,
		Pacer: webhook.NewPacer(time.Now),
		Links: export.Links{}, // the example event already has complete links
		Now:   time.Now, Jitter: func() float64 { return 0 }, Lease: time.Minute,
	}
	before := len(w.posts)
	expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, event.ID))
	if len(w.posts) != before+1 {
		t.Fatalf("%d POSTs, want 1", len(w.posts)-before)
	}
	return w.posts[before]
}
