package faults_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"recordbridge/infra/local/faults"
)

type probe struct {
	call     call
	throttle []string
	internal string
	write    bool // whether the operation is a DynamoDB write
}

func probes() map[string]probe {
	ddb := []string{"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"}
	transaction := []string{"TransactionCanceledException", "RequestLimitExceeded"}
	bucket := []string{"SlowDown"}
	plain := []string{"ThrottlingException"}
	return map[string]probe{
		"dynamodb.GetItem":            {get, ddb, "InternalServerError", false},
		"dynamodb.Query":              {query, ddb, "InternalServerError", false},
		"dynamodb.PutItem":            {put, ddb, "InternalServerError", true},
		"dynamodb.UpdateItem":         {update, ddb, "InternalServerError", true},
		"dynamodb.DeleteItem":         {remove, ddb, "InternalServerError", true},
		"dynamodb.TransactWriteItems": {transact, transaction, "InternalServerError", true},
		"sqs.SendMessage": {
			send,
			[]string{"RequestThrottled", "ThrottlingException"},
			"InternalFailure", false,
		},
		"s3.PutObject":                  {upload, bucket, "InternalError", false},
		"s3.DeleteObject":               {erase, bucket, "InternalError", false},
		"kms.GenerateDataKey":           {dataKey, plain, "KMSInternalException", false},
		"secretsmanager.GetSecretValue": {readSecret, plain, "InternalServiceError", false},
		"ssm.GetParameter":              {readParameter, plain, "InternalServerError", false},
		"ses.SendEmail":                 {mail, []string{"Throttling"}, "InternalFailure", false},
	}
}

// failOnce returns a bench whose plan makes the first call of an operation, such as "sqs.SendMessage", fail.
func failOnce(t *testing.T, operation string, kind faults.Kind, seed uint64) (*bench, *faults.Plan) {
	t.Helper()
	service, name, _ := strings.Cut(operation, ".")
	plan := faults.New(faults.Options{
		Seed: seed, Severity: faults.Severity{Silence: time.Minute},
		Rules: []faults.Rule{{Caller: caller, Service: service, Operation: name, N: 1, Kind: kind}},
	})
	return newBench(t, plan), plan
}

func TestThrottledCallReturnsServiceThrottlingError(t *testing.T) {
	t.Parallel()
	for operation, p := range probes() {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			seen := map[string]bool{}
			for seed := range uint64(12) {
				b, _ := failOnce(t, operation, faults.Throttled, seed)
				err := p.call(t.Context(), b.once())
				failure, ok := errors.AsType[smithy.APIError](err)
				if !ok || !slices.Contains(p.throttle, failure.ErrorCode()) || b.reachedService() != 0 {
					t.Fatalf("got %v after %d calls, want one of %q", err, b.reachedService(), p.throttle)
				}
				seen[failure.ErrorCode()] = true
			}
			if len(seen) != len(p.throttle) {
				t.Errorf("of %q only %v were seen", p.throttle, seen)
			}
		})
	}
}

func TestServiceFailureReturns500WhetherOrNotCallReachedService(t *testing.T) {
	t.Parallel()
	for operation, p := range probes() {
		for reached, kind := range []faults.Kind{faults.FailedBefore, faults.FailedAfter} {
			t.Run(operation+" "+kind.String(), func(t *testing.T) {
				t.Parallel()
				b, _ := failOnce(t, operation, kind, 1)
				err := p.call(t.Context(), b.once())
				failure, ok := errors.AsType[smithy.APIError](err)
				response, answered := errors.AsType[*awshttp.ResponseError](err)
				if !ok || failure.ErrorCode() != p.internal || !answered || response.HTTPStatusCode() != 500 {
					t.Errorf("got %v, want a 500 %s", err, p.internal)
				}
				if got := b.reachedService(); got != reached {
					t.Errorf("%d calls reached the service, want %d", got, reached)
				}
			})
		}
	}
}

