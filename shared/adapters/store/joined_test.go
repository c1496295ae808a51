package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/webhook"
)

// barrier is a client whose first transaction blocks until the test releases it.
type barrier struct {
	store.DB

	open chan struct{}

	mu    sync.Mutex
	sizes []int // number of writes in each transaction
}

func (b *barrier) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	b.mu.Lock()
	b.sizes = append(b.sizes, len(in.TransactItems))
	isFirst := len(b.sizes) == 1
	b.mu.Unlock()
	if isFirst {
		<-b.open
	}
	return b.DB.TransactWriteItems(ctx, in, o...)
}

// inFlight stores n deliveries whose attempts are in progress.
func inFlight(t *testing.T, s stores, n int) []webhook.Delivery {
	t.Helper()
	all := make([]webhook.Delivery, n)
	for i := range all {
		e := webhook.Event{
			ID: fmt.Sprintf("e0000000-0000-4000-8000-%012d", i), Tenant: tenant, Type: webhook.TestEvent, Body: []byte(`{}`),
			CreatedAt: now,
		}
		expect.NoError(t, s.events.CreateEvent(t.Context(), e))
		all[i] = webhook.Delivery{
			ID: webhook.DeliveryID(e.ID, hookID), Tenant: tenant, EventID: e.ID, SubscriptionID: hookID,
			Status:  webhook.InFlight,
			Attempt: 1, Fence: 1, Trigger: webhook.ByClock, NextAt: now, LeaseUntil: now, DueAt: now, CreatedAt: now,
		}
		expect.NoError(t, s.events.FanOut(t.Context(), e, all[i:i+1]))
	}
	return all
}

// recordAll records the deliveries' attempts. The first call blocks until the barrier is released, while the other
// calls start.
func recordAll(t *testing.T, s stores, all []webhook.Delivery, meanwhile func(b *barrier)) (*barrier, []error) {
	t.Helper()
	b := &barrier{DB: s.work.DB, open: make(chan struct{})}
	rows := store.NewWebhooks(store.Work{DB: b, Table: s.work.Table}, s.control)
	batched := store.NewBatchedWebhooks(rows)
	failures := make([]error, len(all))
	var recording errgroup.Group
	for i, d := range all {
		d.Status, d.DueAt = webhook.Delivered, time.Time{}
		recording.Go(func() error {
			failures[i] = batched.RecordAttempt(t.Context(), d, webhook.Attempt{Number: 1, At: now, Status: 204})
			return nil
		})
		synctest.Wait()
	}
	meanwhile(b)
	expect.NoError(t, recording.Wait())
	return b, failures
}

func TestRecordAttemptBatchesConcurrentAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStores(t)
		all := inFlight(t, s, 60)
		b, failures := recordAll(t, s, all, func(b *barrier) { close(b.open) })
		for i, d := range all {
			expect.NoError(t, failures[i])
			got, err := s.deliveries.Delivery(t.Context(), tenant, d.ID)
			expect.NoError(t, err)
			if got.Status != webhook.Delivered {
				t.Errorf("delivery %d is %s", i, got.Status)
			}
		}
		if got := fmt.Sprint(b.sizes); got != "[2 100 18]" {
			t.Errorf("transactions of %s writes, want the first attempt's 2, 100, and 18", got)
		}
	})
}

func TestRecordAttemptFailureDoesNotAffectOtherAttemptsInBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStores(t)
		all := inFlight(t, s, 5)
		all[3].Fence = 7 // as if another worker had claimed the delivery
		_, failures := recordAll(t, s, all, func(b *barrier) { close(b.open) })
		for i, d := range all {
			if i == 3 {
				expect.Conflict(t, "an attempt under an older claim", failures[i])
				continue
			}
			expect.NoError(t, failures[i])
			got, err := s.deliveries.Delivery(t.Context(), tenant, d.ID)
			expect.NoError(t, err)
			if got.Status != webhook.Delivered {
				t.Errorf("delivery %d is %s", i, got.Status)
			}
		}
	})
}

func TestRecordAttemptDoesNotWaitForStuckTransaction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStores(t)
		all := inFlight(t, s, 3)
		recordAll(t, s, all, func(b *barrier) {
			<-time.After(time.Second)
			synctest.Wait()
			for _, d := range all[1:] {
				got, err := s.deliveries.Delivery(t.Context(), tenant, d.ID)
				expect.NoError(t, err)
				if got.Status != webhook.Delivered {
					t.Errorf("after a second, a delivery beside the stuck one is %s", got.Status)
				}
			}
			close(b.open)
		})
	})
}
