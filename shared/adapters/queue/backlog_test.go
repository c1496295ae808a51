package queue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/platform/due"
)

func TestBacklogHidesReceivedMessagesUntilDeleted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, r := newQueues(t)
		own := queue.NewBacklog(r.Client, q.deliveries)
		for range 12 {
			if err := q.EnqueueEvent(t.Context(), tenant, id); err != nil {
				t.Fatal(err)
			}
		}
		counts, began := make([]int, 0, 3), time.Now()
		for range 3 {
			taken, err := own.Receive(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			counts = append(counts, len(taken))
			for i, m := range taken {
				if item, err := due.Decode(m.Body); err != nil || item.ID != id || m.EventSourceARN != "deliveries" ||
					m.MessageId == "" {
					t.Errorf("took %+v, %v", m, err)
				}
				if want := map[string]string{"ApproximateReceiveCount": "1"}; !cmp.Equal(m.Attributes, want) {
					t.Errorf("attributes %v, want %v", m.Attributes, want)
				}
				if i == 0 {
					continue
				}
				if err := own.Delete(t.Context(), m); err != nil {
					t.Fatal(err)
				}
			}
		}
		if diff := cmp.Diff([]int{10, 2, 0}, counts); diff != "" || time.Since(began) != time.Second {
			t.Errorf("within %v it took (-want +got):\n%s", time.Since(began), diff)
		}
		<-time.After(2*time.Minute - time.Second)
		if again := receive(t, r.Client, q.deliveries); len(again) != 2 {
			t.Errorf("%d messages came again after two minutes, want the two that were not deleted", len(again))
		}
	})
}
