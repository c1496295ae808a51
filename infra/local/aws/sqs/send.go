package sqs

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"recordbridge/infra/local/aws/wire"
)

const maxAttributes = 10

// outgoing is one message of SendMessage, or one entry of SendMessageBatch, where ID names the entry.
type outgoing struct {
	ID                string `json:"Id"`
	MessageBody       string
	DelaySeconds      *int
	MessageAttributes map[string]attribute
	MessageGroupID    string `json:"MessageGroupId"`
}

type sent struct {
	ID                     string `json:"Id,omitempty"`
	MessageID              string `json:"MessageId"`
	MD5OfMessageBody       string `json:"MD5OfMessageBody"`
	MD5OfMessageAttributes string `json:"MD5OfMessageAttributes,omitempty"`
}

type sendMessageInput struct {
	outgoing

	QueueURL string `json:"QueueUrl"`
}

func (s *Server) sendMessage(_ context.Context, in *sendMessageInput) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	return s.enqueue(q, in.outgoing)
}

type sendMessageBatchInput struct {
	QueueURL string `json:"QueueUrl"`
	Entries  []outgoing
}

func (s *Server) sendMessageBatch(_ context.Context, in *sendMessageBatchInput) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, entry := range in.Entries {
		total += entry.size()
	}
	if total > maxMessageBytes {
		return nil, wire.Fail("BatchRequestTooLong", "Batch requests cannot be longer than %d bytes. You have sent %d bytes.", maxMessageBytes, total)
	}
	return batch(in.Entries, func(e outgoing) string { return e.ID },
		func(e outgoing) (any, error) { return s.enqueue(q, e) })
}

func (s *Server) enqueue(q *queue, in outgoing) (any, error) {
	if err := in.check(q.settings.maxBytes); err != nil {
		return nil, err
	}
	delay, err := ranged("DelaySeconds", in.DelaySeconds, q.settings.delay, 0, maxDelaySeconds)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	m := &message{
		ID: uuid.NewString(), Body: in.MessageBody, Attributes: in.MessageAttributes, GroupID: in.MessageGroupID,
		Sent: now, VisibleAt: now.Add(time.Duration(delay) * time.Second),
	}
	if err := s.commit(record{Kind: kindSend, Queue: q.name, Message: m}); err != nil {
		return nil, err
	}
	return sent{
		ID: in.ID, MessageID: m.ID,
		MD5OfMessageBody:       hexMD5([]byte(m.Body)),
		MD5OfMessageAttributes: attributesMD5(m.Attributes),
	}, nil
}

// size is what counts against the limit: the body and, of every attribute, its name, type and value.
func (o outgoing) size() int {
	total := len(o.MessageBody)
	for name, value := range o.MessageAttributes {
		total += len(name) + len(value.DataType) + len(value.BinaryValue)
		if value.StringValue != nil {
			total += len(*value.StringValue)
		}
	}
	return total
}

func (o outgoing) check(maxBytes int) error {
	if o.MessageBody == "" {
		return wire.Fail("MissingParameter", "The request must contain the parameter MessageBody.")
	}
	if o.size() > maxBytes {
		return wire.Fail("InvalidParameterValue", "One or more parameters are invalid. Reason: Message must be shorter than %d bytes.", maxBytes)
	}
	if strings.ContainsFunc(o.MessageBody, forbidden) {
		return wire.Fail("InvalidMessageContents", "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF")
	}
	if len(o.MessageGroupID) > 128 {
		return wire.Fail("InvalidParameterValue", "Value for parameter MessageGroupId is invalid. Reason: MessageGroupId can only include 1 to 128 characters.")
	}
	if len(o.MessageAttributes) > maxAttributes {
		return wire.Fail("InvalidParameterValue", "Number of message attributes [%d] exceeds the allowed maximum [%d].", len(o.MessageAttributes), maxAttributes)
	}
	for name, value := range o.MessageAttributes {
		if !value.valid() {
			return wire.Fail("InvalidParameterValue", "The message attribute '%s' must contain a non-empty value of a supported type.", name)
		}
	}
	return nil
}

func (a attribute) valid() bool {
	kind, _, _ := strings.Cut(a.DataType, ".")
	switch kind {
	case "String", "Number":
		return a.StringValue != nil && *a.StringValue != ""
	case "Binary":
		return len(a.BinaryValue) > 0
	default:
		return false
	}
}

// forbidden reports whether a message body may not hold r. JSON decoding turns bytes that are no UTF-8 into U+FFFD,
// which is allowed, so such bodies pass here as they do in SQS.
func forbidden(r rune) bool {
	return (r < 0x20 && r != '\t' && r != '\n' && r != '\r') || r == 0xFFFE || r == 0xFFFF || !utf8.ValidRune(r)
}
