package config

import (
	"context"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"

	"recordbridge/shared/platform/config/awsfault"
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
	if name, ok := awsfault.Metric(ctx, err); ok {
		logx.Measure(ctx, metric.Count(name, awsmiddleware.GetServiceID(ctx)))
	}
	return out, metadata, err //nolint:wrapcheck // the SDK reads the error's type to decide on a retry
}

// locateOutages makes every SDK client's errors name the AWS service, the operation and the error code (fault.Outage)
// if the service failed.
func locateOutages(stack *middleware.Stack) error {
	//nolint:wrapcheck // fails only if the stack already has the middleware
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("LocateOutages", locateOutage), middleware.Before)
}

func locateOutage(ctx context.Context, in middleware.InitializeInput,
	next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleInitialize(ctx, in)
	at, ok := awsfault.Spot(ctx, awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx), err)
	if ok {
		at.Bucket = bucketOf(in.Parameters)
		err = at.Failed(err)
	}
	return out, metadata, err
}

// bucketOf returns the name of the bucket in a request to S3. It uses reflection because mentioning the requests' types
// would link S3 into every function.
func bucketOf(request any) string {
	of := reflect.Indirect(reflect.ValueOf(request))
	if of.Kind() != reflect.Struct {
		return ""
	}
	field := of.FieldByName("Bucket")
	if !field.IsValid() {
		return ""
	}
	name, _ := reflect.TypeAssert[*string](field)
	return aws.ToString(name)
}
