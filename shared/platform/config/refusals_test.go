package config_test

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	gocmp "github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/measured"
	"recordbridge/shared/platform/config"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
)

func TestFailedCallsAreCountedPerAttempt(t *testing.T) {
	const refused = `{"__type":"com.amazonaws.dynamodb.v20120810#`
	var answers []string // responses to successive attempts; the last one is repeated
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer := answers[0]
		answers = answers[min(1, len(answers)-1):]
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		switch {
		case answer == "500":
			w.WriteHeader(http.StatusInternalServerError)
		case answer != "":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, refused+answer+`"}`)
		default:
			_, _ = io.WriteString(w, `{}`)
		}
	}))
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "x")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "y")
	cfg, err := config.AWS()
	if err != nil {
		t.Fatal(err)
	}
	client := dynamodb.NewFromConfig(cfg)
	for name, test := range map[string]struct {
		answers []string
		want    map[string]int
	}{
		"it works":      {[]string{""}, map[string]int{}},
		"once too many": {[]string{"ThrottlingException", ""}, map[string]int{"Throttled DynamoDB": 1}},
		"always too many": {
			[]string{"ProvisionedThroughputExceededException"},
			map[string]int{"Throttled DynamoDB": 3},
		},
		"it fails, and is too many": {
			[]string{"500", "ThrottlingException", ""},
			map[string]int{"Unanswered DynamoDB": 1, "Throttled DynamoDB": 1},
		},
		"access is denied":           {[]string{"AccessDeniedException"}, map[string]int{"Unanswered DynamoDB": 1}},
		"asked wrongly":              {[]string{"ValidationException"}, map[string]int{}},
		"a condition that is not so": {[]string{"ConditionalCheckFailedException"}, map[string]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			answers = test.answers
			if got := counted(t, t.Context(), client); !gocmp.Equal(test.want, got) {
				t.Errorf("counted %v, want %v", got, test.want)
			}
		})
	}
	t.Run("the caller gave up", func(t *testing.T) {
		answers = []string{"500"}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got := counted(t, ctx, client); len(got) != 0 {
			t.Errorf("counted %v", got)
		}
	})
	t.Run("nobody answers", func(t *testing.T) {
		server.Close()
		if got, want := counted(t, t.Context(), client), map[string]int{"Unanswered DynamoDB": 3}; !gocmp.Equal(want, got) {
			t.Errorf("counted %v, want %v", got, want)
		}
	})
}

// counted makes one call and returns the metrics of the call's unit of work.
//
//nolint:revive // not the test's own context
func counted(t *testing.T, ctx context.Context, client *dynamodb.Client) map[string]int {
	t.Helper()
	var log bytes.Buffer
	ctx, unit := logx.Begin(ctx)
	_, _ = client.ListTables(ctx, &dynamodb.ListTablesInput{}) // the outcome is recorded in the metrics
	unit.Emit(ctx, logx.New(&log), "test")
	return measured.In(t, log.Bytes())
}

// TestPresigningIsNotCountedAsCall checks that presigning a URL is not counted, because another client sends the
// request.
func TestPresigningIsNotCountedAsCall(t *testing.T) {
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "x")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "y")
	cfg, err := config.AWS()
	if err != nil {
		t.Fatal(err)
	}
	bucket, key := "bucket", "key"
	signed, err := s3.NewPresignClient(s3.NewFromConfig(cfg)).PresignGetObject(t.Context(),
		&s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil || signed.Method != http.MethodGet {
		t.Errorf("got %v, %v, want an address", signed, err)
	}
}

func TestFailedCallNamesServiceOperationAndBucket(t *testing.T) {
	status, code := 0, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<Error><Code>"+code+"</Code></Error>")
	}))
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "x")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "y")
	cfg, err := config.AWS()
	if err != nil {
		t.Fatal(err)
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	bucket, key := "exports", "key"
	for want, answer := range map[string]int{
		"InternalError": http.StatusInternalServerError, "NoSuchBucket": http.StatusNotFound,
		"SlowDown": http.StatusServiceUnavailable, "": http.StatusNotFound,
	} {
		status, code = answer, cmp.Or(want, "NoSuchKey")
		_, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: &key})
		at := fault.Spot{Dependency: "S3", Operation: "GetObject", Class: want, Bucket: bucket}
		if want == "" {
			at = fault.Spot{} // the object is missing, but S3 works
		}
		if got := fault.SpotOf(err); err == nil || got != at || fault.Outage(err) != (want != "") {
			t.Errorf("%s: %v at %+v, want %+v", code, err, got, at)
		}
	}
}
