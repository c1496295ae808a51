package console

import (
	"context"
	"errors"
	"net/http"
	"time"

	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"recordbridge/infra/local/aws/sqs"
)

const mostPeeked = 50 // maximum number of messages shown for a queue

// Queues provides read access to the embedded SQS's queues.
type Queues interface {
	Details() []sqs.QueueInfo
	Peek(queue string, limit int) (messages []sqs.Peeked, ok bool)
}

// QueueClient is the part of the SQS client that modifies queues.
type QueueClient interface {
	GetQueueUrl(context.Context, *awssqs.GetQueueUrlInput, ...func(*awssqs.Options)) (*awssqs.GetQueueUrlOutput, error)
	PurgeQueue(context.Context, *awssqs.PurgeQueueInput, ...func(*awssqs.Options)) (*awssqs.PurgeQueueOutput, error)
	StartMessageMoveTask(context.Context, *awssqs.StartMessageMoveTaskInput,
		...func(*awssqs.Options)) (*awssqs.StartMessageMoveTaskOutput, error)
}

type shownQueue struct {
	Name        string    `json:"name"`
	Visible     int       `json:"visible"`
	InFlight    int       `json:"in_flight"`
	Delayed     int       `json:"delayed"`
	DeadLetter  bool      `json:"dead_letter"`
	Oldest      time.Time `json:"oldest,omitzero"`
	DeadLetters string    `json:"dead_letters,omitempty"` // name of the queue's dead-letter queue
	MaxReceives int       `json:"max_receives,omitempty"`
	Serves      []string  `json:"serves,omitempty"` // queues that use this queue as their dead-letter queue
}

func (c *console) serveQueues(w http.ResponseWriter, _ *http.Request) {
	all := c.Queues.Details()
	shown := make([]shownQueue, len(all))
	for i, q := range all {
		shown[i] = shownQueue{
			Name: q.Name, Visible: q.Visible, InFlight: q.InFlight, Delayed: q.Delayed, DeadLetter: q.DeadLetter,
			Oldest: q.Oldest, DeadLetters: q.DeadLetters, MaxReceives: q.MaxReceives, Serves: q.Serves,
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"queues": shown})
}

func (c *console) serveMessages(w http.ResponseWriter, r *http.Request) {
	messages, ok := c.Queues.Peek(r.PathValue("queue"), mostPeeked)
	if !ok {
		writeError(w, http.StatusNotFound, "Queue not found.")
		return
	}
	for i := range messages {
		messages[i].Body = mask(messages[i].Body)
	}
	writeJSON(w, http.StatusOK, map[string]any{"messages": messages, "limit": mostPeeked})
}

func (c *console) serveRedrive(w http.ResponseWriter, r *http.Request) {
	before, ok := c.queue(r.PathValue("queue"))
	if !ok {
		writeError(w, http.StatusNotFound, "Queue not found.")
		return
	}
	if _, err := c.QueueClient.StartMessageMoveTask(r.Context(),
		&awssqs.StartMessageMoveTaskInput{SourceArn: &before.ARN}); err != nil {
		refuseAWS(w, err)
		return
	}
	after, _ := c.queue(before.Name)
	writeJSON(w, http.StatusOK, map[string]int{"moved": max(before.Visible-after.Visible, 0), "left": after.Visible})
}

func (c *console) servePurge(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("queue")
	queue, err := c.QueueClient.GetQueueUrl(r.Context(), &awssqs.GetQueueUrlInput{QueueName: &name})
	if err != nil {
		refuseAWS(w, err)
		return
	}
	if _, err := c.QueueClient.PurgeQueue(r.Context(), &awssqs.PurgeQueueInput{QueueUrl: queue.QueueUrl}); err != nil {
		refuseAWS(w, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"purged": name})
}

func (c *console) queue(name string) (sqs.QueueInfo, bool) {
	for _, q := range c.Queues.Details() {
		if q.Name == name {
			return q, true
		}
	}
	return sqs.QueueInfo{}, false
}

// refuseAWS responds with an error that an AWS client returned.
func refuseAWS(w http.ResponseWriter, err error) {
	failure, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		writeError(w, http.StatusBadGateway, err.Error())
		return
	}
	switch failure.ErrorCode() {
	case "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue", "ResourceNotFoundException", "NoSuchBucket",
		"NoSuchKey", "NotFound":
		writeError(w, http.StatusNotFound, failure.ErrorMessage())
	default:
		writeError(w, http.StatusBadRequest, failure.ErrorCode()+": "+failure.ErrorMessage())
	}
}
