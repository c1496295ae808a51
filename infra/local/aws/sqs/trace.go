package sqs

import (
	"encoding/binary"
	"slices"

	"recordbridge/infra/local/aws/wire"
)

// traceHeader is the only system attribute that senders can set. The attribute contains the message's X-Ray trace
// header. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
const traceHeader = "AWSTraceHeader"

type attributeValue struct{ DataType, StringValue string }

func (in *sendMessageInput) checkTrace() error {
	for name, value := range in.MessageSystemAttributes {
		switch {
		case name != traceHeader:
			return wire.Fail("InvalidParameterValue", "Message system attribute name '%s' is invalid.", name)
		case value.DataType != "String" || value.StringValue == "":
			return wire.Fail("InvalidParameterValue",
				"The message system attribute '%s' must be a String that is not empty.", name)
		}
	}
	return nil
}

// hashOfTrace returns the hash that a sender can use to verify the attribute. It is the MD5 of the attribute's name,
// type, kind of value (one byte) and value. The name, type and value are each preceded by their length ("Calculating
// the MD5 message digest for message attributes" in
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html).
func (in *sendMessageInput) hashOfTrace() string {
	value, ok := in.MessageSystemAttributes[traceHeader]
	if !ok {
		return ""
	}
	long := func(text string) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...) //nolint:gosec // a request is smaller
	}
	const isText = "\x01"
	return hexMD5(slices.Concat(long(traceHeader), long(value.DataType), []byte(isText), long(value.StringValue)))
}
