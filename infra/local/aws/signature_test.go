package aws_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/aws/wire"
)

// caller creates a client for one service and returns a function that makes a call with it. On a cloud returned by
// filled, every call succeeds.
type caller func(cfg awssdk.Config) func(ctx context.Context) error

func callers() map[string]caller {
	return map[string]caller{
		"dynamodb": func(cfg awssdk.Config) func(context.Context) error {
			client := dynamodb.NewFromConfig(cfg)
			return func(ctx context.Context) error {
				_, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: new("items")})
				return err
			}
		},
		"sqs": func(cfg awssdk.Config) func(context.Context) error {
			client := sqs.NewFromConfig(cfg)
			return func(ctx context.Context) error {
				_, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: new("q")})
				return err
			}
		},
		"kms": func(cfg awssdk.Config) func(context.Context) error {
			client := kms.NewFromConfig(cfg)
			return func(ctx context.Context) error {
				_, err := client.CreateKey(ctx, &kms.CreateKeyInput{Description: new("a")})
				return err
			}
		},
		"s3": func(cfg awssdk.Config) func(context.Context) error {
			client := s3.NewFromConfig(cfg)
			return func(ctx context.Context) error {
				_, err := client.PutObject(ctx, &s3.PutObjectInput{
					Bucket: new("exports"), Key: new("k"),
					Body: strings.NewReader("body"),
				})
				return err
			}
		},
		"secretsmanager": func(cfg awssdk.Config) func(context.Context) error {
			client := secretsmanager.NewFromConfig(cfg)
			return func(ctx context.Context) error {
				_, err := client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: new("s")})
				return err
			}
		},
		"ssm": func(cfg awssdk.Config) func(context.Context) error {
			client := ssm.NewFromConfig(cfg)
			return func(ctx context.Context) error {
				_, err := client.PutParameter(ctx, &ssm.PutParameterInput{
					Name: new("/p"), Type: ssmtypes.ParameterTypeString, Value: new("v"), Overwrite: new(true),
				})
				return err
			}
		},
		"ses": func(cfg awssdk.Config) func(context.Context) error {
			return func(ctx context.Context) error { return sendMail(ctx, cfg) }
		},
	}
}

// between is an HTTP client that passes an SDK's signed requests to the cloud. It can modify the requests and records
// the responses' status codes.
type between struct {
	cloud   *aws.Cloud
	change  func(*http.Request)
	answers []int
}

func (b *between) Do(r *http.Request) (*http.Response, error) {
	if b.change != nil {
		b.change(r)
	}
	answer, err := b.cloud.Do(r)
	if err == nil {
		b.answers = append(b.answers, answer.StatusCode)
	}
	return answer, err
}

// filled returns a cloud that contains the data needed by all callers.
func filled(t *testing.T, o aws.Options) *aws.Cloud {
	t.Helper()
	cloud := newCloud(t, o)
	cfg := cloud.Config("provision")
	for _, err := range []error{fillTable(t.Context(), cfg), fillBucket(t.Context(), cfg), fillSecret(t.Context(), cfg)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return cloud
}

func TestClientCorrectsClockSkewAfterOneRejection(t *testing.T) {
	t.Parallel()
	refusals := map[string]int{"sqs": 403, "s3": 403, "ses": 403}
	for name, newClient := range callers() {
		for _, skew := range []time.Duration{time.Hour, -time.Hour} {
			t.Run(name+" "+skew.String(), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					cloud := filled(t, aws.Options{Skew: func(who string) time.Duration {
						return map[string]time.Duration{"ExportWorker": skew}[who]
					}})
					transport := &between{cloud: cloud}
					cfg := cloud.Config("ExportWorker")
					cfg.HTTPClient = transport
					call := newClient(cfg)
					if err := call(t.Context()); err != nil {
						t.Fatal(err)
					}
					refused := 400
					if status, other := refusals[name]; other {
						refused = status
					}
					want := []int{refused, 200}
					if name != "ses" { // each SES call creates a new client
						if err := call(t.Context()); err != nil {
							t.Fatal(err)
						}
						want = append(want, 200)
					}
					if diff := cmp.Diff(want, transport.answers); diff != "" {
						t.Errorf("answers (-want +got):\n%s", diff)
					}
				})
			})
		}
	}
}

