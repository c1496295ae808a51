package console_test

import (
	"fmt"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// withQueues creates a queue with one message in flight, and a dead-letter queue with two messages. One of the two
// messages was sent directly to the dead-letter queue.
func withQueues(t *testing.T, f fixture) {
	t.Helper()
	client := sqs.NewFromConfig(f.cloud.Config("test"))
	create := func(name string, attributes map[string]string) *string {
		out, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
		if err != nil {
			t.Fatal(err)
		}
		return out.QueueUrl
	}
	send := func(queue *string, body string) {
		if _, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: queue, MessageBody: &body}); err != nil {
			t.Fatal(err)
		}
	}
	receive := func(queue *string, visibility int32) {
		_, err := client.ReceiveMessage(t.Context(),
			&sqs.ReceiveMessageInput{QueueUrl: queue, VisibilityTimeout: visibility, WaitTimeSeconds: 0})
		if err != nil {
			t.Fatal(err)
		}
	}
	dead := create("work-dead", nil)
	work := create("work", map[string]string{
		"RedrivePolicy": `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:work-dead","maxReceiveCount":1}`,
	})
	short := create("short", map[string]string{
		"VisibilityTimeout": "0",
		"RedrivePolicy":     `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:work-dead","maxReceiveCount":1}`,
	})
	send(short, `{"failed":1}`)
	receive(short, 0)
	receive(short, 0) // this receive moves the message to the dead-letter queue
	send(dead, "direct "+evil+" whsec_SENTINEL")
	send(work, `{"id":1}`)
	receive(work, 30)
}

type queue struct {
	Name        string
	Visible     int
	InFlight    int `json:"in_flight"`
	Delayed     int
	DeadLetter  bool `json:"dead_letter"`
	Oldest      string
	DeadLetters string `json:"dead_letters"`
	MaxReceives int    `json:"max_receives"`
	Serves      []string
}

func TestQueueListIncludesCountsAndDeadLetterQueues(t *testing.T) {
	t.Parallel()
	f := build(t)
	withQueues(t, f)
	var got struct{ Queues []queue }
	f.get(t, 200, &got, "queues")
	want := []queue{
		{Name: "short", DeadLetters: "work-dead", MaxReceives: 1},
		{Name: "work", InFlight: 1, DeadLetters: "work-dead", MaxReceives: 1},
		{Name: "work-dead", Visible: 2, DeadLetter: true, Serves: []string{"short", "work"}},
	}
	if diff := cmp.Diff(want, got.Queues, cmpopts.IgnoreFields(queue{}, "Oldest")); diff != "" {
		t.Errorf("queues (-want +got):\n%s", diff)
	}
	if got.Queues[0].Oldest != "" || got.Queues[1].Oldest == "" {
		t.Errorf("got oldest %q of an empty and %q of a full queue", got.Queues[0].Oldest, got.Queues[1].Oldest)
	}
}

type messages struct {
	Messages []struct {
		Body, State, Source string
		Receives            int
	}
}

func TestMessageListDoesNotReceiveMessages(t *testing.T) {
	t.Parallel()
	f := build(t)
	withQueues(t, f)
	for range 2 {
		var got messages
		f.get(t, 200, &got, "queues/work/messages")
		if len(got.Messages) != 1 || got.Messages[0].Body != `{"id":1}` || got.Messages[0].State != "in flight" ||
			got.Messages[0].Receives != 1 {
			t.Errorf("got %+v", got)
		}
		f.get(t, 200, &got, "queues/work-dead/messages")
		if len(got.Messages) != 2 || !strings.HasSuffix(got.Messages[0].Source, ":short") ||
			got.Messages[0].State != "visible" {
			t.Fatalf("got %+v", got)
		}
		if want := "direct " + evil + " whsec_[hidden]"; got.Messages[1].Body != want {
			t.Errorf("got body %q, want %q", got.Messages[1].Body, want)
		}
	}
	var refused map[string]string
	f.get(t, 404, &refused, "queues/nothing/messages")
}

func TestRedriveMovesDeadLettersBackToSourceQueue(t *testing.T) {
	t.Parallel()
	f := build(t)
	withQueues(t, f)
	for target, want := range map[string]string{
		"nothing": `404 {"error":"Queue not found."}`,
		"work":    `400 {"error":"InvalidParameterValue: Source queue must be configured as a Dead Letter Queue."}`,
	} {
		got := f.serve(t, "POST", "/_local/api/queues/"+target+"/redrive", nil)
		if text := fmt.Sprint(got.Code, " ", strings.TrimSpace(got.Body.String())); text != want {
			t.Errorf("redrive %s: got %s, want %s", target, text, want)
		}
	}
	got := f.serve(t, "POST", "/_local/api/queues/work-dead/redrive", nil)
	if want := `{"left":1,"moved":1}` + "\n"; got.Code != 200 || got.Body.String() != want {
		t.Errorf("got %d %s, want %s", got.Code, got.Body, want)
	}
	var back messages
	f.get(t, 200, &back, "queues/short/messages")
	if len(back.Messages) != 1 || back.Messages[0].Body != `{"failed":1}` {
		t.Errorf("got %+v, want the dead letter", back)
	}
}

func TestPurgeDeletesMessagesFromQueue(t *testing.T) {
	t.Parallel()
	f := build(t)
	withQueues(t, f)
	if got := f.serve(t, "POST", "/_local/api/queues/work-dead/purge", nil); got.Code != 200 ||
		got.Body.String() != `{"purged":"work-dead"}`+"\n" {
		t.Errorf("got %d %s", got.Code, got.Body)
	}
	out, err := sqs.NewFromConfig(f.cloud.Config("test")).ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: awssdk.String("http://127.0.0.1:4566/000000000000/work-dead"),
	})
	if err != nil || len(out.Messages) != 0 {
		t.Errorf("got %v, %v, want no message", out, err)
	}
	if got := f.serve(t, "POST", "/_local/api/queues/nothing/purge", nil); got.Code != 404 {
		t.Errorf("got %d %s, want 404", got.Code, got.Body)
	}
}
