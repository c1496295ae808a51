package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/platform/due"
)

func redriveCommands() []command {
	return []command{{
		name: "redrive", confirms: true, flags: "-queue exports|deliveries|refreshes|tefca [-apply]",
		needs:   []string{"queue"},
		declare: redrive,
		help:    "Shows the rows behind a queue's dead letters; with -apply, makes workers process the rows again",
	}}
}

// deadLetterQueues returns the dead-letter queues by command-line name, with a function that resends each queue's
// messages.
func deadLetterQueues(client *sqs.Client, outputs map[string]string) map[string]struct {
	dead queue.Backlog
	send func(context.Context, due.Item, time.Duration) error
} {
	type way = struct {
		dead queue.Backlog
		send func(context.Context, due.Item, time.Duration) error
	}
	work := queue.NewWork(client, outputs["ExportQueueUrl"], outputs["DeliveryQueueUrl"])
	return map[string]way{
		"exports":    {queue.NewBacklog(client, outputs["ExportDeadLetterQueueUrl"]), work.Send},
		"deliveries": {queue.NewBacklog(client, outputs["DeliveryDeadLetterQueueUrl"]), work.Send},
		"refreshes": {
			queue.NewBacklog(client, outputs["RefreshDeadLetterQueueUrl"]),
			queue.NewRefreshes(client, outputs["RefreshQueueUrl"]).Send,
		},
		"tefca": {
			queue.NewBacklog(client, outputs["TefcaDeadLetterQueueUrl"]),
			queue.NewAttempts(client, outputs["TefcaQueueUrl"]).Send,
		},
	}
}

// letter is the printed form of a dead letter, which identifies the work by its kind and IDs.
type letter struct {
	MessageID string `json:"message_id"`
	Kind      string `json:"kind,omitempty"`
	OrgID     string `json:"org_id,omitempty"`
	Mode      string `json:"mode,omitempty"`
	ID        string `json:"id,omitempty"`
	Outcome   string `json:"outcome"` // result: "left", "sent" or "unreadable"
}

// mostLetters limits the number of dead letters received in one run. Receiving a dead letter hides it from other
// receivers for two minutes.
const mostLetters = 1000

func redrive(flags *flag.FlagSet) action {
	name := flags.String("queue", "", "`exports`, deliveries, refreshes or tefca")
	isMeant := flags.Bool("apply", false, "redrive the dead letters; without this flag, dead letters are only shown")
	return func(ctx context.Context, s session) (any, error) {
		all := deadLetterQueues(sqs.NewFromConfig(s.stack.Config), s.stack.Outputs)
		chosen, ok := all[*name]
		if !ok {
			return nil, misused("-queue must be one of %s", strings.Join(slices.Sorted(maps.Keys(all)), ", "))
		}
		if *isMeant {
			if err := s.confirmRedrive(ctx, *name, chosen.dead.URL()); err != nil {
				return nil, err
			}
		}
		found, err := eachLetter(ctx, chosen.dead, func(m events.SQSMessage) (letter, error) {
			return resend(ctx, m, *isMeant, chosen.dead, chosen.send)
		})
		if err != nil && len(found) > 0 {
			return nil, &unfinishedError{result: map[string]any{"letters": found}, cause: err}
		}
		return map[string]any{"letters": found}, err
	}
}

// confirmRedrive asks whether to redrive the queue at url. It counts the messages instead of receiving them, because
// receiving hides them from the next run.
func (s session) confirmRedrive(ctx context.Context, name, url string) error {
	if s.yes {
		return nil
	}
	count, err := messages(ctx, sqs.NewFromConfig(s.stack.Config), url)
	if err != nil {
		return err
	}
	return s.confirm("This sends about %d dead letters of the queue %s to its workers again.", count, name)
}

// eachLetter passes up to mostLetters dead letters to do. It returns the printed forms of the letters.
func eachLetter(ctx context.Context, dead queue.Backlog, do func(events.SQSMessage) (letter, error)) ([]letter, error) {
	found := []letter{}
	for len(found) < mostLetters {
		messages, err := dead.Receive(ctx)
		if err != nil || len(messages) == 0 {
			return found, err
		}
		for _, m := range messages {
			one, err := do(m)
			found = append(found, one)
			if err != nil {
				return found, err
			}
		}
	}
	return found, nil
}

// resend enqueues a dead-lettered message's work again before deleting the message. Resending work twice is harmless,
// but deleting a message before resending its work could delay the work until the sweeper runs.
func resend(ctx context.Context, m events.SQSMessage, isMeant bool, dead queue.Backlog,
	send func(context.Context, due.Item, time.Duration) error,
) (letter, error) {
	i, unreadable := due.Decode(m.Body)
	if unreadable != nil {
		return letter{MessageID: m.MessageId, Outcome: "unreadable"}, nil //nolint:nilerr // it is told as what it is
	}
	one := letter{
		MessageID: m.MessageId, Kind: string(i.Kind), OrgID: i.Tenant.OrgID, Mode: string(i.Tenant.Mode),
		ID: i.ID, Outcome: "left",
	}
	if !isMeant {
		return one, nil
	}
	if err := send(ctx, i, 0); err != nil {
		return one, fmt.Errorf("send again: %w", err)
	}
	one.Outcome = "sent"
	return one, dead.Delete(ctx, m)
}
