package webhook_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const lease = 45 * time.Second

var tenant = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}

type post struct {
	url    string
	header map[string]string
	body   string
	at     time.Time
}

type message struct {
	id    string
	delay time.Duration
}

type notice struct {
	reason webhook.Reason // reason for disabling a subscription; empty for a warning
	health webhook.Health
	at     time.Time
}

// world holds the tables from template.yaml, the test bubble's clock, a webhook receiver and a queue.
type world struct {
	store   store.Webhooks
	sealer  *kms.Sealer
	clients struct {
		kms *awskms.Client
		key string
	}
	answer func(url string, nth int) (webhook.Answer, error) // returns the response to the nth POST, counted from 1
	jitter float64

	mu     sync.Mutex
	posts  []post
	queued []message
	told   []notice
	late   bool // whether an owner was notified only after the subscription was disabled
	calls  []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{jitter: 0.5}
	made := tables.New(t, w.count)
	w.clients.kms, w.clients.key = made.Key(t)
	w.restart()
	w.store = store.NewWebhooks(
		store.Work{DB: made.DB, Table: made.Name("WorkTable")},
		store.Control{DB: made.DB, Table: made.Name("ControlTable")},
	)
	w.answer = func(string, int) (webhook.Answer, error) { return webhook.Answer{Status: http.StatusOK}, nil }
	return w
}

func (w *world) Post(_ context.Context, url string, header map[string]string, body []byte) (webhook.Answer, error) {
	w.mu.Lock()
	w.posts = append(w.posts, post{url: url, header: header, body: string(body), at: time.Now()})
	nth := len(w.posts)
	w.mu.Unlock()
	return w.answer(url, nth)
}

func (w *world) EnqueueDelivery(_ context.Context, _ org.Tenant, id string, delay time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queued = append(w.queued, message{id: id, delay: delay})
	return nil
}

func (w *world) NotifyFailing(_ context.Context, _ webhook.Subscription, h webhook.Health) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, notice{health: h, at: h.LastFailure})
	return nil
}

func (w *world) NotifyDisabled(ctx context.Context, s webhook.Subscription, reason webhook.Reason, h webhook.Health,
	at time.Time,
) error {
	all, err := w.store.Subscriptions(ctx, s.Tenant)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, notice{reason: reason, health: h, at: at})
	w.late = w.late || slices.ContainsFunc(all,
		func(has webhook.Subscription) bool { return has.ID == s.ID && has.Disabled })
	return err
}

// restart simulates a cold start, which empties the data key cache.
func (w *world) restart() {
	w.sealer = kms.New(w.clients.kms, kms.SecretsKey(w.clients.key), webhook.SecretPurpose, time.Now)
}

func (w *world) worker() webhook.Worker {
	return webhook.Worker{
		Store: w.store, Health: w.store, Owners: w, Secrets: w.sealer, Poster: w, Queue: w,
		Pacer: webhook.NewPacer(time.Now),
		Now:   time.Now, Jitter: func() float64 { return w.jitter }, Lease: lease,
	}
}

func (w *world) count(next wire.Handler) wire.Handler {
	return func(out http.ResponseWriter, r *http.Request, c wire.Call) {
		w.mu.Lock()
		w.calls = append(w.calls, c.Service+" "+c.Operation)
		w.mu.Unlock()
		next(out, r, c)
	}
}

// subscribe stores a subscription with the given secrets, newest first.
func (w *world) subscribe(t *testing.T, id string, secrets ...signing) webhook.Subscription {
	t.Helper()
	s := webhook.Subscription{
		ID: id, Tenant: tenant, URL: "https://" + id + ".example/hook", Types: webhook.Required(), CreatedAt: time.Now(),
	}
	if len(secrets) == 0 {
		secrets = []signing{{text: newSecret(t)}}
	}
	for _, one := range secrets {
		sealed, err := w.sealer.Seal(t.Context(), tenant, s.SecretBinding(), []byte(one.text.Reveal()))
		expect.NoError(t, err)
		s.Secrets = append(s.Secrets, webhook.SealedSecret{Sealed: sealed, ExpiresAt: one.expires})
	}
	expect.NoError(t, w.store.CreateSubscription(t.Context(), s))
	return s
}

func (w *world) editor() webhook.Editor {
	return webhook.Editor{
		Own: ownhosts.Own(), Vault: w.sealer, Reach: safehttp.Options{}, Random: rand.Reader,
		Now: time.Now,
	}
}

// create creates a subscription to all event types as an operator does.
func (w *world) create(t *testing.T, d webhook.Draft) webhook.Subscription {
	t.Helper()
	d.ID, d.Tenant, d.URL = "s1", tenant, "https://s1.example/hook"
	s, _, err := w.editor().Create(t.Context(), d)
	expect.NoError(t, err)
	expect.NoError(t, w.store.CreateSubscription(t.Context(), s))
	s.Rev = 1
	return s
}

func (w *world) subscription(t *testing.T) webhook.Subscription {
	t.Helper()
	all, err := w.store.Subscriptions(t.Context(), tenant)
	expect.NoError(t, err)
	if len(all) != 1 {
		t.Fatalf("%d subscriptions, want 1", len(all))
	}
	return all[0]
}

type signing struct {
	text    secret.Text
	expires time.Time
}

func (w *world) emit(t *testing.T) webhook.Event {
	t.Helper()
	event, err := webhook.NewEvent(tenant, webhook.TestEvent, "subject", 0, time.Now(),
		webhook.Test{Hello: "world", Random: "1"})
	expect.NoError(t, err)
	expect.NoError(t, w.store.CreateEvent(t.Context(), event))
	return event
}

// due returns all due events and deliveries, but not notices, which the mailer handles.
func (w *world) due(t *testing.T) []due.Item {
	t.Helper()
	all := make([]due.Item, 0, 8)
	for shard := range store.DueShards {
		items, err := store.Timers(w.store.Events).Due(t.Context(), shard,
			time.Now().Add(1000*time.Hour))
		expect.NoError(t, err)
		all = append(all, slices.DeleteFunc(items, func(i due.Item) bool { return i.Kind == due.Notice })...)
	}
	slices.SortFunc(all, func(a, b due.Item) int { return a.At.Compare(b.At) })
	return all
}

func sleepUntil(at time.Time) {
	timer := time.NewTimer(time.Until(at))
	<-timer.C
}
