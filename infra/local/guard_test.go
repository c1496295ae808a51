package main_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/ses"
	"github.com/aws/aws-sdk-go-v2/service/ses/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// pages returns the headers of test requests sent by web pages of different origins and, under "no page", by a program.
func pages() map[string]http.Header {
	return map[string]http.Header{
		"a page of another site":          {"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}},
		"one in a browser of before 2023": {"Origin": {"https://evil.example"}},
		"one in a sandboxed frame":        {"Origin": {"null"}, "Sec-Fetch-Site": {"cross-site"}},
		"one of another port here":        {"Origin": {"http://127.0.0.1:3000"}, "Sec-Fetch-Site": {"same-site"}},
		"one under a name that is rebound": {
			"Host": {"evil.example:4566"}, "Origin": {"http://evil.example:4566"},
			"Sec-Fetch-Site": {"same-origin"},
		},
		"no page": {},
	}
}

// sender is an HTTP client that adds a web page's headers to requests already signed by an SDK.
type sender struct{ header http.Header }

// Do implements the SDK's HTTPClient.
func (s sender) Do(r *http.Request) (*http.Response, error) {
	maps.Copy(r.Header, s.header)
	if host := s.header.Get("Host"); host != "" {
		r.Host = host
	}
	return http.DefaultClient.Do(r)
}

// as returns a client configuration that sends the header fields in header and signs requests with secret.
func (s started) as(header http.Header, secret string) awssdk.Config {
	return awssdk.Config{
		Region: "us-east-1", BaseEndpoint: &s.url, HTTPClient: sender{header}, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("WorkerFunction", secret, ""),
	}
}

// refusal returns a rejected call's status, or 0 if the call succeeded.
func refusal(err error) int {
	if answer, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		return answer.HTTPStatusCode()
	}
	return 0
}

func mail(ctx context.Context, cfg awssdk.Config) error {
	text := &types.Content{Data: awssdk.String("text")}
	_, err := ses.NewFromConfig(cfg).SendEmail(ctx, &ses.SendEmailInput{
		Source:      awssdk.String("notices@localhost.example"),
		Destination: &types.Destination{ToAddresses: []string{"to@example.com"}},
		Message:     &types.Message{Subject: text, Body: &types.Body{Text: text}},
	})
	return err
}

func object(ctx context.Context, cfg awssdk.Config) error {
	_, err := s3.NewFromConfig(cfg).PutObject(ctx,
		&s3.PutObjectInput{Bucket: awssdk.String("none"), Key: awssdk.String("k"), Body: strings.NewReader("x")})
	return err
}

// TestGuardRejectsWebPagesThatCallAWS covers pages that know this stack's secret or the secret that all stacks formerly
// shared.
func TestGuardRejectsWebPagesThatCallAWS(t *testing.T) {
	t.Parallel()
	s := start(t, project(t))
	for name, header := range pages() {
		isPage := len(header) > 0
		for _, secret := range []string{s.aws.SecretAccessKey, "local"} {
			for call, do := range map[string]func(context.Context, awssdk.Config) error{"SES": mail, "S3": object} {
				err := do(t.Context(), s.as(header, secret))
				status := refusal(err)
				failure, _ := errors.AsType[smithy.APIError](err)
				switch {
				case isPage && status != http.StatusForbidden && status != http.StatusMisdirectedRequest:
					t.Errorf("%s asks %s: %d %v", name, call, status, err)
				case !isPage && secret == "local" && (failure == nil || failure.ErrorCode() != "SignatureDoesNotMatch"):
					t.Errorf("%s asks %s with a known secret: %v", name, call, err)
				case !isPage && secret != "local" && failure != nil && failure.ErrorCode() == "SignatureDoesNotMatch":
					t.Errorf("%s asks %s with the secret of this run: %v", name, call, err)
				}
			}
		}
	}
}

// TestGuardRejectsWebPagesThatCallInternalEndpoints covers the inbox, the console, the Runtime API and the port for
// files. Pages of any origin may call the API.
func TestGuardRejectsWebPagesThatCallInternalEndpoints(t *testing.T) {
	t.Parallel()
	s := start(t, project(t))
	asked, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/echo", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	echo, err := http.DefaultClient.Do(asked)
	if err != nil {
		t.Fatal(err)
	}
	_ = echo.Body.Close()
	files := echo.Header.Get("Files") // base URL of S3 as seen by functions
	if files == "" || files == s.url {
		t.Fatalf("files have no port of their own: %q", files)
	}
	for name, header := range pages() {
		for _, path := range []string{
			"/_local/inbox/alder", "/_local/api/functions/WorkerFunction/kill", "/_local/api/faults",
			"/_local/api/tables/any/damage",
			"/_runtime/x/2018-06-01/runtime/invocation/1/response", "/", "/v1/echo", "/v1", files + "/bucket/key",
			files + "/v1/echo",
		} {
			if !strings.HasPrefix(path, "http") {
				path = s.url + path
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader("a=b"))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "text/plain")
			answer, err := sender{header}.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			refused := answer.StatusCode == http.StatusMisdirectedRequest || answer.StatusCode == http.StatusForbidden &&
				answer.Header.Get("X-Amzn-Requestid") == ""
			want := len(header) > 0 && (!strings.HasPrefix(path, s.url+"/v1") || header.Get("Host") != "")
			if refused != want {
				t.Errorf("%s posts to %s: %d, want it refused: %v", name, path, answer.StatusCode, want)
			}
		}
	}
}
