package sqs_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/sqs"
	"recordbridge/infra/local/aws/wire"
)

const inFlightLimit = 120_000

// crowded returns a server whose queue "jobs" has n messages in flight for an hour, and two more messages that can be
// received.
func crowded(t *testing.T, n int) *sqs.Server {
	t.Helper()
	server := sqs.New("http://127.0.0.1:4566", wire.Discard{})
	replay := func(record string) {
		if err := server.Replay(json.RawMessage(record)); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	sent, until := now.Format(time.RFC3339), now.Add(time.Hour).Format(time.RFC3339)
	replay(`{"kind":"create","queue":"jobs","attributes":{},"at":"` + sent + `"}`)
	for i := range n {
		replay(`{"kind":"send","queue":"jobs","message":{"id":"m` + strconv.Itoa(i) + `","body":"x","sent":"` + sent +
			`","receives":1,"visible_at":"` + until + `"}}`)
	}
	for _, id := range []string{"first", "second"} {
		replay(`{"kind":"send","queue":"jobs","message":{"id":"` + id + `","body":"` + id + `","sent":"` + sent +
			`","visible_at":"` + sent + `"}}`)
	}
	return server
}

// TestInFlightLimitAppliesToLongPolls covers all cases in one test, because creating this many messages takes a second.
func TestInFlightLimitAppliesToLongPolls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := crowded(t, inFlightLimit-1)
		const (
			shortPoll = `{"QueueUrl":"http://x/000000000000/jobs","MaxNumberOfMessages":2}`
			longPoll  = `{"QueueUrl":"http://x/000000000000/jobs","WaitTimeSeconds":20}`
			deletion  = `{"QueueUrl":"http://x/000000000000/jobs","ReceiptHandle":"bTEjMQ"}` // handle of m1's first delivery
		)
		if answer := call(t, server, "ReceiveMessage", shortPoll, http.StatusOK); !strings.Contains(answer, `"first"`) ||
			strings.Contains(answer, `"second"`) {
			t.Errorf("a poll for two took %s, want the first only: one place was left", answer)
		}
		if answer := call(t, server, "ReceiveMessage", shortPoll, http.StatusForbidden); !strings.Contains(answer,
			`"OverLimit"`) {
			t.Errorf("a short poll got %s, want OverLimit", answer)
		}
		start := time.Now()
		if answer := call(t, server, "ReceiveMessage", longPoll, http.StatusOK); answer != "{}" ||
			time.Since(start) != 20*time.Second {
			t.Errorf("a long poll got %s after %v, want nothing after 20s", answer, time.Since(start))
		}
		start = time.Now()
		time.AfterFunc(5*time.Second, func() { call(t, server, "DeleteMessage", deletion, http.StatusOK) })
		answer := call(t, server, "ReceiveMessage", longPoll, http.StatusOK)
		if waited := time.Since(start); !strings.Contains(answer, `"second"`) || waited < 5*time.Second ||
			waited > 6*time.Second {
			t.Errorf("a long poll got %s after %v, want the second when a place is free after 5s", answer, waited)
		}
	})
}

func TestPurgeQueueRejectsSecondPurgeWithinOneMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		purge := func() error {
			_, err := b.PurgeQueue(t.Context(), &sdk.PurgeQueueInput{QueueUrl: b.queue("jobs", nil)})
			return err
		}
		if err := purge(); err != nil {
			t.Fatal(err)
		}
		<-time.After(59 * time.Second)
		wantCode(t, purge(), "AWS.SimpleQueueService.PurgeQueueInProgress")
		<-time.After(time.Second)
		if err := purge(); err != nil {
			t.Error(err)
		}
	})
}

func TestReducedRetentionPeriodDropsOldMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		url := b.queue("jobs", nil)
		b.send(url, "old", 0)
		<-time.After(time.Hour)
		b.send(url, "new", 0)
		_, err := b.SetQueueAttributes(t.Context(),
			&sdk.SetQueueAttributesInput{QueueUrl: url, Attributes: map[string]string{"MessageRetentionPeriod": "60"}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]sqs.QueueState{{Name: "jobs", Visible: 1}}, b.cloud.SQS().Snapshot()); diff != "" {
			t.Errorf("snapshot (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"new"}, bodies(b.receive(url, 0))); diff != "" {
			t.Errorf("received (-want +got):\n%s", diff)
		}
	})
}

func TestSetQueueAttributesUpdatesModifiedTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		url := b.queue("jobs", nil)
		dates := func() map[string]string {
			out, err := b.GetQueueAttributes(t.Context(), &sdk.GetQueueAttributesInput{
				QueueUrl: url, AttributeNames: []types.QueueAttributeName{"CreatedTimestamp", "LastModifiedTimestamp"},
			})
			if err != nil {
				t.Fatal(err)
			}
			return out.Attributes
		}
		start := time.Now()
		seconds := func(after time.Duration) string { return strconv.FormatInt(start.Add(after).Unix(), 10) }
		want := map[string]string{"CreatedTimestamp": seconds(0), "LastModifiedTimestamp": seconds(0)}
		if diff := cmp.Diff(want, dates()); diff != "" {
			t.Errorf("a new queue (-want +got):\n%s", diff)
		}
		<-time.After(time.Hour)
		_, err := b.SetQueueAttributes(t.Context(),
			&sdk.SetQueueAttributesInput{QueueUrl: url, Attributes: map[string]string{"VisibilityTimeout": "1"}})
		if err != nil {
			t.Fatal(err)
		}
		want["LastModifiedTimestamp"] = seconds(time.Hour)
		if diff := cmp.Diff(want, dates()); diff != "" {
			t.Errorf("a changed queue (-want +got):\n%s", diff)
		}
	})
}
