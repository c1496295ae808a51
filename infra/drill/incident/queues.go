package incident

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"recordbridge/infra/drill/scene"
)

// exportBacklog stages a disabled event source mapping of exportworker, so that exports wait in the queue.
func exportBacklog(ctx context.Context, s *scene.Scene) (Staged, error) {
	connection, err := s.Connect(ctx)
	if err != nil {
		return Staged{}, err
	}
	if err = s.EnableWorker(ctx, "ExportWorkerFunction", false); err != nil {
		return Staged{}, err
	}
	task, err := s.Export(ctx, connection)
	if err != nil {
		return Staged{}, err
	}
	return Staged{
		Told:   func(ctx context.Context) (string, error) { return waiting(ctx, s, "ExportQueue: 1 messages") },
		Mended: func(ctx context.Context) error { return exported(ctx, s, task) },
	}, nil
}

// workerDead stages a webhookworker that no longer runs, and whose last message is a dead letter.
func workerDead(ctx context.Context, s *scene.Scene) (Staged, error) {
	connection, err := s.Connect(ctx)
	if err != nil {
		return Staged{}, err
	}
	if err = s.EnableWorker(ctx, "WebhookWorkerFunction", false); err != nil {
		return Staged{}, err
	}
	task, err := s.Export(ctx, connection)
	if err != nil {
		return Staged{}, err
	}
	if err := scene.Wait(ctx, func(ctx context.Context) error { return exported(ctx, s, task) }); err != nil {
		return Staged{}, err
	}
	if err := bury(ctx, s, "Delivery"); err != nil {
		return Staged{}, err
	}
	s.Set("QUEUE", "deliveries")
	return Staged{
		Told: func(ctx context.Context) (string, error) {
			return waiting(ctx, s, "The dead-letter queue for deliveries has")
		},
		Mended: func(ctx context.Context) error {
			if n, err := s.Received(ctx, task); err != nil || n == 0 {
				return fmt.Errorf("the webhook did not arrive: %w", err)
			}
			return empty(ctx, s, "DeliveryDeadLetterQueueUrl")
		},
	}, nil
}

// poisoned stages a message that nothing can read, which SQS has moved to the dead-letter queue.
func poisoned(ctx context.Context, s *scene.Scene) (Staged, error) {
	queues := sqs.NewFromConfig(s.Config())
	for _, name := range []string{"ExportQueueUrl", "ExportDeadLetterQueueUrl"} {
		_, err := queues.SendMessage(ctx, &sqs.SendMessageInput{
			QueueUrl: aws.String(s.AWS.Outputs[name]), MessageBody: aws.String("not a message of this service"),
		})
		if err != nil {
			return Staged{}, err
		}
	}
	s.Set("DEAD", "ExportDeadLetterQueue")
	return Staged{
		Told:   func(context.Context) (string, error) { return s.Line("msg=exportworker.message", "outcome=poison") },
		Mended: func(ctx context.Context) error { return empty(ctx, s, "ExportDeadLetterQueueUrl") },
	}, nil
}

// receiverClock stages a webhook receiver whose clock is ten minutes ahead, so that it rejects an event.
func receiverClock(ctx context.Context, s *scene.Scene) (Staged, error) {
	receiver, err := scene.NewReceiver(ctx, 10*time.Minute)
	if err != nil {
		return Staged{}, err
	}
	id, err := s.NewWebhook(ctx, receiver.URL)
	if err != nil {
		return Staged{}, err
	}
	s.Set("WEBHOOK", id)
	s.Set("SINCE", time.Now().Add(-time.Minute).UTC().Format(time.RFC3339))
	connection, err := s.Connect(ctx)
	if err != nil {
		return Staged{}, err
	}
	if _, err := s.Export(ctx, connection); err != nil {
		return Staged{}, err
	}
	return Staged{
		Told: func(context.Context) (string, error) {
			return s.Line("msg=webhookworker.attempt", "subscription_id="+id, "upstream_status=400")
		},
		Others: func(context.Context) error { receiver.SetClock(0); return nil },
		Mended: func(context.Context) error {
			if receiver.Accepted() == 0 {
				return errors.New("the receiver accepted no event")
			}
			return nil
		},
		End: receiver.Close,
	}, nil
}

// waiting returns ctl doctor's line that contains a text.
func waiting(ctx context.Context, s *scene.Scene, text string) (string, error) {
	found, _ := s.Ctl(ctx, "", "doctor") // fails by design if it finds a problem
	for line := range strings.Lines(found) {
		if strings.Contains(line, text) {
			return "ctl doctor: " + strings.TrimSpace(line), nil
		}
	}
	return "", fmt.Errorf("ctl doctor prints no line with %q", text)
}

// empty returns nil if a queue has no messages, visible or not.
func empty(ctx context.Context, s *scene.Scene, output string) error {
	got, err := sqs.NewFromConfig(s.Config()).GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: aws.String(s.AWS.Outputs[output]), AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return err
	}
	for _, name := range []string{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"} {
		if n := got.Attributes[name]; n != "0" {
			return fmt.Errorf("%s: %s is %s", output, name, n)
		}
	}
	return nil
}

// bury moves a queue's messages to its dead-letter queue, as SQS does after five receives.
func bury(ctx context.Context, s *scene.Scene, queue string) error {
	queues := sqs.NewFromConfig(s.Config())
	moved := 0
	return scene.Wait(ctx, func(ctx context.Context) error {
		got, err := queues.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: aws.String(s.AWS.Outputs[queue+"QueueUrl"]), MaxNumberOfMessages: 10,
		})
		if err != nil {
			return err
		}
		for _, m := range got.Messages {
			if _, err := queues.SendMessage(ctx, &sqs.SendMessageInput{
				QueueUrl: aws.String(s.AWS.Outputs[queue+"DeadLetterQueueUrl"]), MessageBody: m.Body,
			}); err != nil {
				return err
			}
			if _, err := queues.DeleteMessage(ctx, &sqs.DeleteMessageInput{
				QueueUrl: aws.String(s.AWS.Outputs[queue+"QueueUrl"]), ReceiptHandle: m.ReceiptHandle,
			}); err != nil {
				return err
			}
			moved++
		}
		if moved == 0 {
			return fmt.Errorf("the queue %s has no message", queue)
		}
		return nil
	})
}
