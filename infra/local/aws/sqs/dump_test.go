package sqs_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recordbridge/infra/local/aws/sqs"
	"recordbridge/infra/local/aws/wire"
)

// twin holds a server and a copy of it that has been restarted twice. Both servers of a twin receive the same calls.
type twin struct{ before, after *sqs.Server }

// restarted simulates two restarts. The first server replays the journal; the second, which is returned, replays the
// first server's dump.
func restarted(t *rapid.T, journal *kept) *sqs.Server {
	first, second := sqs.New("http://127.0.0.1:4566", wire.Discard{}), sqs.New("http://127.0.0.1:4566", wire.Discard{})
	for _, record := range journal.records {
		if err := first.Replay(record); err != nil {
			t.Fatal(err)
		}
	}
	err := first.Dump(func(record any) error {
		raw, err := json.Marshal(record)
		if err != nil {
			return err
		}
		return second.Replay(raw)
	})
	if err != nil {
		t.Fatal(err)
	}
	return second
}

// ask sends a request and returns the response body, regardless of the status.
func ask(t *rapid.T, server *sqs.Server, operation, body string) string {
	request := httptest.NewRequestWithContext(t.Context(), "POST", "/", strings.NewReader(body))
	request.Header.Set("X-Amz-Target", "AmazonSQS."+operation)
	answer := httptest.NewRecorder()
	server.Serve(answer, request, wire.Call{Service: "sqs", Operation: operation, Caller: "test"})
	return answer.Body.String()
}

const queueURL = `"QueueUrl":"http://127.0.0.1:4566/000000000000/%s"`

func someQueue(t *rapid.T) string {
	return fmt.Sprintf(queueURL, rapid.SampledFrom([]string{"live", "live", "dead"}).Draw(t, "queue"))
}

// act makes random changes, including invalid ones, with receipt handles from earlier deliveries.
func act(t *rapid.T, server *sqs.Server, handles *[]string) {
	queue := someQueue(t)
	handle := "none"
	if len(*handles) > 0 {
		handle = rapid.SampledFrom(*handles).Draw(t, "handle")
	}
	switch rapid.IntRange(0, 8).Draw(t, "act") {
	case 0, 1, 2:
		ask(t, server, "SendMessage", fmt.Sprintf(`{%s,"MessageBody":%q,"DelaySeconds":%d}`,
			queue, rapid.StringMatching(`[a-z<"é]{1,5}`).Draw(t, "body"), rapid.SampledFrom([]int{0, 0, 60}).Draw(t, "delay")))
	case 3, 4, 5:
		answer := ask(t, server, "ReceiveMessage", fmt.Sprintf(`{%s,"MaxNumberOfMessages":%d,"VisibilityTimeout":%d}`,
			queue, rapid.IntRange(1, 3).Draw(t, "most"), rapid.SampledFrom([]int{0, 20, 100}).Draw(t, "visibility")))
		var got struct {
			Messages []struct{ ReceiptHandle string }
		}
		if err := json.Unmarshal([]byte(answer), &got); err != nil {
			t.Fatal(err)
		}
		for _, m := range got.Messages {
			*handles = append(*handles, m.ReceiptHandle)
		}
	case 6:
		ask(t, server, "DeleteMessage", fmt.Sprintf(`{%s,"ReceiptHandle":%q}`, queue, handle))
	case 7:
		<-time.After(time.Duration(rapid.IntRange(0, 70).Draw(t, "passes")) * time.Second)
	default:
		rare := []struct{ operation, body string }{
			{"StartMessageMoveTask", `{"SourceArn":"arn:aws:sqs:us-east-1:000000000000:dead"}`},
			{"SetQueueAttributes", `{` + queue + `,"Attributes":{"MessageRetentionPeriod":"300","VisibilityTimeout":"7"}}`},
			{"PurgeQueue", `{` + queue + `}`},
		}
		chosen := rapid.SampledFrom(rare).Draw(t, "rare")
		ask(t, server, chosen.operation, chosen.body)
	}
}

func (w twin) same(t *rapid.T, operation, body string) {
	before, after := ask(t, w.before, operation, body), ask(t, w.after, operation, body)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Fatalf("%s %s answers something else after two starts (-before +after):\n%s", operation, body, diff)
	}
}

// goOn tries to delete messages using some of the handles, and sometimes purges a queue. It then receives from both
// servers until no more messages can arrive.
func (w twin) goOn(t *rapid.T, handles []string) {
	for _, handle := range handles {
		if rapid.Bool().Draw(t, "delete") {
			w.same(t, "DeleteMessage", fmt.Sprintf(`{%s,"ReceiptHandle":%q}`, someQueue(t), handle))
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "purge") == 0 { // SQS rejects a second purge within a minute
		w.same(t, "PurgeQueue", `{`+someQueue(t)+`}`)
	}
	for range 60 {
		for _, name := range []string{"live", "dead"} {
			queue := fmt.Sprintf(queueURL, name)
			w.same(t, "GetQueueAttributes", `{`+queue+`,"AttributeNames":["All"]}`)
			w.same(t, "ReceiveMessage",
				`{`+queue+`,"MaxNumberOfMessages":2,"VisibilityTimeout":300,"MessageSystemAttributeNames":["All"]}`)
		}
		if diff := cmp.Diff(w.before.Snapshot(), w.after.Snapshot()); diff != "" {
			t.Fatalf("queues after two starts (-before +after):\n%s", diff)
		}
		<-time.After(7 * time.Second)
	}
}

func TestRestartPreservesVisibleState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// The wrapper hides t's Deadline method, which must not be called in a synctest bubble.
		rapid.Check(struct{ testing.TB }{t}, func(t *rapid.T) {
			journal := &kept{}
			server := sqs.New("http://127.0.0.1:4566", journal)
			ask(t, server, "CreateQueue", `{"QueueName":"dead"}`)
			ask(t, server, "CreateQueue",
				`{"QueueName":"live","Attributes":{"RedrivePolicy":"{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:00000000`+
					`0000:dead\",\"maxReceiveCount\":2}"}}`)
			if rapid.Bool().Draw(t, "disturbed") {
				calls := 0
				server.Disturb(func(_ string, candidates int) (int, bool) {
					calls++
					return calls % candidates, calls%3 == 0
				})
			}
			var handles []string
			for range rapid.IntRange(0, 30).Draw(t, "acts") {
				act(t, server, &handles)
			}
			server.Disturb(nil)
			twin{server, restarted(t, journal)}.goOn(t, handles)
		})
	})
}
