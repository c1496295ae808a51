package aws_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/aws/wire"
)

// counter is middleware that records every call and rejects calls to the operation named by refused.
type counter struct {
	refused string

	mu    sync.Mutex
	calls []wire.Call
}

func (c *counter) middleware(next wire.Handler) wire.Handler {
	return func(w http.ResponseWriter, r *http.Request, call wire.Call) {
		c.mu.Lock()
		c.calls = append(c.calls, call)
		c.mu.Unlock()
		if call.Operation == c.refused {
			wire.WriteJSONError(w, "1.0", wire.Fail("AccessDeniedException", "%s may not call %s", call.Caller, call.Operation))
			return
		}
		next(w, r, call)
	}
}

func TestMiddlewareReceivesServiceOperationAndCaller(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"dynamodb": {"CreateTable", "PutItem", "GetItem"},
		"s3":       {"CreateBucket", "PutObject", "GetObject"},
		"sqs":      {"CreateQueue", "SendMessage", "GetQueueUrl", "ReceiveMessage"},
		"kms": {
			"CreateKey", "CreateAlias", "GenerateDataKey", "CreateKey", "CreateAlias",
			"DescribeKey", "Decrypt",
		},
		"secretsmanager": {"CreateSecret", "PutSecretValue", "GetSecretValue"},
		"ssm":            {"PutParameter", "GetParameter"},
		"ses":            {"SendEmail"},
	}
	all := append(probes(), probe{"ses", sendMail, func(context.Context, awssdk.Config) error { return nil }})
	for _, p := range all {
		t.Run(p.service, func(t *testing.T) {
			t.Parallel()
			var count counter
			cloud := newCloud(t, aws.Options{Middleware: []wire.Middleware{count.middleware}})
			if err := p.fill(t.Context(), cloud.Config("ExportWorker")); err != nil {
				t.Fatal(err)
			}
			if err := p.check(t.Context(), cloud.Config("ExportWorker")); err != nil {
				t.Fatal(err)
			}
			expected := make([]wire.Call, 0, len(want[p.service]))
			for _, operation := range want[p.service] {
				expected = append(expected, wire.Call{Service: p.service, Operation: operation, Caller: "ExportWorker"})
			}
			if diff := cmp.Diff(expected, count.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMiddlewareCanRejectCall(t *testing.T) {
	t.Parallel()
	outer, inner := counter{refused: "SendMessage"}, counter{}
	cloud := newCloud(t, aws.Options{Middleware: []wire.Middleware{outer.middleware, inner.middleware}})
	err := fillQueue(t.Context(), cloud.Config("Connect"))
	failure, ok := errors.AsType[smithy.APIError](err)
	if !ok || failure.ErrorCode() != "AccessDeniedException" ||
		failure.ErrorMessage() != "Connect may not call SendMessage" {
		t.Errorf("got %v, want the refusal", err)
	}
	if got := cloud.SQS().Snapshot()[0].Visible; got != 0 {
		t.Errorf("%d messages were sent all the same", got)
	}
	if len(outer.calls) != 2 || len(inner.calls) != 1 {
		t.Errorf("the first middleware saw %d calls and the second %d, want 2 and 1", len(outer.calls), len(inner.calls))
	}
}

func TestServicesRespondOverHTTP(t *testing.T) {
	t.Parallel()
	for _, p := range probes() {
		t.Run(p.service, func(t *testing.T) {
			t.Parallel()
			cfg := overPort(t, newCloud(t, aws.Options{}))
			if err := p.fill(t.Context(), cfg); err != nil {
				t.Fatal(err)
			}
			if err := p.check(t.Context(), cfg); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestPresignedURLNeedsNoHeaders(t *testing.T) {
	t.Parallel()
	cloud := newCloud(t, aws.Options{})
	cfg := overPort(t, cloud)
	if err := fillBucket(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	presigned, err := s3.NewPresignClient(s3.NewFromConfig(cfg)).PresignGetObject(t.Context(), &s3.GetObjectInput{
		Bucket: awssdk.String("exports"), Key: awssdk.String("a b/../ü.ndjson"),
	})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, presigned.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if !cloud.Handles(request) {
		t.Error("a presigned URL does not count as a call to AWS")
	}
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil || string(content) != "content" {
		t.Errorf("got status %d, %q, %v", answer.StatusCode, content, err)
	}
}

func TestHandlesDistinguishesAWSFromOtherRoutes(t *testing.T) {
	t.Parallel()
	signed := "AWS4-HMAC-SHA256 Credential=Web/20261121/us-east-1/%s/aws4_request, SignedHeaders=host, Signature=0"
	tests := map[string]struct {
		url, header, value string
		want               bool
		status             int
		answer             string
	}{
		"an API route": {"/v1/exports", "", "", false, 403, "MissingAuthenticationToken"},
		"an API route with basic auth": {
			"/v1/exports", "Authorization", "Basic eDp5", false, 403,
			"MissingAuthenticationToken",
		},
		"a call without signature": {
			"/", "X-Amz-Target", "DynamoDB_20120810.ListTables", true, 400,
			"MissingAuthenticationTokenException",
		},
		"an unknown service": {
			"/", "Authorization", strings.ReplaceAll(signed, "%s", "sts"), true, 400,
			"service sts is not part",
		},
		"an unknown target": {
			"/", "X-Amz-Target", "AWSEvents.PutEvents", true, 400,
			"service AWSEvents is not part",
		},
		"a broken signature header": {
			"/", "Authorization", "AWS4-HMAC-SHA256 Credential=Web", false, 403,
			"MissingAuthenticationToken",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cloud := newCloud(t, aws.Options{})
			request := httptest.NewRequest(http.MethodPost, test.url, http.NoBody)
			if test.header != "" {
				request.Header.Set(test.header, test.value)
			}
			if got := cloud.Handles(request); got != test.want {
				t.Errorf("Handles gives %v, want %v", got, test.want)
			}
			answer := httptest.NewRecorder()
			cloud.ServeHTTP(answer, request)
			if answer.Code != test.status || !strings.Contains(answer.Body.String(), test.answer) {
				t.Errorf("got %d %s, want %d and %q", answer.Code, answer.Body, test.status, test.answer)
			}
		})
	}
}

func TestInProcessCallFailsWhenContextIsCanceled(t *testing.T) {
	t.Parallel()
	cloud := newCloud(t, aws.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := fillQueue(ctx, cloud.Config("test")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	if got := len(cloud.SQS().Snapshot()); got != 0 {
		t.Errorf("%d queues were made", got)
	}
}

func TestInProcessResponsesMatchHTTPResponses(t *testing.T) {
	t.Parallel()
	cloud := newCloud(t, aws.Options{})
	ports := map[string]awssdk.Config{"in process": cloud.Config("test"), "over a port": overPort(t, cloud)}
	if err := fillBucket(t.Context(), cloud.Config("test")); err != nil {
		t.Fatal(err)
	}
	for name, cfg := range ports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := s3.NewFromConfig(cfg)
			head, err := client.HeadObject(t.Context(),
				&s3.HeadObjectInput{Bucket: awssdk.String("exports"), Key: awssdk.String("a b/../ü.ndjson")})
			if err != nil || *head.ContentLength != 7 {
				t.Errorf("HeadObject gave %v, %v", head, err)
			}
			if err = checkBucket(t.Context(), cfg); err != nil {
				t.Error(err)
			}
			_, err = client.DeleteObject(t.Context(),
				&s3.DeleteObjectInput{Bucket: awssdk.String("exports"), Key: awssdk.String("nothing")})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestQueueServesManyLongPollingClients(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cloud := newCloud(t, aws.Options{})
		client := sqs.NewFromConfig(cloud.Config("test"))
		url, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: awssdk.String("q")})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var mu sync.Mutex
		received := 0
		var pollers sync.WaitGroup
		for range 5 {
			pollers.Go(func() {
				for time.Since(start) < time.Hour {
					out, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
						QueueUrl: url.QueueUrl, WaitTimeSeconds: 20, VisibilityTimeout: 43_200,
					})
					if err != nil {
						t.Errorf("receive: %v", err)
						return
					}
					mu.Lock()
					received += len(out.Messages)
					mu.Unlock()
				}
			})
		}
		for range 100 {
			<-time.After(11 * time.Second)
			if _, err := client.SendMessage(t.Context(),
				&sqs.SendMessageInput{QueueUrl: url.QueueUrl, MessageBody: awssdk.String("x")}); err != nil {
				t.Fatal(err)
			}
		}
		pollers.Wait()
		if received != 100 {
			t.Errorf("received %d messages, want 100", received)
		}
	})
}

func overPort(t *testing.T, cloud *aws.Cloud) awssdk.Config {
	t.Helper()
	server := httptest.NewServer(cloud)
	t.Cleanup(server.Close)
	cfg := cloud.Config("test")
	cfg.BaseEndpoint, cfg.HTTPClient = &server.URL, server.Client()
	return cfg
}
