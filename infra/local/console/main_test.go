package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/console"
	"recordbridge/infra/local/faults"
	"recordbridge/infra/local/timeline"
	"recordbridge/infra/local/triggers"
)

// evil contains scripts that would run if the page parsed it as HTML.
const evil = `<img src=x onerror="alert(1)"><script>alert(2)</script>`

type stack struct{ done []string }

func now() time.Time { return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC) }

func (s *stack) Links() console.Links {
	return console.Links{
		Stack: "embedded", BaseURL: "http://127.0.0.1:4566/v1",
		InboxURL: "http://127.0.0.1:4566/_local/inbox", RunFile: ".local/run.json",
	}
}

func (s *stack) Functions() []console.Function {
	return []console.Function{{
		ID: "SweeperFunction", Schedule: "every 1m0s", MemoryMB: 256, Timeout: "55s", Processes: 1, Invocations: 3,
		Log: []string{"<script>", "lost private_test_SENTINEL"},
	}}
}

func (s *stack) Mails() []console.Mail {
	return []console.Mail{{
		ID: "1", At: now(), From: "a@b.example", To: []string{"admin@alder.example"}, Subject: evil,
		Text: "…", HTML: evil, HasHTML: true,
	}}
}

func (s *stack) Webhooks() []console.Webhook {
	return []console.Webhook{
		{
			ID: 2, ReceivedAt: now(), Path: "/_local/inbox/alder", Signature: "wrong", Reason: "too old",
			Headers: map[string]string{"webhook-id": "1"}, Body: evil,
		},
		{
			ID: 1, ReceivedAt: now(), Path: "/_local/inbox/alder", Signature: "verified",
			Headers: map[string]string{}, Body: "{}",
		},
	}
}

func (s *stack) Fire(_ context.Context, function string) error {
	switch function {
	case "SweeperFunction":
		s.done = append(s.done, "fire "+function)
		return nil
	case "BrokenFunction":
		return errors.New("Runtime.ExitError: exit status 1")
	default:
		return fmt.Errorf("fire %q: %w", function, triggers.ErrNoSchedule)
	}
}

func (s *stack) Kill(function string) int {
	s.done = append(s.done, "kill "+function)
	return 2
}

// fixture is a console with a real embedded AWS and a real timeline recorder.
type fixture struct {
	http.Handler

	stack    *stack
	cloud    *aws.Cloud
	timeline *timeline.Recorder
}

func build(t *testing.T) fixture {
	t.Helper()
	cloud, err := aws.New(aws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := fixture{stack: &stack{}, cloud: cloud, timeline: timeline.New(now)}
	cfg := cloud.Config("console")
	f.Handler, err = console.New(console.Options{
		Stack: f.stack, Invocations: f.timeline, Tables: cloud.DynamoDB(), Queues: cloud.SQS(),
		QueueClient: sqs.NewFromConfig(cfg), Objects: s3.NewFromConfig(cfg), Faults: faults.NewByHand(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f fixture) serve(t *testing.T, method, target string, header map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequest(method, "http://127.0.0.1:4566"+target, http.NoBody)
	for name, value := range header {
		request.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	f.ServeHTTP(recorder, request)
	return recorder
}

// get requests an endpoint, checks the status and decodes the response into answer. parameters contains alternating
// names and values.
func (f fixture) get(t *testing.T, status int, answer any, path string, parameters ...string) {
	t.Helper()
	query := url.Values{}
	for i := 0; i+1 < len(parameters); i += 2 {
		query.Set(parameters[i], parameters[i+1])
	}
	got := f.serve(t, "GET", "/_local/api/"+path+"?"+query.Encode(), nil)
	if got.Code != status || got.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("GET %s: got %d %q %s", path, got.Code, got.Header().Get("Content-Type"), got.Body)
	}
	if err := json.Unmarshal(got.Body.Bytes(), answer); err != nil {
		t.Fatalf("GET %s: %v in %s", path, err, got.Body)
	}
}
