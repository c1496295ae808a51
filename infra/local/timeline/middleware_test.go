package timeline_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/local/timeline"
)

// answer returns a fake service that reads the request and returns the given response.
func answer(status int, body string) wire.Handler {
	return func(w http.ResponseWriter, r *http.Request, _ wire.Call) {
		_, _ = io.Copy(io.Discard, r.Body)
		if status != http.StatusOK {
			w.WriteHeader(status)
		}
		_, _ = io.WriteString(w, body)
	}
}

// call makes an AWS call through the middleware. If trace is "", the call has no trace ID.
func call(t *testing.T, r *timeline.Recorder, service, operation, body, trace string,
	serve wire.Handler,
) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	if trace != "" {
		request.Header.Set("X-Amzn-Trace-Id", "Root="+trace+";Sampled=0")
	}
	recorder := httptest.NewRecorder()
	r.Middleware()(serve)(recorder, request, wire.Call{Service: service, Operation: operation, Caller: "F"})
	return recorder
}

func TestCallIsAssignedToInvocationWithItsTraceID(t *testing.T) {
	t.Parallel()
	r := recorder()
	r.Requested("1-a", "F", nil) // at 1 ms on the test's clock
	r.Assigned("1-a", "")        // at 2 ms on the test's clock
	// On the test's clock, the first call lasts from 3 ms to 4 ms and the second from 5 ms to 6 ms.
	passed := call(t, r, "dynamodb", "PutItem", `{"Item":{"pk":{"S":"SENTINEL"}},"TableName":"local-WorkTable"}`, "1-a",
		answer(200, "{}"))
	if passed.Code != 200 || passed.Body.String() != "{}" {
		t.Errorf("got %d %s behind the middleware", passed.Code, passed.Body)
	}
	refusal := `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"SENTINEL"}`
	call(t, r, "dynamodb", "UpdateItem", `{"TableName":"local-WorkTable"}`, "1-a", answer(400, refusal))
	call(t, r, "dynamodb", "GetItem", `{}`, "", answer(200, "{}"))
	call(t, r, "dynamodb", "GetItem", `{}`, "1-unknown", answer(200, "{}"))
	want := []timeline.Call{
		{
			Service: "dynamodb", Operation: "PutItem", Target: "local-WorkTable", Start: 2, Duration: 1, Status: 200,
			BytesIn: 62, BytesOut: 2,
		},
		{
			Service: "dynamodb", Operation: "UpdateItem", Target: "local-WorkTable", Start: 4, Duration: 1, Status: 400,
			Error: "ConditionalCheckFailedException", BytesIn: 31, BytesOut: int64(len(refusal)),
		},
	}
	if diff := cmp.Diff(want, get(t, r, "1-a").Calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got := r.List(timeline.Filter{})[0]; got.CallCount != 2 || got.Calls != nil {
		t.Errorf("got %+v in the list, want the number of calls only", got)
	}
}

func TestCallWithoutTraceIsAssignedToSoleStartingProcess(t *testing.T) {
	t.Parallel()
	r := recorder()
	r.Requested("1-a", "F", nil)
	call(t, r, "ssm", "GetParameter", `{"Name":"/p"}`, "", answer(200, "{}")) // no process is starting yet
	r.Starting("1-a")
	call(t, r, "ssm", "GetParameter", `{"Name":"/p"}`, "", answer(200, "{}"))
	r.Requested("1-b", "F", nil)
	r.Starting("1-b")
	// ambiguous, because two processes are starting
	call(t, r, "ssm", "GetParameter", `{"Name":"/p"}`, "", answer(200, "{}"))
	r.Assigned("1-a", "")
	call(t, r, "ssm", "GetParameter", `{"Name":"/q"}`, "", answer(200, "{}"))
	r.Assigned("1-b", "")
	call(t, r, "ssm", "GetParameter", `{"Name":"/p"}`, "", answer(200, "{}")) // both processes have started
	for id, want := range map[string]string{"1-a": "/p", "1-b": "/q"} {
		if got := get(t, r, id).Calls; len(got) != 1 || got[0].Target != want || !got[0].Init {
			t.Errorf("%s: got %+v, want one call about %s", id, got, want)
		}
	}
}

func TestRunnerCallIsNotAssignedToInvocation(t *testing.T) {
	t.Parallel()
	r := recorder()
	r.Requested("1-a", "F", nil)
	r.Starting("1-a")
	request := httptest.NewRequest(http.MethodPost, "/", http.NoBody)
	request.RemoteAddr = ""
	r.Middleware()(answer(200, "{}"))(httptest.NewRecorder(), request,
		wire.Call{Service: "sqs", Operation: "DeleteMessageBatch", Caller: "F"})
	if got := get(t, r, "1-a").Calls; len(got) != 0 {
		t.Errorf("got %+v, want none", got)
	}
}

func TestCallTargetOmitsRequestContent(t *testing.T) {
	t.Parallel()
	tests := []struct{ service, operation, body, want string }{
		{
			"dynamodb", "Query",
			`{"TableName":"T","IndexName":"due","ExpressionAttributeValues":{":a":{"S":"SENTINEL"}}}`, "T due",
		},
		{
			"dynamodb", "TransactWriteItems",
			`{"TransactItems":[{"Put":{"TableName":"B"}},{"Update":{"TableName":"A"}},{"Delete":{"TableName":"B"}}]}`,
			"A, B (2 rows)",
		},
		{"dynamodb", "BatchGetItem", `{"RequestItems":{"T":{"Keys":[{}]}}}`, "T"},
		{"dynamodb", "GetItem", `no JSON`, ""},
		{"sqs", "SendMessage", `{"QueueUrl":"http://127.0.0.1/000000000000/Q","MessageBody":"SENTINEL"}`, "Q"},
		{"sqs", "StartMessageMoveTask", `{"SourceArn":"arn:aws:sqs:us-east-1:0:D"}`, "D"},
		{"kms", "Encrypt", `{"KeyId":"arn:aws:kms:us-east-1:0:alias/k","Plaintext":"SENTINEL"}`, "alias/k"},
		{"secretsmanager", "GetSecretValue", `{"SecretId":"arn:aws:secretsmanager:us-east-1:0:secret:s"}`, "s"},
		{"ssm", "GetParameter", `{"Name":"/p"}`, "/p"},
		{"ses", "SendEmail", `Action=SendEmail&Source=SENTINEL`, ""},
	}
	for _, test := range tests {
		t.Run(test.service+" "+test.operation, func(t *testing.T) {
			t.Parallel()
			r := recorder()
			r.Requested("1-a", "F", nil)
			call(t, r, test.service, test.operation, test.body, "1-a", answer(200, "{}"))
			if got := get(t, r, "1-a").Calls[0].Target; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestS3CallTargetIsObjectPath(t *testing.T) {
	t.Parallel()
	r := recorder()
	r.Requested("1-a", "F", nil)
	request := httptest.NewRequest(http.MethodGet, "/bucket/a%20b?X-Amz-Signature=SENTINEL", http.NoBody)
	request.Header.Set("X-Amzn-Trace-Id", "Root=1-a")
	missing := answer(404, `<?xml version="1.0"?><Error><Message>no</Message><Code>NoSuchKey</Code></Error>`)
	r.Middleware()(missing)(httptest.NewRecorder(), request, wire.Call{Service: "s3", Operation: "GetObject"})
	if got := get(t, r, "1-a").Calls[0]; got.Target != "bucket/a b" || got.Error != "NoSuchKey" || got.Status != 404 {
		t.Errorf("got %+v", got)
	}
}

func TestBrokenConnectionIsRecordedWithoutStatus(t *testing.T) {
	t.Parallel()
	r := recorder()
	r.Requested("1-a", "F", nil)
	func() {
		defer func() {
			if got := recover(); got != http.ErrAbortHandler { //nolint:errorlint // what was thrown, not what it wraps
				t.Errorf("got %v, want the panic to pass", got)
			}
		}()
		call(t, r, "sqs", "SendMessage", `{}`, "1-a",
			func(http.ResponseWriter, *http.Request, wire.Call) { panic(http.ErrAbortHandler) })
	}()
	if got := get(t, r, "1-a").Calls; len(got) != 1 || got[0].Status != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestRecorderKeepsFirstTwoHundredCallsOfInvocation(t *testing.T) {
	t.Parallel()
	r := recorder()
	r.Requested("1-a", "F", nil)
	for range 250 {
		call(t, r, "ssm", "GetParameter", `{}`, "1-a", answer(200, "{}"))
	}
	if got := get(t, r, "1-a"); len(got.Calls) != 200 || got.CallCount != 250 {
		t.Errorf("got %d of %d calls, want 200 of 250", len(got.Calls), got.CallCount)
	}
}
