package sqs_test

import (
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"
)

// sendOf sends messages of the given group. If group is empty, the messages have no group.
func (b bench) sendOf(url *string, group string, many int) {
	b.t.Helper()
	for i := range many {
		in := &sdk.SendMessageInput{QueueUrl: url, MessageBody: aws.String(group + strconv.Itoa(i))}
		if group != "" {
			in.MessageGroupId = &group
		}
		if _, err := b.SendMessage(b.t.Context(), in); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b bench) take(url *string, many int) (bodies []string, handles []*string) {
	b.t.Helper()
	for range many {
		out, err := b.ReceiveMessage(b.t.Context(), &sdk.ReceiveMessageInput{QueueUrl: url, MaxNumberOfMessages: 1})
		if err != nil || len(out.Messages) != 1 {
			b.t.Fatalf("received %d messages, want 1: %v", len(out.Messages), err)
		}
		m := out.Messages[0]
		bodies, handles = append(bodies, *m.Body), append(handles, m.ReceiptHandle)
	}
	return bodies, handles
}

func TestQuietGroupsAreReceivedBeforeNoisyGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		url := b.queue("jobs", nil)
		b.sendOf(url, "noisy", 100)
		_, flying := b.take(url, 29)
		b.sendOf(url, "quiet", 3)
		b.sendOf(url, "", 1)
		if got, _ := b.take(url, 1); !cmp.Equal(got, []string{"noisy29"}) {
			t.Errorf("with 29 in flight came %q, want the oldest", got)
		}
		if got, _ := b.take(url, 5); !cmp.Equal(got, []string{"quiet0", "quiet1", "quiet2", "0", "noisy30"}) {
			t.Errorf("with 30 in flight came %q, want the quiet ones first", got)
		}
		for _, handle := range flying {
			b.deleteMessage(url, handle)
		}
		b.sendOf(url, "quiet", 1)
		if got, _ := b.take(url, 1); !cmp.Equal(got, []string{"noisy31"}) {
			t.Errorf("with few in flight came %q, want the oldest", got)
		}
	})
}

func TestNoisyGroupBecomesQuietWhenMessagesAreVisibleAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		url := b.queue("jobs", map[string]string{"VisibilityTimeout": "60"})
		b.sendOf(url, "noisy", 40)
		b.take(url, 35)
		<-time.After(61 * time.Second)
		b.sendOf(url, "quiet", 1)
		if got, _ := b.take(url, 1); !cmp.Equal(got, []string{"noisy35"}) {
			t.Errorf("got %q, want the one that was visible longest", got)
		}
	})
}

func TestNoisyGroupWithFewestMessagesInFlightIsReceivedFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		url := b.queue("jobs", nil)
		b.sendOf(url, "a", 70)
		b.take(url, 60)
		b.sendOf(url, "b", 60)
		got, _ := b.take(url, 50)
		if slices.ContainsFunc(got, func(body string) bool { return body[0] == 'a' }) {
			t.Errorf("got %q, want those of b, of which fewer are in flight", got)
		}
	})
}

func TestGroupWithTenPercentOfInFlightMessagesIsQuiet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		url := b.queue("jobs", nil)
		for i := range 9 {
			b.sendOf(url, "many"+strconv.Itoa(i), 30)
		}
		b.sendOf(url, "a", 31)
		b.take(url, 300)
		b.sendOf(url, "b", 1)
		if got, _ := b.take(url, 1); !cmp.Equal(got, []string{"a30"}) {
			t.Errorf("got %q, want the oldest", got)
		}
	})
}
