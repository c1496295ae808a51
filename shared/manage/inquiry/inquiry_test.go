package inquiry_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const address = "ada.maple@example.com"

var (
	alder = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}
	birch = org.Tenant{Mode: org.Test, OrgID: "0b000000-0000-4000-8000-00000000000b"}
)

// queue records queued events and notices and can be made to fail.
type queue struct {
	told    []string
	notices []string
	err     error
}

func (q *queue) EnqueueEvent(_ context.Context, _ org.Tenant, id string) error {
	q.told = append(q.told, id)
	return q.err
}

func (q *queue) EnqueueNotice(_ context.Context, _ org.Tenant, id string) error {
	q.notices = append(q.notices, id)
	return q.err
}

// office holds a recorder and the tables from template.yaml.
type office struct {
	t        *testing.T
	tables   tables.Tables
	queue    *queue
	recorder inquiry.Recorder
}

func newOffice(t *testing.T) *office {
	t.Helper()
	made := tables.New(t)
	keys, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	expect.NoError(t, err)
	o := &office{t: t, tables: made, queue: &queue{}}
	o.recorder = inquiry.Recorder{
		Own:   ownhosts.Own(),
		Store: store.Inquiries{DB: made.DB, Table: made.Name("WorkTable")}, Enqueuer: o.queue,
		Proofs: verification.Proofs{Store: o.flow(), Keys: keys, Now: time.Now}, Keys: keys, Now: time.Now,
	}
	return o
}

func (o *office) flow() store.Flow {
	return store.Flow{DB: o.tables.DB, Table: o.tables.Name("FlowTable")}
}

// rows returns the items in table Work whose keys contain word, as JSON.
func (o *office) rows(word string) []string {
	o.t.Helper()
	page, err := o.tables.Cloud.DynamoDB().Browse(ddb.Position{Table: o.tables.Name("WorkTable"), Limit: 100})
	expect.NoError(o.t, err)
	var all []string
	for _, found := range page.Rows {
		if strings.Contains(string(found.Item["pk"]), "#"+word+"#") {
			text, err := json.Marshal(found.Item)
			expect.NoError(o.t, err)
			all = append(all, string(text))
		}
	}
	return all
}

func (o *office) data() map[string]any {
	o.t.Helper()
	if len(o.queue.told) != 1 {
		o.t.Fatalf("%d events, want one", len(o.queue.told))
	}
	event, err := store.Events(o.recorder.Store.(store.Inquiries)).Event(o.t.Context(), alder, o.queue.told[0])
	expect.NoError(o.t, err)
	var body struct {
		Type string
		Data map[string]any
	}
	expect.NoError(o.t, json.Unmarshal(event.Body, &body))
	if body.Type != string(event.Type) {
		o.t.Errorf("the body is of %s, the event of %s", body.Type, event.Type)
	}
	return body.Data
}

func help() inquiry.Support {
	return inquiry.Support{Name: "Ada Maple", Subject: "Cannot sign in", Body: "It says no.\nWhy?"}
}

func TestAskSupportStoresInquiryAndEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		s := help()
		s.HealthSystem = "Alder Hospital"
		expect.NoError(t, o.recorder.AskSupport(t.Context(), inquiry.From{Tenant: alder, Email: " " + address}, s))
		want := map[string]any{
			"email": address, "name": "Alder Hospital",
			"body": "Subject: Cannot sign in\nFrom: Ada Maple\n\nIt says no.\nWhy?",
		}
		if diff := cmp.Diff(want, o.data()); diff != "" {
			t.Errorf("data (-want +got):\n%s", diff)
		}
		kept := o.rows("INQUIRY")
		until := fmt.Sprintf(`"ttl":{"N":"%d"}`, time.Now().Add(90*24*time.Hour).Unix())
		if len(kept) != 1 || !strings.Contains(kept[0], `"Cannot sign in"`) || !strings.Contains(kept[0], until) ||
			strings.Contains(kept[0], "email_verified") {
			t.Errorf("kept is %s", kept)
		}
	})
}

func TestAskHealthSystemStoresProvidedFields(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given inquiry.HealthSystem
		want  map[string]any
	}{
		"all": {
			inquiry.HealthSystem{
				Name: "Alder Hospital", Website: "https://alder.example/x?y=1",
				StreetAddress: "1 Elm St\nSpringfield",
			},
			map[string]any{
				"email": address, "name": "Alder Hospital", "website": "https://alder.example/x?y=1",
				"street_address": "1 Elm St Springfield",
			},
		},
		"a name alone": {
			inquiry.HealthSystem{Name: "Alder Hospital"},
			map[string]any{"email": address, "name": "Alder Hospital"},
		},
		"a website as people write it": {
			inquiry.HealthSystem{Name: "Alder", Website: " alder.example "},
			map[string]any{"email": address, "name": "Alder", "website": "https://alder.example"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			expect.NoError(t, o.recorder.AskHealthSystem(t.Context(), inquiry.From{Tenant: alder, Email: address}, c.given))
			if diff := cmp.Diff(c.want, o.data()); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRepeatedInquiryHasNoEffect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		ask := func(of org.Tenant, key string, s inquiry.Support) {
			t.Helper()
			expect.NoError(t, o.recorder.AskSupport(t.Context(), inquiry.From{Tenant: of, Email: address, RequestKey: key}, s))
		}
		want := func(what string, events int) {
			t.Helper()
			if len(o.queue.told) != events || len(o.rows("EVENT")) != events || len(o.rows("INQUIRY")) != events {
				t.Fatalf("%s: %d messages, %d events, %d rows, want %d", what, len(o.queue.told), len(o.rows("EVENT")),
					len(o.rows("INQUIRY")), events)
			}
		}
		ask(alder, "page-1", help())
		<-time.After(40 * 24 * time.Hour)
		ask(alder, "page-1", help())
		want("the same page", 1)
		ask(alder, "page-2", help())
		want("another page", 2)
		changed := help()
		changed.Body += "!"
		ask(alder, "page-2", changed)
		want("other words", 3)
		ask(birch, "page-1", help())
		want("another organisation", 4)
		ask(alder, "", help())
		<-time.After(time.Hour)
		ask(alder, "", help())
		want("the same words without a key", 5)
		<-time.After(24 * time.Hour)
		ask(alder, "", help())
		want("the same words a day later", 6)
	})
}

