package ddb

import (
	"errors"
	"slices"
	"strings"

	"recordbridge/infra/local/aws/wire"
)

// cancellationReason is the outcome of one item in a cancelled transaction.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
type cancellationReason struct {
	Code    string
	Message string `json:",omitempty"`
	Item    any    `json:",omitempty"`
}

const (
	reasonNone     = "None"
	reasonConflict = "TransactionConflict"

	ongoing = "Transaction is ongoing for the item"
)

func noReasons(items int) []cancellationReason {
	return slices.Repeat([]cancellationReason{{Code: reasonNone}}, items)
}

// take derives the cancellation reason from err. A nil err means that the item did not cause the cancellation.
func (r *cancellationReason) take(err error) {
	failure, ok := errors.AsType[*wire.Error](err)
	if !ok {
		return
	}
	code := strings.TrimSuffix(failure.Code, "Exception")
	if code == "Validation" {
		code = "ValidationError"
	}
	*r = cancellationReason{Code: code, Message: failure.Message, Item: failure.Fields["Item"]}
}

func cancelled(reasons []cancellationReason) error {
	codes := make([]string, len(reasons))
	for i, reason := range reasons {
		codes[i] = reason.Code
	}
	if !slices.ContainsFunc(codes, func(code string) bool { return code != reasonNone }) {
		return nil
	}
	return &wire.Error{
		Code: "TransactionCanceledException",
		Message: "Transaction cancelled, please refer cancellation reasons for specific reasons [" +
			strings.Join(codes, ", ") + "]",
		Fields: map[string]any{"CancellationReasons": reasons},
	}
}
