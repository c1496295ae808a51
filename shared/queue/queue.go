// Package queue sends nudges over SQS: messages that tell a worker to look at a row. They carry ids only (package due),
// so losing, doubling or reading one does no harm; the sweeper makes up for the lost ones.
package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/shared/due"
	"recordbridge/shared/org"
)

// Client is the part of the SQS client that is used.
type Client interface {
	SendMessage(ctx context.Context, in *sqs.SendMessageInput, o ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
}

// longestDelay is SQS's limit for DelaySeconds.
const longestDelay = 15 * time.Minute

// Queue sends to the workers' queues. A function that never nudges one of them leaves its URL empty.
type Queue struct {
	Client      Client
	ExportURL   string
	DeliveryURL string
	RefreshURL  string
}

// NudgeTask tells the export worker to look at a task after a delay.
func (q Queue) NudgeTask(ctx context.Context, tenant org.Tenant, taskID string, delay time.Duration) error {
	return q.Send(ctx, due.Item{Tenant: tenant, Kind: due.Task, ID: taskID}, delay)
}

// NudgeEvent tells the webhook worker to fan an event out.
func (q Queue) NudgeEvent(ctx context.Context, tenant org.Tenant, eventID string) error {
	return q.Send(ctx, due.Item{Tenant: tenant, Kind: due.Event, ID: eventID}, 0)
}

// NudgeConnection tells the refresh worker to look at a connection.
func (q Queue) NudgeConnection(ctx context.Context, tenant org.Tenant, id string) error {
	return q.Send(ctx, due.Item{Tenant: tenant, Kind: due.Connection, ID: id}, 0)
}

// NudgeDelivery tells the webhook worker to attempt a delivery after a delay. A slow receiver holds up neither other
// tenants nor the other webhooks of its own.
func (q Queue) NudgeDelivery(ctx context.Context, tenant org.Tenant, id, subscriptionID string, delay time.Duration) error {
	return q.send(ctx, due.Item{Tenant: tenant, Kind: due.Delivery, ID: id}, group(tenant)+"-"+subscriptionID, delay)
}

// NudgeNotice tells the webhook worker to send an e-mail.
func (q Queue) NudgeNotice(ctx context.Context, tenant org.Tenant, id string) error {
	return q.Send(ctx, due.Item{Tenant: tenant, Kind: due.Notice, ID: id}, 0)
}

// Send nudges the worker in charge of the item. A delay is rounded up to whole seconds and cut at 15 minutes.
func (q Queue) Send(ctx context.Context, i due.Item, delay time.Duration) error {
	return q.send(ctx, i, group(i.Tenant), delay)
}

// group names what a standard queue is fair between: a backlog of one group does not hold up the others.
func group(tenant org.Tenant) string { return string(tenant.Mode) + "-" + tenant.OrgID }

func (q Queue) send(ctx context.Context, i due.Item, group string, delay time.Duration) error {
	body, err := i.Encode()
	if err != nil {
		return err
	}
	url := q.urlOf(i.Kind)
	seconds := (min(max(delay, 0), longestDelay) + time.Second - 1) / time.Second
	_, err = q.Client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &url, MessageBody: &body, DelaySeconds: int32(seconds),
		MessageGroupId: &group,
	})
	if err != nil {
		return fmt.Errorf("send message: %w", err)
	}
	return nil
}

func (q Queue) urlOf(kind due.Kind) string {
	switch kind {
	case due.Task:
		return q.ExportURL
	case due.Connection:
		return q.RefreshURL
	case due.Event, due.Delivery, due.Notice:
	}
	return q.DeliveryURL
}
