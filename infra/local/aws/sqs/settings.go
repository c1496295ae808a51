package sqs

import (
	"slices"
	"strconv"
	"time"

	"recordbridge/infra/local/aws/wire"
)

const (
	maxMessageBytes      = 1 << 20
	maxDelaySeconds      = 900
	maxWaitSeconds       = 20
	maxVisibilitySeconds = 12 * 60 * 60

	attributeVisibility = "VisibilityTimeout"
	attributeRetention  = "MessageRetentionPeriod"
	attributeRedrive    = "RedrivePolicy"
)

type settings struct {
	visibility    int // seconds
	retention     time.Duration
	deadLetterARN string // dead-letter queue's ARN; "" if there is no redrive policy
	maxReceives   int
}

func defaults() map[string]string {
	return map[string]string{
		attributeVisibility: "30", attributeRetention: "345600", "DelaySeconds": "0", "ReceiveMessageWaitTimeSeconds": "0",
		"MaximumMessageSize": strconv.Itoa(maxMessageBytes), "SqsManagedSseEnabled": "true",
	}
}

// isUnset reports whether an attribute can be requested even though it has no default value.
func isUnset(name string) bool {
	return slices.Contains([]string{
		"KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds", "Policy", "RedriveAllowPolicy", attributeRedrive,
		"FifoQueue", "ContentBasedDeduplication", "DeduplicationScope", "FifoThroughputLimit",
	}, name)
}

// parseSettings parses a queue's attributes. It rejects invalid values and unknown or unsupported attributes.
func parseSettings(attributes map[string]string) (settings, error) {
	out := settings{visibility: 30, retention: 345_600 * time.Second}
	for name, text := range attributes {
		value, noNumber := strconv.Atoi(text)
		_, known := defaults()[name]
		switch {
		case name == attributeRedrive:
			var err error
			if out.deadLetterARN, out.maxReceives, err = parseRedrive(text); err != nil {
				return settings{}, err
			}
		case name == attributeVisibility && noNumber == nil && value >= 0 && value <= maxVisibilitySeconds:
			out.visibility = value
		case name == attributeRetention && noNumber == nil && value >= 60 && value <= 1_209_600:
			out.retention = time.Duration(value) * time.Second
		case name == attributeVisibility, name == attributeRetention:
			return settings{}, wire.Fail("InvalidAttributeValue", "Invalid value for the parameter %s.", name)
		case known || isUnset(name):
			return settings{}, unsupported("queues with an attribute " + name)
		default:
			return settings{}, unknownAttribute(name)
		}
	}
	return out, nil
}

func unknownAttribute(name string) error {
	return wire.Fail("InvalidAttributeName", "Unknown Attribute %s.", name)
}
