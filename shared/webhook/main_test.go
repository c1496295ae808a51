package webhook_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/local/provision"
	"recordbridge/infra/local/template"
	"recordbridge/shared/due"
	"recordbridge/shared/kms"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/store"
	"recordbridge/shared/webhook"
)

const lease = 45 * time.Second

var tenant = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}

// post is what a receiver saw.
type post struct {
	url    string
	header map[string]string
	body   string
	at     time.Time
}

// nudge is what the queue was told.
type nudge struct {
	id    string
	delay time.Duration
}

// world is the tables that template.yaml declares, with the clock of the test's bubble, a receiver and a queue.
type world struct {
	store   store.Webhooks
	sealer  *kms.Sealer
	clients struct {
		kms *awskms.Client
		key string
	}
	answer func(url string, nth int) (webhook.Answer, error) // to the nth POST, from 1
	luck   float64

	mu     sync.Mutex
	posts  []post
	nudges []nudge
	calls  []string // AWS operations
}

func newWorld(t *testing.T) *world {
	t.Helper()
	declared, err := template.Load("../../template.yaml", template.Options{BaseURL: "http://127.0.0.1:4566", StackName: "test"})
	must(t, err)
	w := &world{luck: 0.5}
	cloud, err := aws.New(aws.Options{Middleware: []wire.Middleware{w.count}})
	must(t, err)
	cfg := cloud.Config("test")
	must(t, provision.Apply(t.Context(), cfg, &template.Template{Tables: declared.Tables}))
	names := map[string]string{}
	for _, table := range declared.Tables {
		names[table.LogicalID] = table.Name
	}
	w.clients.kms = awskms.NewFromConfig(cfg)
	created, err := w.clients.kms.CreateKey(t.Context(), &awskms.CreateKeyInput{})
	must(t, err)
	w.clients.key = *created.KeyMetadata.KeyId
	w.restart()
	db := dynamodb.NewFromConfig(cfg)
	w.store = store.Webhooks{
		Work:    store.Work{DB: db, Table: names["WorkTable"]},
		Control: store.Control{DB: db, Table: names["ControlTable"]},
	}
	w.answer = func(string, int) (webhook.Answer, error) { return webhook.Answer{Status: http.StatusOK}, nil }
	return w
}

// Post implements webhook.Poster.
func (w *world) Post(_ context.Context, url string, header map[string]string, body []byte) (webhook.Answer, error) {
	w.mu.Lock()
	w.posts = append(w.posts, post{url: url, header: header, body: string(body), at: time.Now()})
	nth := len(w.posts)
	w.mu.Unlock()
	return w.answer(url, nth)
}

// NudgeDelivery implements webhook.Nudger.
func (w *world) NudgeDelivery(_ context.Context, _ org.Tenant, id, _ string, delay time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nudges = append(w.nudges, nudge{id: id, delay: delay})
	return nil
}

// restart makes the function a cold one: it has no data key in memory.
func (w *world) restart() {
	w.sealer = kms.New(w.clients.kms, w.clients.key, webhook.SecretPurpose, time.Now)
}

func (w *world) worker() webhook.Worker {
	return webhook.Worker{
		Store: w.store, Conditions: w.store, Notices: w.store, Secrets: w.sealer, Poster: w, Nudger: w, Pacer: &webhook.Pacer{},
		Now: time.Now, Luck: func() float64 { return w.luck }, Lease: lease,
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

// subscribe stores a subscription whose secrets are given newest first.
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
		must(t, err)
		s.Secrets = append(s.Secrets, webhook.SealedSecret{Sealed: sealed, ExpiresAt: one.expires})
	}
	must(t, w.store.CreateSubscription(t.Context(), s))
	return s
}

func (w *world) editor() webhook.Editor {
	return webhook.Editor{Vault: w.sealer, Random: rand.Reader, Now: time.Now}
}

// create stores a subscription to all types as operators make it.
func (w *world) create(t *testing.T, d webhook.Draft) webhook.Subscription {
	t.Helper()
	d.ID, d.Tenant, d.URL = "s1", tenant, "https://s1.example/hook"
	s, _, err := w.editor().Create(t.Context(), d)
	must(t, err)
	must(t, w.store.CreateSubscription(t.Context(), s))
	s.Rev = 1
	return s
}

// subscription reads the one subscription there is.
func (w *world) subscription(t *testing.T) webhook.Subscription {
	t.Helper()
	all, err := w.store.Subscriptions(t.Context(), tenant)
	must(t, err)
	if len(all) != 1 {
		t.Fatalf("%d subscriptions, want 1", len(all))
	}
	return all[0]
}

type signing struct {
	text    secret.Text
	expires time.Time
}

// emit stores a test event.
func (w *world) emit(t *testing.T) webhook.Event {
	t.Helper()
	event, err := webhook.NewEvent(tenant, webhook.TestEvent, "subject", 0, time.Now(), webhook.Test{Hello: "world", Random: "1"})
	must(t, err)
	must(t, w.store.CreateEvent(t.Context(), event))
	return event
}

// due lists the events and deliveries that somebody has to look at some day. Notices are the mailer's.
func (w *world) due(t *testing.T) []due.Item {
	t.Helper()
	all := make([]due.Item, 0, 8)
	for shard := range store.DueShards {
		items, err := store.Timers{DB: w.store.Work.DB, Table: w.store.Work.Table}.Due(t.Context(), shard, time.Now().Add(1000*time.Hour))
		must(t, err)
		all = append(all, slices.DeleteFunc(items, func(i due.Item) bool { return i.Kind == due.Notice })...)
	}
	slices.SortFunc(all, func(a, b due.Item) int { return a.At.Compare(b.At) })
	return all
}

// sleepUntil passes the bubble's time.
func sleepUntil(at time.Time) {
	timer := time.NewTimer(time.Until(at))
	<-timer.C
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
