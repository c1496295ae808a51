package sqs

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"recordbridge/infra/local/aws/wire"
)

const (
	maxMessageBytes      = 1 << 20
	maxDelaySeconds      = 900
	maxWaitSeconds       = 20
	maxVisibilitySeconds = 12 * 60 * 60
)

// settings are the attributes of a queue that change what it does.
type settings struct {
	visibility, delay, wait int // seconds
	retention               time.Duration
	maxBytes                int
	deadLetterARN           string // "" without a redrive policy
	maxReceives             int
}

// number is the range and default of a numeric queue attribute.
type number struct{ low, high, fallback int }

func numbers() map[string]number {
	return map[string]number{
		"DelaySeconds":                  {0, maxDelaySeconds, 0},
		"MaximumMessageSize":            {1024, maxMessageBytes, maxMessageBytes},
		"MessageRetentionPeriod":        {60, 1_209_600, 345_600},
		"ReceiveMessageWaitTimeSeconds": {0, maxWaitSeconds, 0},
		"VisibilityTimeout":             {0, maxVisibilitySeconds, 30},
	}
}

// parseSettings checks every attribute that a caller may set and reads the ones that matter here.
func parseSettings(attributes map[string]string) (settings, error) {
	values := map[string]int{}
	for name, n := range numbers() {
		values[name] = n.fallback
	}
	var out settings
	for name, text := range attributes {
		switch name {
		case "Policy", "KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds", "RedriveAllowPolicy", "SqsManagedSseEnabled":
		case "RedrivePolicy":
			var err error
			if out.deadLetterARN, out.maxReceives, err = parseRedrive(text); err != nil {
				return settings{}, err
			}
		case "FifoQueue":
			return settings{}, wire.Fail("UnsupportedOperation", "FIFO queues are not part of the embedded AWS.")
		default:
			n, known := numbers()[name]
			if !known {
				return settings{}, wire.Fail("InvalidAttributeName", "Unknown Attribute %s.", name)
			}
			value, err := strconv.Atoi(text)
			if err != nil || value < n.low || value > n.high {
				return settings{}, wire.Fail("InvalidAttributeValue", "Invalid value for the parameter %s.", name)
			}
			values[name] = value
		}
	}
	out.delay, out.wait = values["DelaySeconds"], values["ReceiveMessageWaitTimeSeconds"]
	out.visibility, out.maxBytes = values["VisibilityTimeout"], values["MaximumMessageSize"]
	out.retention = time.Duration(values["MessageRetentionPeriod"]) * time.Second
	return out, nil
}

// parseRedrive reads a RedrivePolicy. The empty text takes the policy away.
func parseRedrive(text string) (deadLetterARN string, maxReceives int, err error) {
	if text == "" {
		return "", 0, nil
	}
	var policy struct {
		DeadLetterTargetARN string          `json:"deadLetterTargetArn"`
		MaxReceiveCount     json.RawMessage `json:"maxReceiveCount"` // a number or a number in quotes
	}
	if json.Unmarshal([]byte(text), &policy) != nil {
		return "", 0, badRedrive(text, "Redrive policy is not a valid JSON map.")
	}
	if policy.DeadLetterTargetARN == "" || len(policy.MaxReceiveCount) == 0 {
		return "", 0, badRedrive(text, "Redrive policy does not contain mandatory attributes deadLetterTargetArn and maxReceiveCount.")
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
