package faults

import "strings"

// Kind is a kind of fault.
type Kind int

// Kinds of faults. If a kind's name contains "After", the call takes effect and only its response is lost.
const (
	None           Kind = iota
	Throttled           // the service's error for an exceeded rate limit
	FailedBefore        // status 500; the call does not take effect
	FailedAfter         // status 500 after the call has taken effect
	BrokenBefore        // the connection breaks before the call takes effect
	BrokenAfter         // the connection breaks after the call has taken effect
	TimedOutBefore      // like BrokenBefore, but after a long wait
	TimedOutAfter       // like BrokenAfter, but after a long wait
	Conflicted          // conflict with a transaction on the same row; only for DynamoDB writes
	Doubled             // a message is delivered twice
	Reordered           // a message overtakes an older one
)

// String returns the kind's name for logs.
func (k Kind) String() string {
	names := [...]string{
		None: "nothing", Throttled: "throttled", FailedBefore: "failed before the effect",
		FailedAfter:  "failed after the effect",
		BrokenBefore: "connection broken before the effect", BrokenAfter: "connection broken after the effect",
		TimedOutBefore: "timed out before the effect", TimedOutAfter: "timed out after the effect",
		Conflicted: "met another transaction", Doubled: "message doubled", Reordered: "message out of turn",
	}
	if k < 0 || int(k) >= len(names) {
		return "unknown kind"
	}
	return names[k]
}

// afterEffect reports whether the service executes the call despite the fault.
func (k Kind) afterEffect() bool { return k == FailedAfter || k == BrokenAfter || k == TimedOutAfter }

// conflicts reports whether an operation can conflict with a DynamoDB transaction on the same row.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html
func conflicts(operation string) bool {
	return operation == "PutItem" || operation == "UpdateItem" || operation == "DeleteItem" ||
		strings.HasPrefix(operation, "Transact")
}
