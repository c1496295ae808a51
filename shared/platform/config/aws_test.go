package config_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/platform/config"
)

// loaded returns the configuration under test, which redirects calls to a test server.
func loaded(tb testing.TB, endpoint string) aws.Config {
	tb.Helper()
	cfg, err := config.AWS()
	if err != nil {
		tb.Fatal(err)
	}
	cfg.Region = "eu-central-1"
	cfg.Credentials = credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "secret", "")
	cfg.BaseEndpoint = aws.String(endpoint)
	return cfg
}

// TestAWSReadsCredentialsAndEndpointFromEnvironment checks the variables that Lambda sets for every function. The test
// also checks AWS_ENDPOINT_URL, which redirects calls in local runs.
func TestAWSReadsCredentialsAndEndpointFromEnvironment(t *testing.T) {
	var got http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		large(w, r)
	}))
	t.Cleanup(server.Close)
	t.Setenv("AWS_REGION", "eu-central-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_SESSION_TOKEN", "session")
	key := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}}
	const everything, nowhere = "AWS_ENDPOINT_URL", "http://127.0.0.1:1"
	for name, endpoints := range map[string]map[string]string{
		"one endpoint for all":   {everything: server.URL},
		"one for the service":    {"AWS_ENDPOINT_URL_DYNAMODB": server.URL},
		"the service's is first": {everything: nowhere, "AWS_ENDPOINT_URL_DYNAMODB": server.URL},
	} {
		t.Run(name, func(t *testing.T) {
			got = nil
			for variable, url := range endpoints {
				t.Setenv(variable, url)
			}
			cfg, err := config.AWS()
			if err != nil {
				t.Fatal(err)
			}
			client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.DisableValidateResponseChecksum = true })
			if _, err := client.GetItem(t.Context(),
				&dynamodb.GetItemInput{TableName: aws.String("work"), Key: key}); err != nil {
				t.Fatal(err)
			}
			if sent := got.Get("Authorization"); !strings.Contains(sent, "AKIDEXAMPLE/") ||
				!strings.Contains(sent, "/eu-central-1/dynamodb/") {
				t.Errorf("signed as %q", sent)
			}
			if sent := got.Get("X-Amz-Security-Token"); sent != "session" {
				t.Errorf("the session token is %q", sent)
			}
		})
	}
}

// writerTo is a request body that implements io.WriterTo, as the SDK's body does. Calling WriteTo fails the test.
type writerTo struct {
	*bytes.Reader

	used *atomic.Bool
}

func (b writerTo) Close() error { return nil }

func (b writerTo) WriteTo(w io.Writer) (int64, error) {
	b.used.Store(true)
	return b.Reader.WriteTo(w)
}

func TestPlainBodiesHideWriterToInterface(t *testing.T) {
	t.Parallel()
	var received string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received = string(body)
	}))
	t.Cleanup(server.Close)
	var used atomic.Bool
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL,
		writerTo{bytes.NewReader([]byte("payload")), &used})
	if err != nil {
		t.Fatal(err)
	}
	request.ContentLength = 7
	response, err := loaded(t, server.URL).HTTPClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, ok := request.Body.(io.WriterTo); ok || used.Load() {
		t.Error("net/http has seen io.WriterTo")
	}
	if received != "payload" {
		t.Errorf("the server received %q", received)
	}
}

func TestPlainBodiesPreserveMissingBody(t *testing.T) {
	t.Parallel()
	var length atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(
		func(_ http.ResponseWriter, r *http.Request) { length.Store(r.ContentLength) }))
	t.Cleanup(server.Close)
	for _, body := range []io.Reader{nil, http.NoBody} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL, body)
		if err != nil {
			t.Fatal(err)
		}
		response, err := loaded(t, server.URL).HTTPClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := length.Load(); got != 0 {
			t.Errorf("the server saw a content length of %d", got)
		}
	}
}

// onceOnly disables retries, so that a lost response causes an error rather than a delay.
type onceOnly struct{ aws.Retryer }

func (onceOnly) MaxAttempts() int { return 1 }

// large simulates DynamoDB by responding to every call with more than 4 KB.
func large(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	_, _ = io.WriteString(w, `{"Item":{"text":{"S":"`+strings.Repeat("x", 16<<10)+`"}}}`)
}

// TestAWSClientReadsLargeResponsesWithoutLoss is a regression test for connections broken by the SDK's request body.
// BenchmarkLostResponses measures the rate of lost responses.
func TestAWSClientReadsLargeResponsesWithoutLoss(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(large))
	t.Cleanup(server.Close)
	get := getter(t, loaded(t, server.URL))
	for i := range 500 {
		if err := get(t.Context()); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
}

// BenchmarkLostResponses counts lost responses per 1,000 calls, both with the SDK's request bodies and with
// plainBodies. With the SDK's bodies, the number varies, because a race in the SDK causes the loss of responses. With
// plainBodies, no response may be lost.
func BenchmarkLostResponses(b *testing.B) {
	for _, name := range []string{"sdk", "ours"} {
		b.Run(name, func(b *testing.B) {
			server := httptest.NewServer(http.HandlerFunc(large))
			b.Cleanup(server.Close)
			cfg := loaded(b, server.URL)
			if name == "sdk" {
				cfg.HTTPClient = &http.Client{}
			}
			get := getter(b, cfg)
			lost := 0
			for b.Loop() {
				if get(b.Context()) != nil {
					lost++
				}
			}
			b.ReportMetric(1000*float64(lost)/float64(b.N), "lost/1000")
		})
	}
}

// getter returns a function that makes a call, which has a large response, without retries.
func getter(tb testing.TB, cfg aws.Config) func(context.Context) error {
	tb.Helper()
	standard := cfg.Retryer
	cfg.Retryer = func() aws.Retryer { return onceOnly{standard()} }
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.DisableValidateResponseChecksum = true })
	key := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}}
	return func(ctx context.Context) error {
		_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("work"), Key: key})
		return err
	}
}

func TestAWSClientTimesOutOnUnresponsiveAddress(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close() // connections are refused at once, so the three attempts are at most 500 ms apart
	started := time.Now()
	_, err = dynamodb.NewFromConfig(loaded(t, "http://"+address)).ListTables(context.Background(),
		&dynamodb.ListTablesInput{})
	if err == nil || !strings.Contains(err.Error(), "exceeded maximum number of attempts, 3") {
		t.Errorf("got %v", err)
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}
