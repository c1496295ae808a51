package store

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"recordbridge/shared/words/fault"
)

// NewClient returns a DynamoDB client whose errors contain the table, the operation (fault.Spot) and the AWS error
// code. The SDK's error message omits the table.
func NewClient(cfg aws.Config) *dynamodb.Client {
	return dynamodb.NewFromConfig(cfg, dynamodb.WithAPIOptions(func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Spot", locate), middleware.Before)
	}))
}

func locate(ctx context.Context, in middleware.InitializeInput,
	next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleInitialize(ctx, in)
	if err == nil {
		return out, metadata, nil
	}
	named := tablesOf(in.Parameters)
	spot := fault.Spot{Operation: awsmiddleware.GetOperationName(ctx)}
	if known, ok := errors.AsType[smithy.APIError](err); ok {
		spot.Class = known.ErrorCode()
	}
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		for i, reason := range cancelled.CancellationReasons { // one reason per write, in order
			if code := aws.ToString(reason.Code); code != "" && code != "None" && i < len(named) {
				named, spot.Class = named[i:i+1], code
				break
			}
		}
		if isThrottling(spot.Class) {
			spot.Dependency = dynamodb.ServiceID
		}
	}
	slices.Sort(named)
	spot.Table = strings.Join(slices.Compact(named), ",")
	return out, metadata, spot.Failed(err)
}

// isThrottling reports whether a transaction's cancellation reason is that DynamoDB throttled a write.
func isThrottling(code string) bool {
	return code == "ThrottlingError" || code == "ProvisionedThroughputExceeded"
}

// tablesOf returns the names of the tables in a request. For a transaction, tablesOf returns one table per write. It
// doesn't handle BatchGetItem, which is used only to read events in Work. The operation BatchGetItem therefore
// identifies the table by itself. Mentioning BatchGetItem's type here would link the operation into every function.
func tablesOf(request any) []string {
	switch in := request.(type) {
	case *dynamodb.GetItemInput:
		return []string{aws.ToString(in.TableName)}
	case *dynamodb.PutItemInput:
		return []string{aws.ToString(in.TableName)}
	case *dynamodb.UpdateItemInput:
		return []string{aws.ToString(in.TableName)}
	case *dynamodb.DeleteItemInput:
		return []string{aws.ToString(in.TableName)}
	case *dynamodb.QueryInput:
		return []string{aws.ToString(in.TableName)}
	case *dynamodb.TransactWriteItemsInput:
		return writtenTables(in)
	}
	return nil
}

func writtenTables(in *dynamodb.TransactWriteItemsInput) []string {
	named := make([]string, 0, len(in.TransactItems))
	for _, write := range in.TransactItems {
		switch {
		case write.Put != nil:
			named = append(named, aws.ToString(write.Put.TableName))
		case write.Update != nil:
			named = append(named, aws.ToString(write.Update.TableName))
		case write.Delete != nil:
			named = append(named, aws.ToString(write.Delete.TableName))
		case write.ConditionCheck != nil:
			named = append(named, aws.ToString(write.ConditionCheck.TableName))
		}
	}
	return named
}
