package sqs

import (
	"context"
	"crypto/md5" //nolint:gosec // SQS's protocol names MD5; it protects nothing
	"encoding/hex"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"recordbridge/infra/local/aws/wire"
)

const invalidCharacters = "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | " +
	"#xE000 to #xFFFD | #x10000 to #x10FFFF"

// groupID matches valid message group IDs (API reference, SendMessage).
var groupID = regexp.MustCompile("^[!-~]{1,128}$")

type sendMessageInput struct {
	QueueURL       string `json:"QueueUrl"`
	MessageBody    string
	DelaySeconds   *int
	MessageGroupID *string `json:"MessageGroupId"`
	// As in SQS, MessageSystemAttributes may contain only traceHeader.
	MessageSystemAttributes map[string]attributeValue
	// The following parameters are not supported. A standard queue does not deduplicate messages, and no consumer reads
	// message attributes.
	MessageDeduplicationID *string `json:"MessageDeduplicationId"`
	MessageAttributes      map[string]any
}

type sent struct {
	MessageID                    string `json:"MessageId"`
	MD5OfMessageBody             string
	MD5OfMessageSystemAttributes string `json:",omitempty"`
}

type messageOperations struct{ *ledger }

func (o messageOperations) sendMessage(_ context.Context, in *sendMessageInput) (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q, err := o.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	if err = in.check(); err != nil {
		return nil, err
	}
	delay, err := ranged("DelaySeconds", in.DelaySeconds, 0, 0, maxDelaySeconds)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	m := &message{
		ID: uuid.NewString(), Body: in.MessageBody, GroupID: in.group(),
		Trace: in.MessageSystemAttributes[traceHeader].StringValue, Sent: now,
		VisibleAt: now.Add(time.Duration(delay) * time.Second),
	}
	if err := o.commit(record{Kind: kindSend, Queue: q.name, Message: m}); err != nil {
		return nil, err
	}
	return sent{
		MessageID: m.ID, MD5OfMessageBody: hexMD5([]byte(m.Body)),
		MD5OfMessageSystemAttributes: in.hashOfTrace(),
	}, nil
}

func (in *sendMessageInput) group() string {
	if in.MessageGroupID == nil {
		return ""
	}
	return *in.MessageGroupID
}

func (in *sendMessageInput) check() error {
	if in.MessageBody == "" {
		return missing("MessageBody")
	}
	if len(in.MessageBody) > maxMessageBytes {
		return wire.Fail("InvalidParameterValue",
			"One or more parameters are invalid. Reason: Message must be shorter than %d bytes.", maxMessageBytes)
	}
	if strings.ContainsFunc(in.MessageBody, forbidden) {
		return wire.Fail("InvalidMessageContents", "%s", invalidCharacters)
	}
	if in.MessageGroupID != nil && !groupID.MatchString(*in.MessageGroupID) {
		return wire.Fail("InvalidParameterValue",
			"Value %s for parameter MessageGroupId is invalid. Reason: MessageGroupId can only include alphanumeric and "+
				"punctuation characters. 1 to 128 in length.", *in.MessageGroupID)
	}
	if in.MessageDeduplicationID != nil {
		return wire.Fail("InvalidParameterValue",
			"Value %s for parameter MessageDeduplicationId is invalid. Reason: The request include parameter that is not "+
				"valid for this queue type.", *in.MessageDeduplicationID)
	}
	if len(in.MessageAttributes) > 0 {
		return unsupported("attributes of messages")
	}
	return in.checkTrace()
}

// forbidden reports whether SQS forbids r in a message body. JSON decoding replaces invalid UTF-8 with U+FFFD, which is
// allowed, so bodies that contain invalid UTF-8 are accepted, as in SQS.
func forbidden(r rune) bool {
	return (r < 0x20 && r != '\t' && r != '\n' && r != '\r') || r == 0xFFFE || r == 0xFFFF || !utf8.ValidRune(r)
}

func hexMD5(content []byte) string {
	sum := md5.Sum(content) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}
