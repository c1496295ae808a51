package sqs

import (
	"encoding/json"
	"strconv"
	"time"

	"recordbridge/infra/local/aws/wire"
)

const (
	maxMessageBytes      = 1 << 20
	maxDelaySeconds      = 900
	maxWaitSeconds       = 20
	maxVisibilitySeconds = 12 * 60 * 60

	kmsReuse = "KmsDataKeyReusePeriodSeconds"
	sqsSSE   = "SqsManagedSseEnabled"
)

// settings are the attributes of a queue that change what it does.
type settings struct {
	visibility, delay, wait int // seconds
	retention               time.Duration
	maxBytes                int
	deadLetterARN           string // "" without a redrive policy
	maxReceives             int
	redrivers               redrivers
}

// number is the range and default of a numeric queue attribute.
type number struct{ low, high, fallback int }

func numbers() map[string]number {
	return map[string]number{
		"DelaySeconds":                  {0, maxDelaySeconds, 0},
		kmsReuse:                        {60, 86_400, 300},
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
		n, isNumber := numbers()[name]
		value, noNumber := strconv.Atoi(text)
		switch {
		case isNumber && (noNumber != nil || value < n.low || value > n.high):
			return settings{}, badAttribute(name)
		case isNumber:
			values[name] = value
		default:
			if err := out.parseText(name, text); err != nil {
				return settings{}, err
			}
		}
	}
	if attributes["KmsMasterKeyId"] != "" && attributes[sqsSSE] == "true" {
		return settings{}, wire.Fail("InvalidAttributeName", "You can use one type of server-side encryption (SSE) at one time. You can either enable KMS SSE or SQS SSE.")
	}
	out.delay, out.wait = values["DelaySeconds"], values["ReceiveMessageWaitTimeSeconds"]
	out.visibility, out.maxBytes = values["VisibilityTimeout"], values["MaximumMessageSize"]
	out.retention = time.Duration(values["MessageRetentionPeriod"]) * time.Second
	return out, nil
}

// parseText reads an attribute that is no number. What is only shown again has to have the right form all the same.
func (out *settings) parseText(name, text string) (err error) {
	switch name {
	case "KmsMasterKeyId":
	case "Policy":
		if text != "" && !json.Valid([]byte(text)) {
			return badAttribute(name)
		}
	case sqsSSE:
		if text != "true" && text != "false" {
			return badAttribute(name)
		}
	case "RedrivePolicy":
		out.deadLetterARN, out.maxReceives, err = parseRedrive(text)
	case "RedriveAllowPolicy":
		out.redrivers, err = parseRedrivers(text)
	case "FifoQueue":
		if text == "true" {
			return wire.Fail("UnsupportedOperation", "FIFO queues are not part of the embedded AWS.")
		}
		return unknownAttribute(name)
	default:
		return unknownAttribute(name)
	}
	return err
}

func badAttribute(name string) error {
	return wire.Fail("InvalidAttributeValue", "Invalid value for the parameter %s.", name)
}

func unknownAttribute(name string) error {
	return wire.Fail("InvalidAttributeName", "Unknown Attribute %s.", name)
}
