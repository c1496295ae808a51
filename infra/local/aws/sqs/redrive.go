package sqs

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"recordbridge/infra/local/aws/wire"
)

type startMessageMoveTaskInput struct {
	SourceARN string `json:"SourceArn"`
	// The following parameters are not supported.
	DestinationARN string `json:"DestinationArn"`
	PerSecond      *int   `json:"MaxNumberOfMessagesPerSecond"`
}

type startMessageMoveTaskOutput struct {
	TaskHandle string
}

type moveOperations struct{ *ledger }

// startMessageMoveTask moves every visible dead letter back to its source queue before returning, whereas SQS moves
// them in the background.
func (o moveOperations) startMessageMoveTask(_ context.Context, in *startMessageMoveTaskInput) (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if in.SourceARN == "" {
		return nil, missing("SourceArn")
	}
	if in.DestinationARN != "" || in.PerSecond != nil {
		return nil, unsupported("moves to another queue and of a limited speed")
	}
	source := o.findARN(in.SourceARN)
	if source == nil {
		return nil, &wire.Error{
			Code: "ResourceNotFoundException", Status: http.StatusNotFound,
			Message: "The resource that you specified for the SourceArn parameter doesn't exist.",
		}
	}
	if !o.isDeadLetterQueue(source) {
		return nil, wire.Fail("InvalidParameterValue", "Source queue must be configured as a Dead Letter Queue.")
	}
	now := time.Now()
	var stay []*message
	defer func() {
		for _, m := range stay {
			source.put(m)
		}
	}()
	for m := source.next(now); m != nil; m = source.next(now) {
		target := o.findARN(m.SourceARN)
		if target == nil { // a message sent directly to the dead-letter queue has no source
			stay = append(stay, m)
			continue
		}
		if err := o.commit(record{
			Kind: kindRedrive, Queue: source.name, ID: m.ID, At: now, Target: target.name,
			NewID: uuid.NewString(),
		}); err != nil {
			stay = append(stay, m)
			return nil, err
		}
	}
	return startMessageMoveTaskOutput{TaskHandle: uuid.NewString()}, nil
}

func (l *ledger) isDeadLetterQueue(q *queue) bool {
	for _, other := range l.queues {
		if other.settings.deadLetterARN == q.arn() {
			return true
		}
	}
	return false
}

// parseRedrive parses a RedrivePolicy. An empty policy removes the current policy.
func parseRedrive(text string) (deadLetterARN string, maxReceives int, err error) {
	if text == "" {
		return "", 0, nil
	}
	var policy struct {
		DeadLetterTargetARN string          `json:"deadLetterTargetArn"`
		MaxReceiveCount     json.RawMessage `json:"maxReceiveCount"` // a number, with or without quotes
	}
	if json.Unmarshal([]byte(text), &policy) != nil {
		return "", 0, badRedrive(text, "Redrive policy is not a valid JSON map.")
	}
	if policy.DeadLetterTargetARN == "" || len(policy.MaxReceiveCount) == 0 {
		return "", 0, badRedrive(text, "Redrive policy does not contain mandatory attributes deadLetterTargetArn and "+
			"maxReceiveCount.")
	}
	count, err := strconv.Atoi(strings.Trim(string(policy.MaxReceiveCount), `"`))
	if err != nil || count < 1 || count > 1000 {
		return "", 0, badRedrive(text, "Invalid value for maxReceiveCount, must be between 1 and 1000.")
	}
	return policy.DeadLetterTargetARN, count, nil
}

func badRedrive(text, reason string) error {
	return wire.Fail("InvalidParameterValue", "Value %s for parameter RedrivePolicy is invalid. Reason: %s", text, reason)
}
