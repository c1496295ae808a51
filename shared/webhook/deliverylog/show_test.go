package deliverylog_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

func wantMissing(t *testing.T, what string, w *world, of org.Tenant, id string) {
	t.Helper()
	if got, err := w.log.Show(t.Context(), of, id); !errors.Is(err, fault.NotFound) || len(got.Body) != 0 ||
		len(got.Attempts) != 0 {
		t.Errorf("Show of %s = %+v, %v, want fault.NotFound", what, got, err)
	}
}

// TestShowReturnsEveryRequestAndResponse checks the log of a failure, a success and a replay.
func TestShowReturnsEveryRequestAndResponse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe(t, tenant)
	w.answer = webhook.Answer{Status: 503, Body: []byte("busy <é>"), Header: map[string]string{"Server": "birch"}}
	event := w.emit(t, tenant, webhook.TestEvent)
	found := w.search(t, tenant, deliverylog.Query{ID: event.ID}).Entries
	if len(found) != 1 {
		t.Fatalf("found %v", found)
	}
	w.now = found[0].NextAt
	w.answer = webhook.Answer{Status: 204}
	expect.NoError(t, w.worker().RetryDelivery(t.Context(), tenant, found[0].ID))
	w.now = w.now.Add(time.Hour)
	replayer := webhook.Replayer{Store: w.rows, Queue: w, Now: w.log.Now}
	expect.NoError(t, replayer.One(t.Context(), tenant, found[0].ID))
	w.answer = webhook.Answer{Failure: webhook.FailedTLS}
	expect.NoError(t, w.worker().RetryDelivery(t.Context(), tenant, found[0].ID))

	got, err := w.log.Show(t.Context(), tenant, strings.ToUpper(found[0].ID))
	expect.NoError(t, err)
	if got.ID != found[0].ID || got.Status != webhook.Scheduled || got.Type != webhook.TestEvent ||
		string(got.Body) != string(event.Body) {
		t.Errorf("shown: %+v", got)
	}
	want := []deliverylog.Attempt{
		{
			Attempt: webhook.Attempt{
				Number: 1, Trigger: webhook.ByClock, At: noon, Status: 503, Failure: webhook.FailedStatus,
				ResponseHeader: map[string]string{"Server": "birch"},
			},
			Answer: []byte("busy <é>"),
		},
		{Attempt: webhook.Attempt{Number: 2, Trigger: webhook.ByClock, At: found[0].NextAt, Status: 204}},
		{Attempt: webhook.Attempt{Number: 1, Trigger: webhook.ByHand, At: w.now, Failure: webhook.FailedTLS}},
	}
	if diff := cmp.Diff(want, got.Attempts, cmpopts.IgnoreFields(webhook.Attempt{}, "RequestHeader")); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	for _, a := range got.Attempts {
		header := map[string]string{}
		for name, value := range a.RequestHeader {
			header[strings.ToLower(name)] = value
		}
		if header["webhook-id"] != event.ID || header["webhook-signature"] == "" {
			t.Errorf("attempt %d was sent with %v", a.Number, a.RequestHeader)
		}
	}
	w.now = noon.Add(15 * day).Add(-time.Microsecond)
	if got, err = w.log.Show(t.Context(), tenant, found[0].ID); err != nil || len(got.Attempts) != 3 {
		t.Errorf("in the last moment: %d attempts, %v", len(got.Attempts), err)
	}
}

func TestShowReturnsNotFoundForMissingDelivery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe(t, tenant)
	event := w.emit(t, tenant, webhook.TestEvent)
	for _, id := range []string{"", "x", event.ID, "00000000-0000-4000-8000-000000000000", event.ID + "#META"} {
		wantMissing(t, id, w, tenant, id)
	}
}

// none is a store without webhooks.
type none struct{}

func (none) Subscriptions(context.Context, org.Tenant) ([]webhook.Subscription, error) {
	return nil, nil
}

type unreadable struct{}

func (unreadable) Subscriptions(context.Context, org.Tenant) ([]webhook.Subscription, error) {
	return nil, errTrouble
}

func (unreadable) Open(context.Context, org.Tenant, string, []byte) ([]byte, error) {
	return nil, errTrouble
}

func TestResponsesAreUnreadableAfterWebhookIsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe(t, tenant)
	w.answer.Body = []byte("thanks")
	w.emit(t, tenant, webhook.TestEvent)
	id := w.search(t, tenant, deliverylog.Query{}).Entries[0].ID
	without := w.log
	without.Subscriptions = none{}
	got, err := without.Show(t.Context(), tenant, id)
	if err != nil || len(got.Attempts) != 1 || len(got.Attempts[0].Answer) != 0 || len(got.Attempts[0].SealedBody) != 0 ||
		got.Attempts[0].Status != 200 {
		t.Errorf("got %+v, %v, want the attempt without its answer", got.Attempts, err)
	}
	without.Subscriptions = unreadable{}
	_, showing := without.Show(t.Context(), tenant, id)
	_, searching := without.Search(t.Context(), tenant, deliverylog.Query{ID: id})
	without = w.log
	without.Answers = unreadable{}
	_, opening := without.Show(t.Context(), tenant, id)
	for what, err := range map[string]error{"showing": showing, "searching": searching, "opening": opening} {
		if !errors.Is(err, errTrouble) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
