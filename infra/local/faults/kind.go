package faults

import "strings"

// Kind is a kind of fault.
type Kind int

// Kinds of faults. After means that the call has taken effect and only its response is lost.
const (
	None           Kind = iota
	Throttled           // refused by rate limit, with the service's own error
	FailedBefore        // status 500, nothing was done
	FailedAfter         // status 500, everything was done
	BrokenBefore        // the connection breaks before anything is done
	BrokenAfter         // the connection breaks after everything is done
	TimedOutBefore      // as BrokenBefore, after a long silence
	TimedOutAfter       // as BrokenAfter, after a long silence
	Conflicted          // conflict with a transaction on the same row; only DynamoDB writes, others pass
	Doubled             // a message that is delivered a second time
	Reordered           // a message that overtakes an older one
)

// String returns the kind's name for a log.
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

// afterEffect reports whether the service executes the call.
func (k Kind) afterEffect() bool { return k == FailedAfter || k == BrokenAfter || k == TimedOutAfter }

// conflicts reports whether a DynamoDB operation can conflict with a transaction on the same row.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html
func conflicts(operation string) bool {
	return operation == "PutItem" || operation == "UpdateItem" || operation == "DeleteItem" ||
		strings.HasPrefix(operation, "Transact")
}