// TestAskSupportNotifiesOperatorOnceWithoutTicketText also checks that a request for a missing health system notifies
// only the organisation.
func TestAskSupportNotifiesOperatorOnceWithoutTicketText(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	from := inquiry.From{Tenant: alder, Email: address, RequestKey: "page-1"}
	for range 2 {
		expect.NoError(t, o.recorder.AskSupport(t.Context(), from, help()))
	}
	expect.NoError(t, o.recorder.AskHealthSystem(t.Context(), from, inquiry.HealthSystem{Name: "Alder"}))
	stored := o.rows("NOTICE")
	if len(o.queue.notices) != 1 || len(stored) != 1 || !strings.Contains(stored[0], o.queue.notices[0]) ||
		!strings.Contains(stored[0], o.queue.told[0]) {
		t.Fatalf("%d messages, notices %v", len(o.queue.notices), stored)
	}
	for _, text := range []string{address, help().Name, help().Subject, help().Body} {
		if strings.Contains(stored[0], text) {
			t.Errorf("the notice has %q", text)
		}
	}
}

// TestInquiryEventIDDoesNotRevealText checks that the event ID, which appears in queues and logs, can't confirm a guess
// at an inquiry's text.
func TestInquiryEventIDDoesNotRevealText(t *testing.T) {
	t.Parallel()
	first, second := newOffice(t), newOffice(t)
	keys, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("x", 43) + `"}`))
	expect.NoError(t, err)
	second.recorder.Keys = keys
	for _, o := range []*office{first, second} {
		expect.NoError(t, o.recorder.AskSupport(t.Context(),
			inquiry.From{Tenant: alder, Email: address, RequestKey: "1"}, help()))
	}
	if first.queue.told[0] == second.queue.told[0] {
		t.Error("the id needs no key")
	}
}

func TestAskSupportSucceedsWhenQueueMessageIsLost(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.queue.err = errors.New("down")
	expect.NoError(t, o.recorder.AskSupport(t.Context(), inquiry.From{Tenant: alder, Email: address}, help()))
	if len(o.rows("EVENT")) != 1 {
		t.Error("the event is not stored")
	}
}

func TestAskHealthSystemRequiresTokenForSameEmail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		token := o.verify(address)
		for name, from := range map[string]inquiry.From{
			"another organisation": {Tenant: birch, Email: address, Token: token},
			"the other mode":       {Tenant: org.Tenant{Mode: org.Live, OrgID: alder.OrgID}, Email: address, Token: token},
			"another address":      {Tenant: alder, Email: "b" + address, Token: token},
			"another token":        {Tenant: alder, Email: address, Token: secret.New(strings.Repeat("x", 43))},
		} {
			err := o.recorder.AskHealthSystem(t.Context(), from, inquiry.HealthSystem{Name: "Alder"})
			if !errors.Is(err, fault.Invalid) || fault.Of(err).Field != "email_token" || len(o.queue.told) != 0 {
				t.Errorf("%s: %v, %d events", name, err, len(o.queue.told))
			}
		}
		expect.NoError(t, o.recorder.AskHealthSystem(t.Context(), inquiry.From{Tenant: alder, Email: address, Token: token},
			inquiry.HealthSystem{Name: "Alder"}))
		if kept := o.rows("INQUIRY"); len(kept) != 1 || !strings.Contains(kept[0], `"email_verified":{"BOOL":true}`) {
			t.Errorf("kept is %s", kept)
		}
	})
}

// posted holds the text of the latest email with a code.
type posted struct{ text string }

func (p *posted) Send(_ context.Context, _ []string, _, text, _ string) error {
	p.text = text
	return nil
}

// verify proves that a patient of the organisation alder owns an email address, and returns the proof.
func (o *office) verify(email string) secret.Text {
	o.t.Helper()
	var mail posted
	sent, err := verification.Sender{
		Store: o.flow(), Mailer: &mail, Keys: o.recorder.Keys, Random: rand.Reader, NewID: ids.Random,
		Now: time.Now, PerHour: 5,
		Limits: maillimit.Limiter{Buckets: o.flow(), Keys: o.recorder.Keys, Now: time.Now},
	}.Send(o.t.Context(), verification.Request{Tenant: alder, Email: email})
	expect.NoError(o.t, err)
	_, rest, _ := strings.Cut(mail.text, "code: ")
	verified, err := verification.Checker{
		Store: o.flow(), Keys: o.recorder.Keys, Random: rand.Reader,
		Now: time.Now,
	}.Check(o.t.Context(), alder, sent.ID, rest[:6])
	expect.NoError(o.t, err)
	return verified.Token
}
