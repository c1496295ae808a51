package sqs

import (
	"net/http"

	"recordbridge/infra/local/aws/wire"
)

// queryCode returns the code that SQS used in the Query protocol. SDKs prefer this code to the JSON protocol's code.
// Programs that compare strings see "AWS.SimpleQueueService.NonExistentQueue", while errors.As still matches
// *types.QueueDoesNotExist.
func queryCode(code string) string {
	switch code {
	case "QueueDoesNotExist":
		return "AWS.SimpleQueueService.NonExistentQueue"
	case "QueueNameExists":
		return "QueueAlreadyExists"
	case "BatchEntryIdsNotDistinct", "EmptyBatchRequest", "InvalidBatchEntryId",
		"PurgeQueueInProgress", "TooManyEntriesInBatchRequest", "UnsupportedOperation":
		return "AWS.SimpleQueueService." + code
	default:
		return code
	}
}

// unsupported returns the error for an SQS feature that the embedded service lacks. what is a plural noun that names
// the feature.
func unsupported(what string) error {
	return wire.Fail("UnsupportedOperation", "The embedded SQS has no %s.", what)
}

func missing(parameter string) error {
	return wire.Fail("MissingParameter", "The request must contain the parameter %s.", parameter)
}

// exceeded returns an error with status 403, as SQS does when a limit is exceeded.
func exceeded(code, message string) error {
	return &wire.Error{Code: code, Message: message, Status: http.StatusForbidden}
}

func outOfRange(parameter string, value, low, high int) error {
	return wire.Fail("InvalidParameterValue",
		"Value %d for parameter %s is invalid. Reason: Must be between %d and %d, if provided.",
		value, parameter, low, high)
}

// ranged returns *value, or fallback if value is nil. It returns an error if *value is not in [low, high].
func ranged(parameter string, value *int, fallback, low, high int) (int, error) {
	if value == nil {
		return fallback, nil
	}
	if *value < low || *value > high {
		return 0, outOfRange(parameter, *value, low, high)
	}
	return *value, nil
}
