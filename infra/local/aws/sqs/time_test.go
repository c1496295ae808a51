package sqs_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/sqs"
)

func TestTimersFollowVirtualClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		live, dead := b.pair("exports", "5")
		start := time.Now()
		b.send(live, "task", 900)

		var deliveries []time.Duration
		for time.Since(start) < 3*time.Hour {
			for range b.receive(live, 20) {
				deliveries = append(deliveries, time.Since(start))
			}
		}
		want := []time.Duration{15 * time.Minute, 21 * time.Minute, 27 * time.Minute, 33 * time.Minute, 39 * time.Minute}
		if diff := cmp.Diff(want, deliveries); diff != "" {
			t.Errorf("deliveries: the delay, then one per visibility timeout (-want +got):\n%s", diff)
		}

		failed := b.one(dead)
		if got := failed.Attributes["DeadLetterQueueSourceArn"]; got != arn("exports") {
			t.Errorf("DeadLetterQueueSourceArn is %q, want %q", got, arn("exports"))
		}
		if got := failed.Attributes["ApproximateReceiveCount"]; got != "6" {
			t.Errorf("ApproximateReceiveCount is %q, want 6: five deliveries and this one", got)
		}
	})
}

func TestLongPollReturnsWhenMessageArrives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		url := b.queue("jobs", nil)
		start := time.Now()
		time.AfterFunc(7*time.Second, func() { b.send(url, "now", 0) })
		if got := bodies(b.receive(url, 20)); !cmp.Equal(got, []string{"now"}) {
			t.Fatalf("got %q", got)
		}
		if got := time.Since(start); got != 7*time.Second {
			t.Errorf("the poll took %v, want 7s", got)
		}
		if got := b.receive(url, 20); len(got) != 0 {
			t.Errorf("got %q again, although it is in flight", bodies(got))
		}
		if got := time.Since(start); got != 27*time.Second {
			t.Errorf("both polls took %v, want 27s", got)
		}
	})
}

func TestLongPollReturnsWhenContextIsCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		url := b.queue("jobs", nil)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		_, err := b.ReceiveMessage(ctx, &sdk.ReceiveMessageInput{QueueUrl: url, WaitTimeSeconds: 20})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
		if got := time.Since(start); got != 3*time.Second {
			t.Errorf("the poll took %v, want 3s", got)
		}
	})
}

func TestDeleteMessageRequiresLatestReceiptHandle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		url := b.queue("jobs", map[string]string{"VisibilityTimeout": "30"})
		b.send(url, "slow", 0)
		first := b.one(url)
		<-time.After(31 * time.Second)
		second := b.one(url)

		b.deleteMessage(url, first.ReceiptHandle)
		<-time.After(31 * time.Second)
		third := b.one(url) // the stale handle didn't delete the message
		b.deleteMessage(url, second.ReceiptHandle)
		b.deleteMessage(url, third.ReceiptHandle)
		b.deleteMessage(url, third.ReceiptHandle) // repeating a deletion is not an error
		<-time.After(time.Hour)
		if got := b.receive(url, 0); len(got) != 0 {
			t.Errorf("got %q after it was deleted", bodies(got))
		}
	})
}

func TestMessagesExpireAfterRetentionPeriod(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		url := b.queue("jobs", map[string]string{"MessageRetentionPeriod": "60"})
		b.send(url, "old", 0)
		<-time.After(61 * time.Second)
		if got := b.receive(url, 0); len(got) != 0 {
			t.Errorf("got %q after the retention period", bodies(got))
		}
	})
}

func TestRedriveAssignsNewMessageIDAndResetsReceiveCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		live, dead := b.pair("exports", `"1"`)
		b.send(live, "task", 0)
		failed := b.one(live)
		b.send(dead, "sent here directly", 0)
		<-time.After(10 * time.Minute)
		b.receive(live, 0)

		source := arn("dead")
		if _, err := b.StartMessageMoveTask(t.Context(), &sdk.StartMessageMoveTaskInput{SourceArn: &source}); err != nil {
			t.Fatal(err)
		}
		revived := b.one(live)
		if *revived.Body != "task" || *revived.MessageId == *failed.MessageId ||
			revived.Attributes["ApproximateReceiveCount"] != "1" {
			t.Errorf("got %q with id %q (was %q), received %s times", *revived.Body, *revived.MessageId, *failed.MessageId,
				revived.Attributes["ApproximateReceiveCount"])
		}
		if got := bodies(b.receive(dead, 0)); !cmp.Equal(got, []string{"sent here directly"}) {
			t.Errorf("the dead-letter queue holds %q", got)
		}
	})
}

func TestSnapshotCountsMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		live, _ := b.pair("exports", "3")
		b.send(live, "first", 0)
		b.receive(live, 0)
		b.send(live, "second", 0)
		b.send(live, "third", 0)
		b.send(live, "later", 60)
		want := []sqs.QueueState{
			{Name: "dead", DeadLetter: true},
			{Name: "exports", Visible: 2, InFlight: 1, Delayed: 1},
		}
		if diff := cmp.Diff(want, b.cloud.SQS().Snapshot()); diff != "" {
			t.Errorf("snapshot (-want +got):\n%s", diff)
		}
	})
}
