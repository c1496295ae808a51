package faults

import "strings"

// Kind is a way in which something goes wrong.
type Kind int

// The kinds. After means that the call has taken effect and only its answer is lost.
const (
	None           Kind = iota
	Throttled           // refused for its rate, in the words of its service
	FailedBefore        // answered 500, nothing was done
	FailedAfter         // answered 500, all was done
	BrokenBefore        // the connection breaks before anything was done
	BrokenAfter         // the connection breaks after all was done
	TimedOutBefore      // as BrokenBefore, after a long silence
	TimedOutAfter       // as BrokenAfter, after a long silence
	Conflicted          // met a transaction on the same row; writes of DynamoDB only, others are let through
	Doubled             // a message that comes a second time
	Reordered           // a message that overtakes an older one
)

// String names the kind for a log.
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

// afterEffect says whether the service carries the call out.
func (k Kind) afterEffect() bool { return k == FailedAfter || k == BrokenAfter || k == TimedOutAfter }

// conflicts says whether an operation of DynamoDB can meet a transaction on the same row.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html
func conflicts(operation string) bool {
	return operation == "PutItem" || operation == "UpdateItem" || operation == "DeleteItem" ||
		strings.HasPrefix(operation, "Transact")
}