// A signature in the header protects everything except the access key. On AWS, every caller has its own secret. In the
// embedded AWS, all callers share one.
func TestServicesRejectTamperedRequest(t *testing.T) {
	t.Parallel()
	setBody := func(r *http.Request) {
		content, _ := io.ReadAll(r.Body)
		changed := bytes.ReplaceAll(content, []byte("a"), []byte("b"))
		changed = bytes.ReplaceAll(changed, []byte("body"), []byte("BODY"))
		r.Body = io.NopCloser(bytes.NewReader(changed))
	}
	const json, query, sha = "InvalidSignatureException", "SignatureDoesNotMatch", "XAmzContentSHA256Mismatch"
	changes := map[string]struct {
		change  func(*http.Request)
		json    string // error code used by DynamoDB and KMS
		query   string // error code used by SES and SQS
		s3      string
		noneFor string // names of the services whose requests don't contain the changed part
	}{
		"another body": {setBody, json, query, sha, ""},
		"another header": {
			func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, json,
			query, query, "",
		},
		"another path": {
			func(r *http.Request) { r.URL.Path, r.URL.RawPath = "/exports/other", "" }, json,
			query, query, "",
		},
		"another query":  {func(r *http.Request) { r.URL.RawQuery += "&x=y" }, json, query, query, ""},
		"another method": {func(r *http.Request) { r.Method = http.MethodPatch }, json, query, query, ""},
		"another host":   {func(r *http.Request) { r.Host = "elsewhere.test" }, json, query, query, ""},
		"another target": {
			func(r *http.Request) { r.Header.Set("X-Amz-Target", r.Header.Get("X-Amz-Target")+"s") },
			json, query, "", "s3 ses",
		},
		"a header not signed": {
			func(r *http.Request) { r.Header.Set("X-Amz-Security-Token", "t") }, json, query,
			"AccessDenied", "",
		},
		"an impossible caller": {
			inAuthorization("ExportWorker", "Export Worker"), "UnrecognizedClientException",
			"InvalidClientTokenId", "InvalidAccessKeyId", "",
		},
		"another region": {inAuthorization("us-east-1", "eu-west-1"), json, query, "AuthorizationHeaderMalformed", ""},
		"another day":    {inAuthorization("/20", "/19"), json, query, "AuthorizationHeaderMalformed", ""},
		"no signature": {
			inAuthorization("Signature=", "Signature=, x="), "IncompleteSignatureException",
			"IncompleteSignature", "AuthorizationHeaderMalformed", "",
		},
		"another service": {inAuthorization("/aws4_request", "x/aws4_request"), json, query, "", "s3 ses"},
		"16 minutes later": {
			func(*http.Request) { <-time.After(16 * time.Minute) }, json, query,
			"RequestTimeTooSkewed", "",
		},
	}
	for what, tt := range changes {
		for _, name := range []string{"dynamodb", "kms", "sqs", "ses", "s3"} {
			if strings.Contains(tt.noneFor, name) {
				continue
			}
			want := map[string]string{"dynamodb": tt.json, "kms": tt.json, "sqs": tt.query, "ses": tt.query, "s3": tt.s3}[name]
			t.Run(what+" for "+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var count counter
					cloud := filled(t, aws.Options{Middleware: []wire.Middleware{count.middleware}})
					before := len(count.calls)
					cfg := cloud.Config("ExportWorker")
					cfg.HTTPClient, cfg.RetryMaxAttempts = &between{cloud: cloud, change: tt.change}, 1
					wantCode(t, callers()[name](cfg)(t.Context()), want)
					if got := len(count.calls) - before; got != 0 && want != sha {
						t.Errorf("the middleware saw %d calls that nobody signed", got)
					}
				})
			})
		}
	}
}

func TestServicesRejectWrongSecretOrRegion(t *testing.T) {
	t.Parallel()
	changes := map[string]func(*awssdk.Config){
		"secret": func(cfg *awssdk.Config) {
			cfg.Credentials = credentials.NewStaticCredentialsProvider("ExportWorker", "guess", "")
		},
		"region": func(cfg *awssdk.Config) { cfg.Region = "eu-west-1" },
	}
	want := map[string]string{
		"dynamodb": "InvalidSignatureException", "kms": "InvalidSignatureException", "ssm": "InvalidSignatureException",
		"secretsmanager": "InvalidSignatureException", "sqs": "SignatureDoesNotMatch", "ses": "SignatureDoesNotMatch",
		"s3": "SignatureDoesNotMatch", "s3 region": "AuthorizationHeaderMalformed",
	}
	for what, change := range changes {
		for name, newClient := range callers() {
			t.Run(what+" for "+name, func(t *testing.T) {
				t.Parallel()
				cfg := newCloud(t, aws.Options{}).Config("ExportWorker")
				change(&cfg)
				cfg.RetryMaxAttempts = 1
				code := want[name]
				if special, ok := want[name+" "+what]; ok {
					code = special
				}
				wantCode(t, newClient(cfg)(t.Context()), code)
			})
		}
	}
}

func TestServicesRejectUnsignedCall(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"dynamodb": "MissingAuthenticationTokenException",
		"kms":      "MissingAuthenticationTokenException", "sqs": "MissingAuthenticationToken",
		"ses": "MissingAuthenticationToken",
	}
	for name, code := range want {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cloud := newCloud(t, aws.Options{})
			cfg := cloud.Config("ExportWorker")
			cfg.HTTPClient = &between{cloud: cloud, change: func(r *http.Request) { r.Header.Del("Authorization") }}
			wantCode(t, callers()[name](cfg)(t.Context()), code)
		})
	}
}

func TestServicesRejectOversizedBodyWithoutReadingIt(t *testing.T) {
	t.Parallel()
	cloud := newCloud(t, aws.Options{})
	cfg := cloud.Config("ExportWorker")
	cfg.HTTPClient = &between{cloud: cloud, change: func(r *http.Request) {
		r.Body = io.NopCloser(io.LimitReader(endless{}, 1<<40))
	}}
	wantCode(t, callers()["kms"](cfg)(t.Context()), "RequestEntityTooLarge")
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func inAuthorization(old, replacement string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), old, replacement, 1))
	}
}

func wantCode(t *testing.T, err error, want string) {
	t.Helper()
	if failure, ok := errors.AsType[smithy.APIError](err); !ok || failure.ErrorCode() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
