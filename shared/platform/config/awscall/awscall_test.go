package awscall_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	embedded "recordbridge/infra/local/aws"
	"recordbridge/infra/testkit/measured"
	"recordbridge/shared/platform/config/awscall"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
)

// transport is an aws.HTTPClient that simulates a service.
type transport func(r *http.Request) (int, string, error)

func (t transport) Do(r *http.Request) (*http.Response, error) {
	status, body, err := t(r)
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body))}, err
}

// endpoints maps SDK IDs to the URLs of services.
type endpoints map[string]string

func (e endpoints) GetServiceBaseEndpoint(_ context.Context, sdkID string) (string, bool, error) {
	address, found := e[sdkID]
	return address, found, nil
}

func configuration(client aws.HTTPClient) aws.Config {
	return aws.Config{
		Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "secret", "session"),
		HTTPClient: client,
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond })
		},
	}
}

func get(ctx context.Context, cfg aws.Config, now func() time.Time) (string, error) {
	var out struct{ Parameter struct{ Value string } }
	err := awscall.JSON(ctx, cfg, now, awscall.Operation{Service: "ssm", SDKID: "SSM", Target: "AmazonSSM.GetParameter"},
		map[string]string{"Name": "/a"}, &out)
	return out.Parameter.Value, err
}

func TestDoSignsWithConfiguredClock(t *testing.T) {
	t.Parallel()
	cfg := configuration(transport(func(r *http.Request) (int, string, error) {
		got := []string{
			r.Header.Get("X-Amz-Date"), r.Header.Get("X-Amz-Security-Token"),
			strings.Split(r.Header.Get("Authorization"), ",")[0],
		}
		want := []string{
			"20260304T050607Z", "session",
			"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260304/eu-central-1/ssm/aws4_request",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		return http.StatusOK, `{"Parameter":{"Value":"v"}}`, nil
	}))
	if value, err := get(t.Context(), cfg,
		func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }); value != "v" || err != nil {
		t.Errorf("got %q, %v", value, err)
	}
}

// TestDoFailsWithWrongSecret checks that the embedded AWS server verifies signatures as AWS does.
func TestDoFailsWithWrongSecret(t *testing.T) {
	t.Parallel()
	cloud, err := embedded.New(embedded.Options{URL: "http://127.0.0.1", SecretKey: "right"})
	if err != nil {
		t.Fatal(err)
	}
	for secret, want := range map[string]string{"right": "ParameterNotFound", "wrong": "InvalidSignatureException"} {
		cfg := cloud.Config("caller")
		cfg.Credentials = credentials.NewStaticCredentialsProvider("caller", secret, "")
		_, err := get(t.Context(), cfg, time.Now)
		if refused, ok := errors.AsType[*awscall.RefusedError](err); !ok || refused.Code != want {
			t.Errorf("%s: %v, want %s", secret, err, want)
		}
	}
}

func TestDoUsesSameEndpointAsSDKClient(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		region, all string
		own         endpoints
		want        string
	}{
		"AWS":          {"eu-central-1", "", nil, "https://ssm.eu-central-1.amazonaws.com/"},
		"AWS in China": {"cn-north-1", "", nil, "https://ssm.cn-north-1.amazonaws.com.cn/"},
		"one for all":  {"eu-central-1", "http://127.0.0.1:1", nil, "http://127.0.0.1:1/"},
		"the service's is first": {
			"eu-central-1", "http://127.0.0.1:1",
			endpoints{"SSM": "http://127.0.0.1:2/"},
			"http://127.0.0.1:2/",
		},
		"another service's": {
			"eu-central-1", "http://127.0.0.1:1",
			endpoints{"S3": "http://127.0.0.1:2"},
			"http://127.0.0.1:1/",
		},
	} {
		var went string
		cfg := configuration(transport(func(r *http.Request) (int, string, error) {
			went = r.URL.String()
			return http.StatusOK, `{"Parameter":{"Value":"v"}}`, nil
		}))
		cfg.Region, cfg.ConfigSources = test.region, []any{"another source", test.own}
		if test.all != "" {
			cfg.BaseEndpoint = &test.all
		}
		if _, err := get(t.Context(), cfg, time.Now); err != nil || went != test.want {
			t.Errorf("%s: went to %s (%v), want %s", name, went, err, test.want)
		}
	}
}

func TestDoRetriesTemporaryFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		body   string
		err    error
		want   int    // number of attempts
		metric string // metric that counts every attempt; empty if none does
	}{
		"throttled": {http.StatusBadRequest, `{"__type":"ThrottlingException"}`, nil, 3, "Throttled SSM"},
		"failure": {
			http.StatusInternalServerError, `{"__type":"InternalServerError","message":"m"}`, nil, 3, "Unanswered SSM",
		},
		"no answer of AWS":  {http.StatusBadGateway, "<html>", nil, 3, "Unanswered SSM"},
		"connection is cut": {0, "", errors.New("EOF"), 3, "Unanswered SSM"},
		"refused": {
			http.StatusBadRequest,
			`{"__type":"com.amazonaws.ssm#AccessDeniedException","Message":"no"}`, nil, 1, "Unanswered SSM",
		},
		"no JSON": {http.StatusOK, "SENTINEL", nil, 1, ""},
	} {
		attempts := 0
		cfg := configuration(transport(func(*http.Request) (int, string, error) {
			attempts++
			return test.status, test.body, test.err
		}))
		ctx, line := logx.Begin(t.Context())
		_, err := get(ctx, cfg, time.Now)
		var log bytes.Buffer
		line.Emit(ctx, logx.New(&log), "test")
		counted := measured.In(t, log.Bytes())
		at := fault.SpotOf(err)
		if isLocated := at.Dependency == "SSM" && at.Operation == "GetParameter" && at.Class != ""; isLocated !=
			(test.metric != "") || test.metric != "" && counted[test.metric] != test.want {
			t.Errorf("%s: counted %v at %+v", name, counted, at)
		}
		if name == "refused" && (err == nil || err.Error() != "AccessDeniedException: no") {
			t.Errorf("%s: %v, want its code without the service's namespace", name, err)
		}
		if err == nil || attempts != test.want || strings.Contains(err.Error(), "SENTINEL") {
			t.Errorf("%s: %d attempts, %v; want %d", name, attempts, err, test.want)
		}
	}
}

func TestDoReturnsWhenContextIsDone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	attempts := 0
	_, err := get(ctx, configuration(transport(func(*http.Request) (int, string, error) {
		attempts++
		cancel()
		return 0, "", ctx.Err()
	})), time.Now)
	if _, ok := errors.AsType[*smithy.CanceledError](err); !ok || attempts != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d attempts, %v", attempts, err)
	}
}

func TestGetReadsResourceAtPath(t *testing.T) {
	t.Parallel()
	cfg := configuration(transport(func(r *http.Request) (int, string, error) {
		if got := r.Method + " " + r.URL.String(); got != "GET https://lambda.eu-central-1.amazonaws.com/2016-08-19/a" {
			t.Errorf("requested %s", got)
		}
		return http.StatusOK, `{"Limit": 10}`, nil
	}))
	var out struct{ Limit int }
	err := awscall.Get(t.Context(), cfg, time.Now, "lambda", "LAMBDA", "2016-08-19/a", &out)
	if err != nil || out.Limit != 10 {
		t.Errorf("%v, got %+v", err, out)
	}
	cfg.HTTPClient = transport(func(*http.Request) (int, string, error) {
		return http.StatusForbidden, `{"Message": "not allowed"}`, nil
	})
	err = awscall.Get(t.Context(), cfg, time.Now, "lambda", "LAMBDA", "a", &out)
	if refused, ok := errors.AsType[*awscall.RefusedError](err); !ok || refused.Status != http.StatusForbidden ||
		refused.Message != "not allowed" {
		t.Errorf("refused: %v", err)
	}
}
