// Package queue sends messages over SQS that tell a worker to look at a row. They carry ids only (package due), so
// losing, doubling or reading one does no harm; the sweeper makes up for the lost ones. Each destination has a type of
// its own: a function cannot send to a queue that it was not wired to.
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
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/trace"
)

// Client is the part of the SQS client that is used.
type Client interface {
	SendMessage(ctx context.Context, in *sqs.SendMessageInput, o ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
}

// Deliveries sends to the webhook worker's queue.
type Deliveries struct{ destination }

// NewDeliveries makes the Deliveries of the queue at url.
func NewDeliveries(client Client, url string) Deliveries { return Deliveries{destination{client, url}} }

// EnqueueEvent tells the webhook worker to fan an event out.
func (q Deliveries) EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error {
	i := due.Item{Tenant: tenant, Kind: due.Event, ID: eventID}
	return q.send(ctx, i, 0)
}

// EnqueueDelivery tells the webhook worker to attempt a delivery after a delay.
func (q Deliveries) EnqueueDelivery(ctx context.Context, tenant org.Tenant, id string, delay time.Duration) error {
	return q.send(ctx, due.Item{Tenant: tenant, Kind: due.Delivery, ID: id}, delay)
}

// EnqueueNotice tells the webhook worker to send an e-mail.
func (q Deliveries) EnqueueNotice(ctx context.Context, tenant org.Tenant, id string) error {
	i := due.Item{Tenant: tenant, Kind: due.Notice, ID: id}
	return q.send(ctx, i, 0)
}

// Refreshes sends to the refresh worker's queue.
type Refreshes struct{ destination }

// NewRefreshes makes the Refreshes of the queue at url.
func NewRefreshes(client Client, url string) Refreshes { return Refreshes{destination{client, url}} }

// EnqueueConnection tells the refresh worker to look at a connection.
func (q Refreshes) EnqueueConnection(ctx context.Context, tenant org.Tenant, id string) error {
	return q.Send(ctx, due.Item{Tenant: tenant, Kind: due.Connection, ID: id}, 0)
}

// Send tells of a row that is due: a connection. Rows of other kinds are refused.
func (q Refreshes) Send(ctx context.Context, i due.Item, delay time.Duration) error {
	if i.Kind != due.Connection {
		return errKind
	}
	return q.send(ctx, i, delay)
}

// Attempts sends to the TEFCA worker's queue.
type Attempts struct{ destination }

// NewAttempts makes the Attempts of the queue at url.
func NewAttempts(client Client, url string) Attempts { return Attempts{destination{client, url}} }

// EnqueueAttempt tells the TEFCA worker to look at an attempt.
func (q Attempts) EnqueueAttempt(ctx context.Context, tenant org.Tenant, id string) error {
	return q.Send(ctx, due.Item{Tenant: tenant, Kind: due.Attempt, ID: id}, 0)
}

// Send tells of a row that is due: an attempt. Rows of other kinds are refused.
func (q Attempts) Send(ctx context.Context, i due.Item, delay time.Duration) error {
	if i.Kind != due.Attempt {
		return errKind
	}
	return q.send(ctx, i, delay)
}

// Swept sends to the queues of all workers whose rows stand in the Work table.
type Swept struct {
	Work     Work
	Attempts Attempts
}

// Send tells the worker in charge of a row that is due. Rows of the other tables are refused.
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

// NewWork makes the Work of the queues at the two addresses.
func NewWork(client Client, exportURL, deliveryURL string) Work {
	return Work{NewDeliveries(client, deliveryURL), destination{client, exportURL}}
}

// EnqueueTask tells the export worker to look at a task after a delay.
func (q Work) EnqueueTask(ctx context.Context, tenant org.Tenant, taskID string, delay time.Duration) error {
	return q.Send(ctx, due.Item{Tenant: tenant, Kind: due.Task, ID: taskID}, delay)
}

// Send tells the worker in charge of a row that is due: a task, event, delivery, notice or share. Rows of
// other kinds are refused.
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

// errKind refuses a row whose worker listens to another queue: sent there, it would be dropped as poison.
var errKind = errors.New("queue: no worker of this queue looks after rows of this kind")

// group names what a standard queue is fair between: a backlog of one group does not hold up the
// others (docs/adr/0015-a-share-for-each-organisation.md). Smaller groups, such as webhooks, would
// each be too quiet to be noticed.
func group(tenant org.Tenant) string { return string(tenant.Mode) + "-" + tenant.OrgID }

// destination is one queue.
type destination struct {
	client Client
	url    string
}

// send puts a row's name into the queue. A delay is rounded up to whole seconds and cut at due.LongestDelay: a
// message is a hint, and whoever claims the row finds that it is too early.
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
		// Who sends often goes on without a message, so the line has to tell.
		logx.Add(ctx, slog.String("unsent_to", d.url[strings.LastIndexByte(d.url, '/')+1:]),
			slog.String("unsent_class", classOf(err)))
		return fmt.Errorf("send message: %w", err)
	}
	return nil
}

// traced is what tells the worker which trace a message belongs to; nothing where its sender does not know.
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

// classOf is AWS's own word for a failure, or that there was no answer.
func classOf(err error) string {
	if known, ok := errors.AsType[smithy.APIError](err); ok {
		return known.ErrorCode()
	}
	return "no_answer"
}
