package sqs

import (
	"context"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"recordbridge/infra/local/aws/wire"
)

const invalidCharacters = "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF"

// groupID: API reference, SendMessage.
var groupID = regexp.MustCompile("^[!-~]{1,128}$")

// outgoing is one message of SendMessage, or one entry of SendMessageBatch, where ID names the entry.
type outgoing struct {
	ID                string `json:"Id"`
	MessageBody       string
	DelaySeconds      *int
	MessageAttributes map[string]attribute
	MessageGroupID    *string `json:"MessageGroupId"`
	// What follows is refused: a standard queue has no deduplication, and nobody here reads a trace header.
	MessageDeduplicationID  *string `json:"MessageDeduplicationId"`
	MessageSystemAttributes map[string]attribute
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
		ID: uuid.NewString(), Body: in.MessageBody, Attributes: in.MessageAttributes, GroupID: in.group(),
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

func (o outgoing) group() string {
	if o.MessageGroupID == nil {
		return ""
	}
	return *o.MessageGroupID
}

func (o outgoing) check(maxBytes int) error {
	if o.MessageBody == "" {
		return missing("MessageBody")
	}
	if o.size() > maxBytes {
		return wire.Fail("InvalidParameterValue", "One or more parameters are invalid. Reason: Message must be shorter than %d bytes.", maxBytes)
	}
	if strings.ContainsFunc(o.MessageBody, forbidden) {
		return wire.Fail("InvalidMessageContents", "%s", invalidCharacters)
	}
	if o.MessageGroupID != nil && !groupID.MatchString(*o.MessageGroupID) {
		return wire.Fail("InvalidParameterValue", "Value %s for parameter MessageGroupId is invalid. Reason: MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length.", *o.MessageGroupID)
	}
	if o.MessageDeduplicationID != nil {
		return wire.Fail("InvalidParameterValue", "Value %s for parameter MessageDeduplicationId is invalid. Reason: The request include parameter that is not valid for this queue type.", *o.MessageDeduplicationID)
	}
	if len(o.MessageSystemAttributes) > 0 {
		return wire.Fail("UnsupportedOperation", "MessageSystemAttributes are not part of the embedded AWS.")
	}
	return checkMessageAttributes(o.MessageAttributes)
}

// forbidden reports whether a message body may not hold r. JSON decoding turns bytes that are no UTF-8 into U+FFFD,
// which is allowed, so such bodies pass here as they do in SQS.
func forbidden(r rune) bool {
	return (r < 0x20 && r != '\t' && r != '\n' && r != '\r') || r == 0xFFFE || r == 0xFFFF || !utf8.ValidRune(r)
}
