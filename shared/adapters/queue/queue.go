// Package queue sends SQS messages that cause workers to process rows. Messages contain only IDs (package due), so a
// lost, duplicate or leaked message does no harm. The sweeper resends lost messages. Each destination has a separate
// type, so that a function can send only to the queues that its wiring provides.
package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/trace"
)

// Client is the part of the SQS client that this package uses.
type Client interface {
	SendMessage(ctx context.Context, in *sqs.SendMessageInput, o ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
}

// Deliveries sends to the webhook worker's queue.
type Deliveries struct{ destination }

// NewDeliveries returns a Deliveries that sends to the queue at url.
func NewDeliveries(client Client, url string) Deliveries { return Deliveries{destination{client, url}} }

// EnqueueEvent asks the webhook worker to fan out an event.
func (q Deliveries) EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error {
	i := due.Item{Tenant: tenant, Kind: due.Event, ID: eventID}
	return q.send(ctx, i, 0)
}

// EnqueueDelivery asks the webhook worker to attempt a delivery after a delay.
func (q Deliveries) EnqueueDelivery(ctx context.Context, tenant org.Tenant, id string, delay time.Duration) error {
	return q.send(ctx, due.Item{Tenant: tenant, Kind: due.Delivery, ID: id}, delay)
}

// EnqueueNotice asks the webhook worker to send a notice.
func (q Deliveries) EnqueueNotice(ctx context.Context, tenant org.Tenant, id string) error {
	i := due.Item{Tenant: tenant, Kind: due.Notice, ID: id}
	return q.send(ctx, i, 0)
}

// Refreshes sends to the refresh worker's queue.
type Refreshes struct{ destination }

// NewRefreshes returns a Refreshes that sends to the queue at url.
func NewRefreshes(client Client, url string) Refreshes { return Refreshes{destination{client, url}} }

// EnqueueConnection asks the refresh worker to process a connection.
func (q Refreshes) EnqueueConnection(ctx context.Context, tenant org.Tenant, id string) error {
	return q.Send(ctx, due.Item{Tenant: tenant, Kind: due.Connection, ID: id}, 0)
}

// Send enqueues a due row, which must be a connection.
func (q Refreshes) Send(ctx context.Context, i due.Item, delay time.Duration) error {
	if i.Kind != due.Connection {
		return errKind
	}
	return q.send(ctx, i, delay)
}

// Attempts sends to the TEFCA worker's queue.
type Attempts struct{ destination }

// NewAttempts returns an Attempts that sends to the queue at url.
func NewAttempts(client Client, url string) Attempts { return Attempts{destination{client, url}} }

// EnqueueAttempt asks the TEFCA worker to process an attempt.
func (q Attempts) EnqueueAttempt(ctx context.Context, tenant org.Tenant, id string) error {
	return q.Send(ctx, due.Item{Tenant: tenant, Kind: due.Attempt, ID: id}, 0)
}

// Send enqueues a due row, which must be an attempt.
func (q Attempts) Send(ctx context.Context, i due.Item, delay time.Duration) error {
	if i.Kind != due.Attempt {
		return errKind
	}
	return q.send(ctx, i, delay)
}

// Swept sends to the queues of all workers that process rows of the Work table.
type Swept struct {
	Work     Work
	Attempts Attempts
}

// Send enqueues a due row for the responsible worker. Send rejects rows that are not in the Work table.
func (q Swept) Send(ctx context.Context, i due.Item, delay time.Duration) error {
	if i.Kind == due.Attempt {
		return q.Attempts.Send(ctx, i, delay)
	}
	return q.Work.Send(ctx, i, delay)
}

// Work sends to the queues of the webhook worker and the export worker.
type Work struct {
	Deliveries

	exports destination
}

// NewWork returns a Work that sends to the queues at exportURL and deliveryURL.
func NewWork(client Client, exportURL, deliveryURL string) Work {
	return Work{NewDeliveries(client, deliveryURL), destination{client, exportURL}}
}

// EnqueueTask asks the export worker to process a task after a delay.
func (q Work) EnqueueTask(ctx context.Context, tenant org.Tenant, taskID string, delay time.Duration) error {
	return q.Send(ctx, due.Item{Tenant: tenant, Kind: due.Task, ID: taskID}, delay)
}

// Send enqueues a due task, event, delivery, notice or share for the responsible worker. Send rejects rows of other
// kinds.
func (q Work) Send(ctx context.Context, i due.Item, delay time.Duration) error {
	switch i.Kind {
	case due.Task, due.Share:
		return q.exports.send(ctx, i, delay)
	case due.Event, due.Delivery, due.Notice:
		return q.send(ctx, i, delay)
	case due.Connection, due.Attempt:
	}
	return errKind
}

// errKind is the error for a row whose worker reads a different queue. This queue's worker would discard the message as
// a poison message.
var errKind = errors.New("queue: no worker of this queue looks after rows of this kind")

// group returns a tenant's message group. In standard queues, SQS uses message groups for fairness: one group's backlog
// does not delay other groups (docs/adr/0015-a-share-for-each-organisation.md). Smaller groups, such as one per
// webhook, would have too little traffic for SQS fair queues to take effect.
func group(tenant org.Tenant) string { return string(tenant.Mode) + "-" + tenant.OrgID }

type destination struct {
	client Client
	url    string
}

// send enqueues a reference to a row. The delay is rounded up to whole seconds and capped at due.LongestDelay. A
// message is only a hint: the worker skips a row that is not yet due.
func (d destination) send(ctx context.Context, i due.Item, delay time.Duration) error {
	body, err := i.Encode()
	if err != nil {
		return err
	}
	tenants := group(i.Tenant)
	seconds := (min(max(delay, 0), due.LongestDelay) + time.Second - 1) / time.Second
	_, err = d.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &d.url, MessageBody: &body, DelaySeconds: int32(seconds),
		MessageGroupId: &tenants, MessageSystemAttributes: traced(ctx),
	})
	if err != nil {
		// Callers often ignore send failures, so the log line must record each failure.
		name := d.url[strings.LastIndexByte(d.url, '/')+1:]
		logx.Add(ctx, slog.String("unsent_to", name), slog.String("unsent_class", classOf(err)))
		return fault.Spot{Queue: name}.Failed(fmt.Errorf("send message: %w", err))
	}
	return nil
}

// traced returns the attribute that links a message to the sender's trace, or nil if there is no trace.
func traced(ctx context.Context) map[string]types.MessageSystemAttributeValue {
	header := trace.Header(ctx)
	if header == "" {
		return nil
	}
	return map[string]types.MessageSystemAttributeValue{
		string(types.MessageSystemAttributeNameForSendsAWSTraceHeader): {
			DataType:    aws.String("String"),
			StringValue: &header,
		},
	}
}

// classOf returns the AWS error code, or "no_answer" if AWS did not respond.
func classOf(err error) string {
	if known, ok := errors.AsType[smithy.APIError](err); ok {
		return known.ErrorCode()
	}
	return "no_answer"
}
