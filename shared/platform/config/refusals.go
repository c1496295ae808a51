package config

import (
	"context"
	"errors"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"

	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

// countRefusals makes every SDK client count the calls that an AWS service throttled or failed. Each attempt is
// counted, because failed attempts that precede a success are an early sign of trouble and are not reported elsewhere.
// AWS publishes some of these counts, but only per account.
func countRefusals(stack *middleware.Stack) error {
	if _, tried := stack.Finalize.Get((*retry.Attempt)(nil).ID()); !tried {
		return nil // if a URL is presigned, another client sends the request
	}
	//nolint:wrapcheck // fails when the SDK has no retries any more
	return stack.Finalize.Insert(counting{}, "Retry", middleware.After)
}

type counting struct{}

// ID implements middleware.FinalizeMiddleware.
func (counting) ID() string { return "CountRefusals" }

// HandleFinalize implements middleware.FinalizeMiddleware.
func (counting) HandleFinalize(
	ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
) (middleware.FinalizeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleFinalize(ctx, in)
	if name, ok := refusal(ctx, err); ok {
		logx.Measure(ctx, metric.Count(name, awsmiddleware.GetServiceID(ctx)))
	}
	return out, metadata, err //nolint:wrapcheck // the SDK reads the error's type to decide on a retry
}

// refusal returns the metric that counts err and reports whether there is one. Invalid requests and calls cancelled by
// this service are not counted.
func refusal(ctx context.Context, err error) (metric.Name, bool) {
	if err == nil || ctx.Err() != nil {
		return "", false
	}
	if (retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}).IsErrorThrottle(err) == aws.TrueTernary {
		return metric.Throttled, true
	}
	status := 0 // zero if no response arrived
	if answer, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err); ok {
		status = answer.HTTPStatusCode()
	}
	return metric.Unanswered, status == 0 || status >= http.StatusInternalServerError
}
