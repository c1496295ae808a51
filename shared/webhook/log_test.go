package webhook_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
)

type recorded struct {
	webhook.Store

	deliveries *[]webhook.Delivery
	attempts   *[]webhook.Attempt
}

func (s recorded) RecordAttempt(ctx context.Context, d webhook.Delivery, a webhook.Attempt) error {
	*s.deliveries = append(*s.deliveries, d)
	*s.attempts = append(*s.attempts, a)
	return s.Store.RecordAttempt(ctx, d, a)
}

func TestAttemptOutcomeIsLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		answers := []webhook.Answer{
			{Failure: webhook.FailedTLS},
			{Status: 301, Body: []byte("moved"), Header: map[string]string{"Location": "/x"}},
			{Status: 199},
			{Status: 299, Body: []byte("thanks")},
		}
		w.answer = func(_ string, nth int) (webhook.Answer, error) {
			<-time.After(time.Duration(nth) * time.Second)
			return answers[nth-1], nil
		}
		s := w.create(t, webhook.Draft{Headers: map[string]string{"authorization": "Bearer secret"}})
		var deliveries []webhook.Delivery
		var got []webhook.Attempt
		worker := w.worker()
		worker.Store = recorded{Store: w.store, deliveries: &deliveries, attempts: &got}
		expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, w.emit(t).ID))
		for rows := w.due(t); len(rows) > 0; rows = w.due(t) {
			sleepUntil(rows[0].At)
			expect.NoError(t, worker.RetryDelivery(t.Context(), tenant, rows[0].ID))
		}
		want := []webhook.Attempt{
			{Number: 1, Failure: webhook.FailedTLS},
			{Number: 2, Status: 301, Failure: webhook.FailedStatus, ResponseHeader: map[string]string{"Location": "/x"}},
			{Number: 3, Status: 199, Failure: webhook.FailedStatus},
			{Number: 4, Status: 299},
		}
		for i := range want {
			want[i].Trigger, want[i].At, want[i].Latency = webhook.ByClock, w.posts[i].at, time.Duration(i+1)*time.Second
			want[i].RequestHeader = map[string]string{"Authorization": "[redacted]"}
			for _, name := range []string{"Content-Type", "User-Agent", "Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
				want[i].RequestHeader[name] = w.posts[i].header[name]
			}
			if w.posts[i].header["Authorization"] != "Bearer secret" {
				t.Errorf("attempt %d did not carry the subscription's header", i+1)
			}
			body, err := s.OpenAnswer(t.Context(), w.sealer, deliveries[i].ID, got[i].SealedBody)
			expect.NoError(t, err)
			if string(body) != string(answers[i].Body) {
				t.Errorf("answer %d = %q, want %q", i+1, body, answers[i].Body)
			}
			if _, err := s.OpenAnswer(t.Context(), w.sealer, "other", got[i].SealedBody); len(body) > 0 && err == nil {
				t.Error("an answer opens for another delivery")
			}
			got[i].SealedBody = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("attempts (-want +got):\n%s", diff)
		}
	})
}

func TestResponseIsNotStoredWithoutLogKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.subscribe(t, "s1")
		w.answer = func(string, int) (webhook.Answer, error) {
			return webhook.Answer{Status: 200, Body: []byte("echo")}, nil
		}
		var deliveries []webhook.Delivery
		var got []webhook.Attempt
		worker := w.worker()
		worker.Store = recorded{Store: w.store, deliveries: &deliveries, attempts: &got}
		expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, w.emit(t).ID))
		if len(got) != 1 || len(got[0].SealedBody) != 0 {
			t.Errorf("attempts = %+v, want one without a body", got)
		}
	})
}
