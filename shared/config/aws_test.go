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

	"recordbridge/shared/config"
)

// loaded is the configuration under test, pointed at a server.
func loaded(t *testing.T, endpoint string) aws.Config {
	t.Helper()
	cfg, err := config.AWS(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cfg.Region = "eu-central-1"
	cfg.Credentials = credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "secret", "")
	cfg.BaseEndpoint = aws.String(endpoint)
	return cfg
}

// writerTo is a request body like the SDK's: it offers io.WriterTo, and fails the test when net/http uses it.
type writerTo struct {
	*bytes.Reader
	used *atomic.Bool
}

func (b writerTo) Close() error { return nil }

func (b writerTo) WriteTo(w io.Writer) (int64, error) {
	b.used.Store(true)
	return b.Reader.WriteTo(w) //nolint:wrapcheck // as the SDK's body does
}

func TestTheBodyHandedToNetHTTPIsNoWriterTo(t *testing.T) {
	t.Parallel()
	var received string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received = string(body)
	}))
	t.Cleanup(server.Close)
	var used atomic.Bool
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, writerTo{bytes.NewReader([]byte("payload")), &used})
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

func TestNoBodyStaysNoBody(t *testing.T) {
	t.Parallel()
	var length atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { length.Store(r.ContentLength) }))
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

// onceOnly makes a lost answer visible: with the SDK's retries it would only be slow.
type onceOnly struct{ aws.Retryer }

func (onceOnly) MaxAttempts() int { return 1 }

// large answers every call as DynamoDB would, with more than 4 KB.
func large(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	_, _ = io.WriteString(w, `{"Item":{"text":{"S":"`+strings.Repeat("x", 16<<10)+`"}}}`)
}

// TestFiveHundredLargeAnswersArriveWhole is the regression test of the connections that the SDK's request body used
// to break. Without plainBodies a handful of these calls fail with "use of closed network connection".
func TestFiveHundredLargeAnswersArriveWhole(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(large))
	t.Cleanup(server.Close)
	cfg := loaded(t, server.URL)
	if failed := countFailures(t, cfg); failed != 0 {
		t.Errorf("%d of 500 calls failed", failed)
	}
}

// TestWithoutTheFixAnswersMayBeLost shows what the fix is for. The race is the SDK's, so nothing is asserted but that
// a measured number, zero or more, is reported.
func TestWithoutTheFixAnswersMayBeLost(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(large))
	t.Cleanup(server.Close)
	cfg := loaded(t, server.URL)
	cfg.HTTPClient = &http.Client{}
	t.Logf("%d of 500 calls failed with the SDK's own request bodies", countFailures(t, cfg))
}

func countFailures(t *testing.T, cfg aws.Config) int {
	t.Helper()
	plain := cfg.Retryer
	cfg.Retryer = func() aws.Retryer { return onceOnly{plain()} }
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.DisableValidateResponseChecksum = true })
	failed := 0
	for range 500 {
		out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: aws.String("work"), Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}},
		})
		if err != nil || len(out.Item) != 1 {
			failed++
		}
	}
	return failed
}

func TestAnAddressThatDoesNotAnswerIsGivenUpSoon(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close() // refused at once: three attempts, at most 500 ms apart
	started := time.Now()
	_, err = dynamodb.NewFromConfig(loaded(t, "http://"+address)).ListTables(context.Background(), &dynamodb.ListTablesInput{})
	if err == nil || !strings.Contains(err.Error(), "exceeded maximum number of attempts, 3") {
		t.Errorf("got %v", err)
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}
