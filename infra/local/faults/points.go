package faults

import (
	"net/http"
	"slices"
	"time"
)

// Call describes a call that an instance has made to the world outside.
type Call struct {
	Kind  string    // what the call asks for, for whoever takes samples
	Reads bool      // the call left everything outside the instance as it was
	At    time.Time // when it was over
	Turn  int       // counts the starts and ends of invocations so far; set by Life
}

// Points returns the calls to crash after so that each situation among wanted occurs once. Calls are counted from 1.
//
// A crash destroys everything in the instance, so two crashes differ only in what is outside: in durable state, in what
// other servers and callers have received, and in the time. A call that only reads changes none of these. A crash after
// it is therefore the same as a crash after the call before, unless one of these lies between the two:
//
//   - an effect: a write to AWS, and each request to another server, since that server has then seen it;
//   - the start or end of an invocation, since the caller then has its answer;
//   - time, since leases, visibility timeouts and schedules depend on it.
//
// Of calls side by side, one that is under way during the crash takes effect in either case (Life).
func Points(calls []Call, wanted []int) []int {
	chosen := make([]int, 0, len(wanted))
	for _, n := range wanted {
		for n > 1 && isSameSituation(calls[n-2], calls[n-1]) {
			n--
		}
		chosen = append(chosen, n)
	}
	slices.Sort(chosen)
	return slices.Compact(chosen)
}

// isSameSituation reports whether crashes after two consecutive calls differ in nothing.
func isSameSituation(before, after Call) bool {
	return after.Reads && after.Turn == before.Turn && after.At.Equal(before.At)
}

// readers are the operations that change nothing, by X-Amz-Target. ReceiveMessage is not among them: it hides messages.
var readers = map[string]bool{
	"DynamoDB_20120810.GetItem": true, "DynamoDB_20120810.BatchGetItem": true, "DynamoDB_20120810.Query": true,
	"DynamoDB_20120810.Scan": true, "DynamoDB_20120810.TransactGetItems": true,
	"TrentService.Decrypt": true, "TrentService.Encrypt": true, "TrentService.GenerateDataKey": true,
	"TrentService.GetPublicKey": true, "TrentService.Sign": true, "TrentService.GenerateMac": true,
	"TrentService.VerifyMac": true,
	"AmazonSSM.GetParameter": true, "AmazonSSM.GetParameters": true, "AmazonSSM.GetParametersByPath": true,
	"secretsmanager.GetSecretValue": true, "AmazonSQS.GetQueueAttributes": true, "AmazonSQS.GetQueueUrl": true,
}

// ReadsOnly reports whether a request to AWS changes nothing there. S3 is the one service without a target that is
// read with GET or HEAD: SES and the query protocols use POST.
func ReadsOnly(r *http.Request) bool {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		return readers[target]
	}
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}
