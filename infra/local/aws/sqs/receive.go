package sqs

import (
	"context"
	"slices"
	"strconv"
	"time"
)

const (
	maxReceiveBatch = 10
	maxInFlight     = 120_000 // short polls fail at this limit (developer guide, "Amazon SQS standard queue quotas")
	fullPause       = time.Second
)

type receiveMessageInput struct {
	QueueURL                    string `json:"QueueUrl"`
	MaxNumberOfMessages         *int
	WaitTimeSeconds             *int
	VisibilityTimeout           *int
	AttributeNames              []string // former name of MessageSystemAttributeNames
	MessageSystemAttributeNames []string
	MessageAttributeNames       []string // not supported, because messages have no attributes
}

type receiveMessageOutput struct {
	Messages []received `json:"Messages,omitempty"`
}

type received struct {
	MessageID     string `json:"MessageId"`
	ReceiptHandle string
	Body          string
	MD5OfBody     string
	Attributes    map[string]string `json:",omitempty"`
}

type poll struct {
	queueURL   string
	max        int
	visibility time.Duration
	deadline   time.Time
	short      bool // true to return immediately if no message is visible
	system     []string
}

// receiveOperations receives messages, and moves those received too often to the dead-letter queue.
type receiveOperations struct {
	*ledger

	draw Disorder
}

func (o *receiveOperations) receiveMessage(ctx context.Context, in *receiveMessageInput) (any, error) {
	p, err := o.newPoll(in)
	if err != nil {
		return nil, err
	}
	for {
		messages, again, err := o.take(p)
		if err != nil || len(messages) > 0 || again == nil {
			return receiveMessageOutput{Messages: messages}, err
		}
		if !again.sleep(ctx) {
			return receiveMessageOutput{}, nil // the caller disconnected
		}
	}
}

func (o *receiveOperations) newPoll(in *receiveMessageInput) (poll, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q, err := o.find(in.QueueURL)
	if err != nil {
		return poll{}, err
	}
	if len(in.MessageAttributeNames) > 0 {
		return poll{}, unsupported("attributes of messages")
	}
	most, err := ranged("MaxNumberOfMessages", in.MaxNumberOfMessages, 1, 1, maxReceiveBatch)
	if err != nil {
		return poll{}, err
	}
	wait, err := ranged("WaitTimeSeconds", in.WaitTimeSeconds, 0, 0, maxWaitSeconds)
	if err != nil {
		return poll{}, err
	}
	visibility, err := ranged("VisibilityTimeout", in.VisibilityTimeout, q.settings.visibility, 0, maxVisibilitySeconds)
	if err != nil {
		return poll{}, err
	}
	return poll{
		queueURL: in.QueueURL, max: most,
		visibility: time.Duration(visibility) * time.Second,
		short:      wait == 0,
		deadline:   time.Now().Add(time.Duration(wait) * time.Second),
		system:     slices.Concat(in.AttributeNames, in.MessageSystemAttributeNames),
	}, nil
}

// pause is the wait between two attempts of an empty poll. The pause ends after length or when wake is closed,
// whichever happens first.
type pause struct {
	length time.Duration
	wake   <-chan struct{}
}

// sleep waits for the pause to end, and returns false if ctx has ended.
func (p *pause) sleep(ctx context.Context) bool {
	timer := time.NewTimer(p.length)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.wake:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// taken is a message that a receive operation has removed from the schedule.
type taken struct {
	*message

	twice bool
}

// take receives up to p.max visible messages and makes them invisible. If no message is visible, take returns the delay
// before the next attempt, or nil if the poll has ended.
func (o *receiveOperations) take(p poll) ([]received, *pause, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q, err := o.find(p.queueURL)
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	most := min(p.max, q.spareInFlight(now))
	if most == 0 && p.short {
		return nil, nil, exceeded("OverLimit", "Too many messages are in flight.")
	}
	chosen, err := o.choose(q, most, now)
	// If the journal fails, return the chosen messages to the schedule, so that they are not lost.
	defer func() {
		for _, m := range chosen {
			if m.index < 0 {
				q.put(m.message)
			}
		}
	}()
	if err != nil {
		return nil, nil, err
	}
	var out []received
	for _, m := range chosen {
		r := record{Kind: kindReceive, Queue: q.name, ID: m.ID, At: now, Until: now.Add(p.visibility), Twice: m.twice}
		if m.twice {
			r.Until = now
		}
		if err := o.commit(r); err != nil {
			return nil, nil, err
		}
		out = append(out, m.deliver(p))
	}
	if len(out) > 0 || !now.Before(p.deadline) {
		return out, nil, nil
	}
	length := p.deadline.Sub(now)
	if most == 0 {
		length = min(length, fullPause)
	} else if at, ok := q.nextVisible(); ok {
		length = min(length, at.Sub(now))
	}
	return nil, &pause{length: length, wake: q.wake}, nil
}

// choose removes up to most messages from q's schedule, and moves messages received too often to the dead-letter queue.
// Even if choose fails, it returns the messages that it has removed, so that the caller can put them back.
func (o *receiveOperations) choose(q *queue, most int, now time.Time) ([]taken, error) {
	var chosen []taken
	for len(chosen) < most {
		m, twice := o.next(q, now)
		if m == nil {
			break
		}
		buried, err := o.moveToDeadLetters(q, m, now)
		if !buried {
			chosen = append(chosen, taken{m, twice})
		}
		if err != nil {
			return chosen, err
		}
	}
	return chosen, nil
}

// moveToDeadLetters moves m to the dead-letter queue if it has been received too often. As in SQS, the message is moved
// only when it would be received again.
func (o *receiveOperations) moveToDeadLetters(q *queue, m *message, now time.Time) (bool, error) {
	target := o.findARN(q.settings.deadLetterARN)
	if target == nil || m.Receives < q.settings.maxReceives {
		return false, nil
	}
	if err := o.commit(record{Kind: kindDeadLetter, Queue: q.name, ID: m.ID, At: now, Target: target.name}); err != nil {
		return false, err
	}
	return true, nil
}

func (m *message) deliver(p poll) received {
	return received{
		MessageID: m.ID, ReceiptHandle: m.handle(), Body: m.Body, MD5OfBody: hexMD5([]byte(m.Body)),
		Attributes: selected(m.systemAttributes(), p.system),
	}
}

func (m *message) systemAttributes() map[string]string {
	out := map[string]string{
		"SenderId":                         account,
		"SentTimestamp":                    strconv.FormatInt(m.Sent.UnixMilli(), 10),
		"ApproximateReceiveCount":          strconv.Itoa(m.Receives),
		"ApproximateFirstReceiveTimestamp": strconv.FormatInt(m.FirstReceived.UnixMilli(), 10),
	}
	if m.GroupID != "" {
		out["MessageGroupId"] = m.GroupID
	}
	if m.Trace != "" {
		out[traceHeader] = m.Trace
	}
	if m.SourceARN != "" {
		out["DeadLetterQueueSourceArn"] = m.SourceARN
	}
	return out
}
