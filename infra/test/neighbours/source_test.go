package neighbours_test

import (
	"context"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/org"
)

func isSoak() bool { return os.Getenv("RECORDBRIDGE_SOAK") != "" }

func organisation(last string) org.Tenant {
	return org.Tenant{Mode: org.Live, OrgID: "a0000000-0000-4000-8000-00000000000" + last}
}

// source simulates a Lambda event source mapping with limited concurrency. Each invocation takes a batch of messages
// and lasts as long as the slowest of them.
type source struct {
	invocations int
	batch       int
	handle      func(ctx context.Context, i due.Item)

	queue   queue.Client
	polls   *sqs.Client
	url     string
	running sync.WaitGroup
	stop    context.CancelFunc
}

// open creates the queue. If isFair is false, messages are sent without a message group ID.
func (s *source) open(t *testing.T, isFair bool) {
	t.Helper()
	cloud, err := aws.New(aws.Options{})
	expect.NoError(t, err)
	s.polls = sqs.NewFromConfig(cloud.Config("worker"))
	out, err := s.polls.CreateQueue(t.Context(), &sqs.CreateQueueInput{
		QueueName: awssdk.String("flooded"), Attributes: map[string]string{"VisibilityTimeout": "5400"},
	})
	expect.NoError(t, err)
	s.url, s.queue = *out.QueueUrl, s.polls
	if !isFair {
		s.queue = ungrouped{s.polls}
	}
}

func (s *source) start(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	for range s.invocations {
		s.running.Go(func() {
			for ctx.Err() == nil {
				s.invoke(ctx)
			}
		})
	}
}

func (s *source) invoke(ctx context.Context) {
	out, err := s.polls.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &s.url, MaxNumberOfMessages: int32(s.batch), WaitTimeSeconds: 20,
	})
	if err != nil {
		return
	}
	var all sync.WaitGroup
	for _, m := range out.Messages {
		all.Go(func() {
			if i, err := due.Decode(*m.Body); err == nil {
				s.handle(ctx, i)
			}
		})
	}
	all.Wait()
	for _, m := range out.Messages {
		_, _ = s.polls.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &s.url, ReceiptHandle: m.ReceiptHandle})
	}
}

// end stops polling and waits for the running invocations.
func (s *source) end() {
	s.stop()
	s.running.Wait()
}

// ungrouped is a queue client that omits message group IDs, which makes the queue unfair.
type ungrouped struct{ queue.Client }

func (u ungrouped) SendMessage(ctx context.Context, in *sqs.SendMessageInput,
	o ...func(*sqs.Options),
) (*sqs.SendMessageOutput, error) {
	alone := *in
	alone.MessageGroupId = nil
	return u.Client.SendMessage(ctx, &alone, o...)
}

// around returns a random duration between 50 % and 150 % of long.
func around(random *rand.Rand, long time.Duration) time.Duration {
	return long/2 + time.Duration(random.Int64N(int64(long)))
}