func TestBrokenConnectionReturnsError(t *testing.T) {
	t.Parallel()
	for operation, p := range probes() {
		for i, kind := range []faults.Kind{
			faults.BrokenBefore, faults.BrokenAfter, faults.TimedOutBefore,
			faults.TimedOutAfter,
		} {
			reached := i % 2
			t.Run(operation+" "+kind.String(), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					b, _ := failOnce(t, operation, kind, 1)
					began := time.Now()
					err := p.call(t.Context(), b.once())
					if _, answered := errors.AsType[smithy.APIError](err); err == nil || answered ||
						!strings.Contains(err.Error(), "connection reset") {
						t.Errorf("got %v, want a connection reset", err)
					}
					if got := b.reachedService(); got != reached {
						t.Errorf("%d calls reached the service, want %d", got, reached)
					}
					silent := time.Since(began)
					if timedOut := kind == faults.TimedOutBefore ||
						kind == faults.TimedOutAfter; timedOut != (silent >= time.Second) || silent > time.Minute {
						t.Errorf("it broke after %v", silent)
					}
				})
			})
		}
	}
}

func TestSDKRetriesEveryFaultExceptTransactionCancellation(t *testing.T) {
	t.Parallel()
	for operation, p := range probes() {
		for kind := faults.Throttled; kind <= faults.TimedOutAfter; kind++ {
			t.Run(operation+" "+kind.String(), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					b, plan := failOnce(t, operation, kind, 1)
					err := p.call(t.Context(), b.cloud.Config(caller))
					_, cancelled := errors.AsType[*ddbtypes.TransactionCanceledException](err)
					if err != nil && (!cancelled || kind != faults.Throttled) {
						t.Errorf("got %v", err)
					}
					if got := plan.Injected(); len(got) != 1 || got[0].Kind != kind {
						t.Errorf("injected %v", got)
					}
				})
			})
		}
	}
}

func TestConflictFaultsAffectDynamoDBWrites(t *testing.T) {
	t.Parallel()
	for operation, p := range probes() {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			plan := faults.New(faults.Options{Severity: faults.Severity{Conflict: 1}})
			b := newBench(t, plan)
			err := p.call(t.Context(), b.once())
			single, isSingle := errors.AsType[*ddbtypes.TransactionConflictException](err)
			whole, isWhole := errors.AsType[*ddbtypes.TransactionCanceledException](err)
			switch {
			case operation == "dynamodb.TransactWriteItems":
				if !isWhole || !slices.Equal(codes(whole), []string{"None", "None", "TransactionConflict"}) {
					t.Errorf("got %v with %v", err, codes(whole))
				}
			case p.write:
				if !isSingle || single.ErrorMessage() != "Transaction is ongoing for the item" {
					t.Errorf("got %v", err)
				}
			case err != nil:
				t.Errorf("got %v", err)
			}
			if got := b.reachedService(); (got == 0) != p.write {
				t.Errorf("%d calls reached the service", got)
			}
		})
	}
}

// codes returns a cancellation's reason codes, sorted because the failing item is random.
func codes(cancelled *ddbtypes.TransactionCanceledException) []string {
	if cancelled == nil {
		return nil
	}
	found := make([]string, 0, len(cancelled.CancellationReasons))
	for _, reason := range cancelled.CancellationReasons {
		found = append(found, *reason.Code)
	}
	slices.Sort(found)
	return found
}

func TestThrottledTransactionIncludesCancellationReason(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for seed := range uint64(20) {
		b, _ := failOnce(t, "dynamodb.TransactWriteItems", faults.Throttled, seed)
		cancelled, ok := errors.AsType[*ddbtypes.TransactionCanceledException](transact(t.Context(), b.once()))
		if ok {
			seen[strings.Join(codes(cancelled), " ")] = true
		}
	}
	if len(seen) != 2 || !seen["None None ThrottlingError"] || !seen["None None ProvisionedThroughputExceeded"] {
		t.Errorf("got %v", seen)
	}
}

// TestHeadFaultReturnsStatusWithoutBody covers HEAD requests. Their responses have no body, so the SDK relies on the
// status.
func TestHeadFaultReturnsStatusWithoutBody(t *testing.T) {
	t.Parallel()
	b, _ := failOnce(t, "s3.HeadObject", faults.Throttled, 1)
	response, ok := errors.AsType[*awshttp.ResponseError](head(t.Context(), b.once()))
	if !ok || response.HTTPStatusCode() != 503 {
		t.Errorf("got %v, want a 503", response)
	}
}
