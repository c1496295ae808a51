package queue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/trace"
)

const (
	taskID = "7a000000000040008000000000000001"
	id     = "e0000000-0000-4000-8000-000000000001"
)

var tenant = org.Tenant{Mode: org.Live, OrgID: "0a000000-0000-4000-8000-00000000000a"}

type recorder struct {
	*sqs.Client

	sent []*sqs.SendMessageInput
	err  error
}

func (r *recorder) SendMessage(
	ctx context.Context, in *sqs.SendMessageInput, o ...func(*sqs.Options),
) (*sqs.SendMessageOutput, error) {
	if r.err != nil {
		return nil, r.err
	}
	r.sent = append(r.sent, in)
	return r.Client.SendMessage(ctx, in, o...)
}

type queues struct {
	queue.Work
	queue.Refreshes

	exports, deliveries, refreshes string
}

func newQueues(t *testing.T) (queues, *recorder) {
	t.Helper()
	cloud, err := aws.New(aws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	client := sqs.NewFromConfig(cloud.Config("test"))
	urls := make([]string, 0, 3)
	for _, name := range []string{"exports", "deliveries", "refreshes"} {
		created, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
		if err != nil {
			t.Fatal(err)
		}
		urls = append(urls, *created.QueueUrl)
	}
	r := &recorder{Client: client}
	return queues{queue.NewWork(r, urls[0], urls[1]), queue.NewRefreshes(r, urls[2]), urls[0], urls[1], urls[2]}, r
}

func receive(t *testing.T, client *sqs.Client, url string) []types.Message {
	t.Helper()
	out, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: 10,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"MessageGroupId"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Messages
}

func TestSendEnqueuesRowInQueueOfItsWorker(t *testing.T) {
	t.Parallel()
	q, r := newQueues(t)
	for _, err := range []error{
		q.EnqueueTask(t.Context(), tenant, taskID, 0),
		q.EnqueueEvent(t.Context(), tenant, id),
		q.EnqueueDelivery(t.Context(), tenant, id, 0),
		q.EnqueueNotice(t.Context(), tenant, id),
		q.EnqueueConnection(t.Context(), tenant, id),
		q.Work.Send(t.Context(), due.Item{Tenant: tenant, Kind: due.Task, ID: taskID, At: time.Now()}, 0),
		q.Work.Send(t.Context(), due.Item{Tenant: tenant, Kind: due.Share, ID: tenant.OrgID}, 0),
		q.Work.Send(t.Context(), due.Item{Tenant: tenant, Kind: due.Event, ID: id}, 0),
		q.Work.Send(t.Context(), due.Item{Tenant: tenant, Kind: due.Notice, ID: id}, 0),
		q.Refreshes.Send(t.Context(), due.Item{Tenant: tenant, Kind: due.Connection, ID: id}, 0),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	item := func(kind due.Kind, id string) due.Item { return due.Item{Tenant: tenant, Kind: kind, ID: id} }
	for url, want := range map[string][]due.Item{
		q.exports: {item(due.Task, taskID), item(due.Task, taskID), item(due.Share, tenant.OrgID)},
		q.deliveries: {
			item(due.Event, id), item(due.Event, id), item(due.Delivery, id), item(due.Notice, id),
			item(due.Notice, id),
		},
		q.refreshes: {item(due.Connection, id), item(due.Connection, id)},
	} {
		got := map[due.Item]int{}
		for _, m := range receive(t, r.Client, url) {
			i, err := due.Decode(*m.Body)
			if err != nil {
				t.Fatal(err)
			}
			got[i]++
			if group, want := m.Attributes["MessageGroupId"], "live-"+tenant.OrgID; group != want {
				t.Errorf("group = %q, want %q", group, want)
			}
		}
		expected := map[due.Item]int{}
		for _, i := range want {
			expected[i]++
		}
		if diff := cmp.Diff(expected, got); diff != "" {
			t.Errorf("messages in %s (-want +got):\n%s", url, diff)
		}
	}
}

func TestSendRejectsRowOfDifferentKind(t *testing.T) {
	t.Parallel()
	q, r := newQueues(t)
	if q.Work.Send(t.Context(), due.Item{Tenant: tenant, Kind: due.Connection, ID: id}, 0) == nil {
		t.Error("a connection was sent to the queues of the Work table")
	}
	for _, kind := range []due.Kind{due.Task, due.Event, due.Delivery, due.Notice} {
		if q.Refreshes.Send(t.Context(), due.Item{Tenant: tenant, Kind: kind, ID: id}, 0) == nil {
			t.Errorf("a row of kind %v was sent to the refresh queue", kind)
		}
	}
	if len(r.sent) != 0 {
		t.Errorf("sent %v", r.sent)
	}
}

func TestSendRoundsUpDelayAndCapsItAtFifteenMinutes(t *testing.T) {
	t.Parallel()
	q, r := newQueues(t)
	tests := []struct {
		delay time.Duration
		want  int32
	}{
		{-time.Hour, 0},
		{0, 0},
		{1, 1},
		{time.Second, 1},
		{time.Second + 1, 2},
		{4*time.Second + 999*time.Millisecond, 5},
		{15*time.Minute - 1, 900},
		{15 * time.Minute, 900},
		{24 * time.Hour, 900},
		{1<<63 - 1, 900},
	}
	for i, test := range tests {
		if err := q.EnqueueDelivery(t.Context(), tenant, id, test.delay); err != nil {
			t.Errorf("delay %v: %v", test.delay, err)
			continue
		}
		if got := r.sent[i].DelaySeconds; got != test.want {
			t.Errorf("delay %v = %d seconds, want %d", test.delay, got, test.want)
		}
	}
	if got := len(receive(t, r.Client, q.deliveries)); got != 2 {
		t.Errorf("%d messages can be seen at once, want the 2 without delay", got)
	}
}

func TestSendReturnsQueueError(t *testing.T) {
	t.Parallel()
	q, r := newQueues(t)
	r.err = fmt.Errorf("no route: %w", errors.ErrUnsupported)
	for name, send := range map[string]func(context.Context) error{
		"task":     func(ctx context.Context) error { return q.EnqueueTask(ctx, tenant, taskID, 0) },
		"event":    func(ctx context.Context) error { return q.EnqueueEvent(ctx, tenant, id) },
		"delivery": func(ctx context.Context) error { return q.EnqueueDelivery(ctx, tenant, id, 0) },
	} {
		ctx, line := logx.Begin(t.Context())
		err := send(ctx)
		if queue := fault.SpotOf(err).Queue; !errors.Is(err, errors.ErrUnsupported) || queue == "" {
			t.Errorf("%s: error = %v of queue %q, want the cause", name, err, queue)
		}
		var log bytes.Buffer
		line.Emit(ctx, logx.New(&log), "test") // most callers ignore send failures
		if !strings.Contains(log.String(), `"unsent_class":"no_answer"`) || strings.Contains(log.String(), "://") {
			t.Errorf("%s: the line is %s", name, &log)
		}
	}
}

func TestSendIncludesTraceIDOfRequest(t *testing.T) {
	t.Parallel()
	q, r := newQueues(t)
	const header = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
	if err := q.EnqueueEvent(trace.With(t.Context(), header), tenant, id); err != nil {
		t.Fatal(err)
	}
	taken, err := queue.NewBacklog(r.Client, q.deliveries).Receive(t.Context())
	if err != nil || len(taken) != 1 || taken[0].Attributes["AWSTraceHeader"] != header {
		t.Errorf("got %+v, %v", taken, err)
	}
	if err := q.EnqueueEvent(t.Context(), tenant, id); err != nil || r.sent[1].MessageSystemAttributes != nil {
		t.Errorf("a message without a trace: %v, %v", r.sent[1].MessageSystemAttributes, err)
	}
}
