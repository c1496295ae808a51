package webhooks_test

import (
	"context"
	"crypto/rand"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/provision"
	"recordbridge/infra/local/template"
	"recordbridge/shared/export"
	"recordbridge/shared/ids"
	"recordbridge/shared/kms"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/store"
	"recordbridge/shared/webhook"
)

var tenant = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}

// world is the webhook worker with its tables, and a receiver that keeps what it is sent.
type world struct {
	store  store.Webhooks
	sealer *kms.Sealer
	posts  []post
}

// post is what the receiver saw.
type post struct {
	header map[string]string
	body   string
}

// saying is the same POST with another header.
func (p post) saying(name, value string) post {
	p.header = maps.Clone(p.header)
	p.header[name] = value
	return p
}

func newWorld(t *testing.T) *world {
	t.Helper()
	declared, err := template.Load("../../../../template.yaml", template.Options{BaseURL: "http://127.0.0.1:4566", StackName: "test"})
	must(t, err)
	cloud, err := aws.New(aws.Options{})
	must(t, err)
	cfg := cloud.Config("test")
	must(t, provision.Apply(t.Context(), cfg, &template.Template{Tables: declared.Tables}))
	names := map[string]string{}
	for _, table := range declared.Tables {
		names[table.LogicalID] = table.Name
	}
	keys, db := awskms.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg)
	key, err := keys.CreateKey(t.Context(), &awskms.CreateKeyInput{})
	must(t, err)
	return &world{
		sealer: kms.New(keys, *key.KeyMetadata.KeyId, webhook.SecretPurpose, time.Now),
		store: store.Webhooks{
			Work:    store.Work{DB: db, Table: names["WorkTable"]},
			Control: store.Control{DB: db, Table: names["ControlTable"]},
		},
	}
}

// Post implements webhook.Poster.
func (w *world) Post(_ context.Context, _ string, header map[string]string, body []byte) (webhook.Answer, error) {
	w.posts = append(w.posts, post{header: header, body: string(body)})
	return webhook.Answer{Status: http.StatusNoContent}, nil
}

// NudgeDelivery implements webhook.Nudger.
func (*world) NudgeDelivery(context.Context, org.Tenant, string, string, time.Duration) error {
	return nil
}

func (w *world) editor(now time.Time) webhook.Editor {
	return webhook.Editor{Vault: w.sealer, Random: rand.Reader, Now: func() time.Time { return now }}
}

// subscribe makes the one subscription, to every type, with both kinds of key.
func (w *world) subscribe(t *testing.T) (webhook.Subscription, secret.Text) {
	t.Helper()
	types := make([]webhook.Type, 0, len(webhook.Catalogue()))
	for _, k := range webhook.Catalogue() {
		types = append(types, k.Type)
	}
	sub, text, err := w.editor(time.Now()).Create(t.Context(), webhook.Draft{
		ID: ids.Random(), Tenant: tenant, URL: "https://alder.example/hook", Optional: types, SigningKey: true,
	})
	must(t, err)
	must(t, w.store.CreateSubscription(t.Context(), sub))
	return w.stored(t), text
}

// rotate gives the subscription another secret at a time.
func (w *world) rotate(t *testing.T, sub webhook.Subscription, at time.Time) (webhook.Subscription, secret.Text) {
	t.Helper()
	rotated, text, err := w.editor(at).Rotate(t.Context(), sub, false)
	must(t, err)
	must(t, w.store.SaveSubscription(t.Context(), rotated))
	return w.stored(t), text
}

func (w *world) stored(t *testing.T) webhook.Subscription {
	t.Helper()
	all, err := w.store.Subscriptions(t.Context(), tenant)
	must(t, err)
	if len(all) != 1 {
		t.Fatalf("%d subscriptions, want 1", len(all))
	}
	return all[0]
}

// deliver makes an event and has it delivered.
func (w *world) deliver(t *testing.T, kind webhook.Type) post {
	t.Helper()
	event, err := webhook.NewEvent(tenant, kind, ids.Random(), 0, time.Now(), webhook.Example(kind))
	must(t, err)
	must(t, w.store.CreateEvent(t.Context(), event))
	worker := webhook.Worker{
		Store: w.store, Conditions: w.store, Notices: w.store, Secrets: w.sealer, Poster: w, Nudger: w, Pacer: &webhook.Pacer{},
		Links: export.Links{}, // the example's links are whole
		Now:   time.Now, Luck: func() float64 { return 0 }, Lease: time.Minute,
	}
	before := len(w.posts)
	must(t, worker.DeliverEvent(t.Context(), tenant, event.ID))
	if len(w.posts) != before+1 {
		t.Fatalf("%d POSTs, want 1", len(w.posts)-before)
	}
	return w.posts[before]
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
