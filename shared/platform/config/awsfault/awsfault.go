// Package awsfault distinguishes failures of AWS services from AWS's refusals of a particular request. Failures are
// counted and located in the same way, whether an SDK client (package config) or package awscall made the call.
package awsfault

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/metric"
)

// Metric returns the metric that counts a failed attempt at a call, and reports whether there is one. Invalid requests
// and calls cancelled by this service are not counted.
func Metric(ctx context.Context, err error) (metric.Name, bool) {
	if err == nil || ctx.Err() != nil {
		return "", false
	}
	if isThrottled(err) {
		return metric.Throttled, true
	}
	// Without permission to list a bucket, S3 also denies access to missing objects, which is not a failure.
	return metric.Unanswered, isUnanswered(err) || isConfigured(err) && codeOf(err) != "AccessDenied"
}

// Spot returns the location of a failed call to an AWS service. ok is false if the service refused the request itself,
// for example because a condition was false, or if the caller cancelled the call.
func Spot(ctx context.Context, service, operation string, err error) (at fault.Spot, ok bool) {
	isFailed := isThrottled(err) || isUnanswered(err) || isConfigured(err)
	if err == nil || errors.Is(ctx.Err(), context.Canceled) || !isFailed {
		return fault.Spot{}, false
	}
	return fault.Spot{Dependency: service, Operation: operation, Class: classOf(err)}, true
}

func isThrottled(err error) bool {
	return (retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}).IsErrorThrottle(err) == aws.TrueTernary
}

// isUnanswered reports whether the service failed or didn't respond.
func isUnanswered(err error) bool {
	answer, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err)
	return !ok || answer.HTTPStatusCode() == 0 || answer.HTTPStatusCode() >= http.StatusInternalServerError
}

// isConfigured reports whether the service refused the call because of the account's configuration, such as a disabled
// key or a missing permission. Repeating the request succeeds once an operator has corrected the configuration.
func isConfigured(err error) bool {
	return slices.Contains([]string{
		"AccessDenied", "AccessDeniedException", "DisabledException", "KMSInvalidStateException", "NotFoundException",
		"ResourceNotFoundException", "NoSuchBucket", "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue",
		"OverLimit", "ExpiredToken", "ExpiredTokenException", "UnrecognizedClientException", "InvalidClientTokenId",
		"InvalidSignatureException", "SignatureDoesNotMatch", "RequestTimeTooSkewed", "AccountSendingPausedException",
	}, codeOf(err))
}

// classOf returns AWS's error code or, if there is none, the class of a missing response.
func classOf(err error) string {
	switch code := codeOf(err); {
	case code != "":
		return code
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "no_answer"
}

func codeOf(err error) string {
	known, ok := errors.AsType[interface {
		error
		ErrorCode() string
	}](err)
	if !ok {
		return ""
	}
	return known.ErrorCode()
}
