package faults

import (
	"net/http"
	"slices"
	"time"
)

// Call describes an external call made by an instance.
type Call struct {
	Kind  string    // kind of call, for sampling
	Reads bool      // true if the call changed no state outside the instance
	At    time.Time // time of completion
	Turn  int       // number of invocation starts and ends before the call; set by Life
}

// Points returns the numbers of the calls after which to crash so that each situation in wanted occurs exactly once.
// Calls are counted from 1.
//
// A crash destroys everything in the instance, so two crashes differ only in the state outside the instance. The state
// outside the instance consists of durable state, the data that other servers and callers have received, and the time.
// A read-only call doesn't change the state outside the instance. A crash after a read-only call is therefore
// equivalent to a crash after the preceding call, unless one of the following lies between the two calls:
//
//   - an effect: a write to AWS, or a request to another server, which that server has then received;
//   - the start or end of an invocation, since the caller then has its response;
//   - the passage of time, since leases, visibility timeouts and schedules depend on it.
//
// If calls are concurrent, a call in progress during the crash takes effect in both cases (see Life).
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

func isSameSituation(before, after Call) bool {
	return after.Reads && after.Turn == before.Turn && after.At.Equal(before.At)
}

// readers lists the read-only operations by X-Amz-Target. readers omits ReceiveMessage, because receiving a message
// hides it.
var readers = map[string]bool{
	"DynamoDB_20120810.GetItem": true, "DynamoDB_20120810.BatchGetItem": true, "DynamoDB_20120810.Query": true,
	"DynamoDB_20120810.Scan": true, "DynamoDB_20120810.TransactGetItems": true,
	"TrentService.Decrypt": true, "TrentService.Encrypt": true, "TrentService.GenerateDataKey": true,
	"TrentService.GetPublicKey": true, "TrentService.Sign": true, "TrentService.GenerateMac": true,
	"TrentService.VerifyMac": true,
	"AmazonSSM.GetParameter": true, "AmazonSSM.GetParameters": true, "AmazonSSM.GetParametersByPath": true,
	"secretsmanager.GetSecretValue": true, "AmazonSQS.GetQueueAttributes": true, "AmazonSQS.GetQueueUrl": true,
}

// ReadsOnly reports whether a request to AWS is read-only. Without an X-Amz-Target header, GET and HEAD requests are
// reads of S3. SES and the Query protocols use POST.
func ReadsOnly(r *http.Request) bool {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		return readers[target]
	}
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}
