package sqs_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/sqs"
	"recordbridge/infra/local/aws/wire"
)

var errDiskFull = errors.New("disk full")

// fullDisk is a journal that fails while full is true.
type fullDisk struct{ full bool }

func (j *fullDisk) Append(string, any) error {
	if j.full {
		return errDiskFull
	}
	return nil
}

func TestFailedJournalWriteLeavesQueueUnchanged(t *testing.T) {
	t.Parallel()
	var disk fullDisk
	server := sqs.New("http://127.0.0.1:4566", &disk)
	calls := []struct{ operation, body string }{
		{"SendMessage", `{"QueueUrl":"http://x/000000000000/live","MessageBody":"new"}`},
		{"ReceiveMessage", `{"QueueUrl":"http://x/000000000000/live","MaxNumberOfMessages":10}`},
		{"PurgeQueue", `{"QueueUrl":"http://x/000000000000/live"}`},
		{"SetQueueAttributes", `{"QueueUrl":"http://x/000000000000/live","Attributes":{"VisibilityTimeout":"1"}}`},
		{"CreateQueue", `{"QueueName":"another"}`},
	}
	call(t, server, "CreateQueue", `{"QueueName":"live"}`, http.StatusOK)
	for range 3 {
		call(t, server, "SendMessage", `{"QueueUrl":"http://x/000000000000/live","MessageBody":"old"}`, http.StatusOK)
	}
	for _, c := range calls {
		disk.full = true
		call(t, server, c.operation, c.body, http.StatusInternalServerError)
		disk.full = false
		want := []sqs.QueueState{{Name: "live", Visible: 3}}
		if diff := cmp.Diff(want, server.Snapshot()); diff != "" {
			t.Errorf("after a failed %s (-want +got):\n%s", c.operation, diff)
		}
	}
	answer := call(t, server, "ReceiveMessage", `{"QueueUrl":"http://x/000000000000/live","MaxNumberOfMessages":10}`,
		http.StatusOK)
	if got := strings.Count(answer, `"old"`); got != 3 {
		t.Errorf("received %d of the 3 messages afterwards", got)
	}
}

func TestReplayRejectsInvalidRecords(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"no record":            `5`,
		"an unknown kind":      `{"kind":"explode","queue":"live","id":"m"}`,
		"an unknown queue":     `{"kind":"purge","queue":"nowhere"}`,
		"an unknown message":   `{"kind":"delete","queue":"live","id":"nothing"}`,
		"a send of nothing":    `{"kind":"send","queue":"live"}`,
		"a move to nowhere":    `{"kind":"bury","queue":"live","id":"m","target":"nowhere"}`,
		"an unknown attribute": `{"kind":"attributes","queue":"live","attributes":{"Colour":"blue"}}`,
	}
	for name, record := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := sqs.New("http://127.0.0.1:4566", wire.Discard{})
			for _, earlier := range []string{
				`{"kind":"create","queue":"live","attributes":{}}`,
				`{"kind":"send","queue":"live","message":{"id":"m","body":"x","sent":"2026-11-21T00:00:00Z",` +
					`"visible_at":"2026-11-21T00:00:00Z"}}`,
			} {
				if err := server.Replay(json.RawMessage(earlier)); err != nil {
					t.Fatal(err)
				}
			}
			if err := server.Replay(json.RawMessage(record)); err == nil {
				t.Error("the record was accepted")
			}
		})
	}
}

// call sends a request without an SDK, because an SDK's retries would hide the failure.
func call(t *testing.T, server *sqs.Server, operation, body string, want int) string {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
	request.Header.Set("X-Amz-Target", "AmazonSQS."+operation)
	answer := httptest.NewRecorder()
	server.Serve(answer, request, wire.Call{Service: "sqs", Operation: server.Operation(request), Caller: "test"})
	if answer.Code != want {
		t.Fatalf("%s answered %d %s, want %d", operation, answer.Code, answer.Body, want)
	}
	return answer.Body.String()
}
