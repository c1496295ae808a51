package sqs_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/sqs"
)

// scripted provides a Disorder that returns the given results in sequence, and then always picks the oldest message
// without duplicating it. It records the arguments of each call.
type scripted struct {
	answers []answer
	asked   []question
}

type answer struct {
	pick  int
	twice bool
}

type question struct {
	Queue      string
	Candidates int
}

func (s *scripted) draw(queue string, candidates int) (pick int, twice bool) {
	s.asked = append(s.asked, question{queue, candidates})
	if len(s.answers) == 0 {
		return 0, false
	}
	next := s.answers[0]
	s.answers = s.answers[1:]
	return next.pick, next.twice
}

func TestDisturbDeliversPickedMessageFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	url := b.queue("jobs", nil)
	for _, body := range []string{"a", "b", "c", "d"} {
		b.send(url, body, 0)
	}
	b.send(url, "delayed", 60)
	script := scripted{answers: []answer{{pick: 3}, {pick: 1}, {pick: 99}, {pick: -1}}}
	b.cloud.SQS().Disturb(script.draw)
	if diff := cmp.Diff([]string{"d", "b", "c", "a"}, bodies(b.receive(url, 0))); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	want := []question{{"jobs", 4}, {"jobs", 3}, {"jobs", 2}, {"jobs", 1}}
	if diff := cmp.Diff(want, script.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestDuplicateHasItsOwnReceiptHandle(t *testing.T) {
	t.Parallel()
	for name, deleteFirst := range map[string]bool{"the first deletes": true, "the second deletes": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				url := b.queue("jobs", nil)
				b.send(url, "work", 0)
				b.cloud.SQS().Disturb((&scripted{answers: []answer{{twice: true}}}).draw)
				first, second := b.one(url), b.one(url)
				if *first.MessageId != *second.MessageId || *first.ReceiptHandle == *second.ReceiptHandle {
					t.Errorf("got messages %s and %s with handles %s and %s", *first.MessageId, *second.MessageId,
						*first.ReceiptHandle, *second.ReceiptHandle)
				}
				if got := second.Attributes["ApproximateReceiveCount"]; got != "2" {
					t.Errorf("ApproximateReceiveCount is %q, want 2", got)
				}
				if got := b.receive(url, 0); len(got) != 0 {
					t.Errorf("got %q a third time at once", bodies(got))
				}
				if deleteFirst {
					b.deleteMessage(url, first.ReceiptHandle)
				} else {
					b.deleteMessage(url, second.ReceiptHandle)
				}
				<-time.After(time.Hour)
				if got := b.receive(url, 0); len(got) != 0 {
					t.Errorf("got %q after it was deleted", bodies(got))
				}
			})
		})
	}
}

func TestReceiveExcludesDuplicatesFromSameBatch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	url := b.queue("jobs", nil)
	b.send(url, "work", 0)
	b.cloud.SQS().Disturb((&scripted{answers: []answer{{twice: true}, {twice: true}}}).draw)
	for range 3 {
		b.one(url)
	}
	if got := b.receive(url, 0); len(got) != 0 {
		t.Errorf("got %q although the third delivery was no double", bodies(got))
	}
}

func TestRedeliveryInvalidatesDuplicateReceiptHandles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		url := b.queue("jobs", map[string]string{"VisibilityTimeout": "30"})
		b.send(url, "work", 0)
		b.cloud.SQS().Disturb((&scripted{answers: []answer{{twice: true}}}).draw)
		first, second := b.one(url), b.one(url)
		<-time.After(31 * time.Second)
		third := b.one(url)
		b.deleteMessage(url, first.ReceiptHandle)
		b.deleteMessage(url, second.ReceiptHandle)
		<-time.After(31 * time.Second)
		b.one(url) // the expired handles didn't delete the message
		b.deleteMessage(url, third.ReceiptHandle)
	})
}

func TestDuplicateIncrementsReceiveCount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	live, dead := b.pair("exports", "2")
	b.send(live, "task", 0)
	b.cloud.SQS().Disturb((&scripted{answers: []answer{{twice: true}, {twice: true}}}).draw)
	b.one(live)
	b.one(live)
	if got := b.receive(live, 0); len(got) != 0 {
		t.Errorf("got %q a third time, although two receives are the most", bodies(got))
	}
	if got := bodies(b.receive(dead, 0)); !cmp.Equal(got, []string{"task"}) {
		t.Errorf("the dead-letter queue holds %q", got)
	}
}

func TestDisturbExcludesExpiredMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		url := b.queue("jobs", map[string]string{"MessageRetentionPeriod": "60"})
		script := scripted{answers: []answer{{pick: 0}}}
		b.cloud.SQS().Disturb(script.draw)
		b.send(url, "old", 0)
		<-time.After(61 * time.Second)
		start := time.Now()
		if got := b.receive(url, 20); len(got) != 0 {
			t.Errorf("got %q after the retention period", bodies(got))
		}
		if got := time.Since(start); got != 20*time.Second {
			t.Errorf("the poll took %v, want 20s", got)
		}
		if len(script.asked) != 0 {
			t.Errorf("asked %v about nothing", script.asked)
		}
	})
}

// kept is a journal that retains its records so that another server can replay them.
type kept struct{ records []json.RawMessage }

func (k *kept) Append(_ string, record any) error {
	encoded, err := json.Marshal(record)
	k.records = append(k.records, encoded)
	return err
}

func TestMessagesArriveOnceInOrderByDefault(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	url := b.queue("jobs", nil)
	b.cloud.SQS().Disturb((&scripted{answers: []answer{{pick: 1, twice: true}}}).draw)
	b.cloud.SQS().Disturb(nil)
	b.send(url, "a", 0)
	b.send(url, "b", 0)
	if diff := cmp.Diff([]string{"a", "b"}, bodies(b.receive(url, 0))); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]sqs.QueueState{{Name: "jobs", InFlight: 2}}, b.cloud.SQS().Snapshot()); diff != "" {
		t.Errorf("snapshot (-want +got):\n%s", diff)
	}
}
