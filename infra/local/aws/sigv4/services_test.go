package sigv4_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"recordbridge/infra/local/aws/sigv4"
)

// servicePath contains characters that a second encoding changes, and segments that normalisation leaves unchanged.
const servicePath = "https://api.test/a%20b/c%2Fd/e~f/?x=1%202"

const content = `{"TableName":"items"}`

func hashOf(body string) string {
	digest := sha256.Sum256([]byte(body))
	return hex.EncodeToString(digest[:])
}

// serviceSigned signs a service call as the SDK does, without the body hash header.
func serviceSigned(t *testing.T, url, service string, at time.Time) *http.Request {
	t.Helper()
	r := send(t, http.MethodPost, url, content)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.DescribeTable")
	if err := v4.NewSigner().SignHTTP(t.Context(), credentials("Worker"), r, hashOf(content), service, "us-east-1",
		at); err != nil {
		t.Fatal(err)
	}
	r.Host = r.URL.Host
	return r
}

// servicePresigned presigns the same call as serviceSigned, valid for one minute.
func servicePresigned(t *testing.T, service string) *http.Request {
	t.Helper()
	r := send(t, http.MethodPost, servicePath, content)
	setQuery(r, "X-Amz-Expires", "60")
	signed, _, err := v4.NewSigner().PresignHTTP(t.Context(), credentials("Worker"), r, hashOf(content), service,
		"us-east-1", signedAt)
	if err != nil {
		t.Fatal(err)
	}
	return send(t, http.MethodPost, signed, content)
}

func TestVerifyLeavesBodyOfSDKRequestReadable(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*http.Request{
		"in the header":            serviceSigned(t, servicePath, "dynamodb", signedAt),
		"in the URL":               servicePresigned(t, "dynamodb"),
		"with a path to normalise": moved(serviceSigned(t, "https://api.test/a/b/", "dynamodb", signedAt), "/a//./x/../b/"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key, err := sigv4.New("us-east-1", secrets).Verify(r, "dynamodb", signedAt)
			if err != nil || key != "Worker" {
				t.Fatalf("got %q, %v, want Worker", key, err)
			}
			kept, ok := r.Body.(interface{ Bytes() []byte })
			if !ok || string(kept.Bytes()) != content {
				t.Errorf("the body does not know its bytes")
			}
			for _, want := range []string{content, ""} {
				if got, err := io.ReadAll(r.Body); err != nil || string(got) != want {
					t.Errorf("got body %q, %v, want %q", got, err, want)
				}
			}
			if err := r.Body.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func moved(r *http.Request, path string) *http.Request {
	r.URL.Path, r.URL.RawPath = path, ""
	return r
}

func TestVerifyErrorCodesDependOnServiceProtocol(t *testing.T) {
	t.Parallel()
	const invalid, incomplete = "InvalidSignatureException", "IncompleteSignatureException"
	swap := func(old, replacement string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), old, replacement, 1))
		}
	}
	tests := map[string]struct {
		tamper     func(*http.Request)
		after      time.Duration
		json, mail string
		message    string
	}{
		"body": {
			func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("{}")) }, 0, invalid,
			"SignatureDoesNotMatch", "does not match",
		},
		"target": {
			func(r *http.Request) { r.Header.Set("X-Amz-Target", "DynamoDB_20120810.DeleteTable") }, 0,
			invalid, "SignatureDoesNotMatch", "does not match",
		},
		"path": {
			func(r *http.Request) { r.URL.RawPath = "" }, 0, invalid, "SignatureDoesNotMatch",
			"does not match",
		},
		"5 minutes later": {
			func(*http.Request) {}, 5*time.Minute + time.Second, invalid, "SignatureDoesNotMatch",
			"Signature expired: 20261121T100000Z is now earlier than 20261121T100001Z (20261121T100501Z - 5 min.)",
		},
		"5 minutes before": {
			func(*http.Request) {}, -5*time.Minute - time.Second, invalid, "SignatureDoesNotMatch",
			"Signature not yet current: 20261121T100000Z is still later than 20261121T095959Z (20261121T095459Z + 5 min.)",
		},
		"region":     {swap("us-east-1", "eu-west-1"), 0, invalid, "SignatureDoesNotMatch", "expecting 'us-east-1'"},
		"service":    {swap("/us-east-1/", "/us-east-1/x"), 0, invalid, "SignatureDoesNotMatch", "correct service: '"},
		"terminator": {swap("aws4_request", "aws4"), 0, invalid, "SignatureDoesNotMatch", "aws4_request"},
		"unsigned header": {
			func(r *http.Request) { r.Header.Set("X-Amz-Extra", "x") }, 0, invalid, "SignatureDoesNotMatch",
			"'X-Amz-Extra' must be a 'SignedHeader'",
		},
		"access key": {
			swap("Worker", "Nobody"), 0, "UnrecognizedClientException", "InvalidClientTokenId",
			"security token",
		},
		"no signature":    {swap("Signature=", "Signature=,x="), 0, incomplete, "IncompleteSignature", "unknown member"},
		"empty signature": {cutSignature, 0, incomplete, "IncompleteSignature", "'Signature'"},
		"no date": {
			func(r *http.Request) { r.Header.Del("X-Amz-Date") }, 0, incomplete, "IncompleteSignature",
			"'X-Amz-Date'",
		},
		"other mechanism": {
			func(r *http.Request) { r.SetBasicAuth("a", "b") }, 0, incomplete, "IncompleteSignature",
			"unsupported",
		},
		"nothing": {
			func(r *http.Request) { r.Header.Del("Authorization") }, 0,
			"MissingAuthenticationTokenException", "MissingAuthenticationToken", "missing",
		},
	}
	for name, tt := range tests {
		for service, want := range map[string]string{"dynamodb": tt.json, "sqs": tt.json, "ses": tt.mail} {
			t.Run(name+" for "+service, func(t *testing.T) {
				t.Parallel()
				r := serviceSigned(t, servicePath, service, signedAt)
				tt.tamper(r)
				_, err := sigv4.New("us-east-1", secrets).Verify(r, service, signedAt.Add(tt.after))
				refusal, ok := errors.AsType[*sigv4.Error](err)
				if !ok || refusal.Code != want || !strings.Contains(refusal.Message, tt.message) {
					t.Errorf("got %v, want %s and %q", err, want, tt.message)
				}
			})
		}
	}
}

func TestVerifyRejectsExpiredPresignedDynamoDBCall(t *testing.T) {
	t.Parallel()
	_, err := sigv4.New("us-east-1", secrets).Verify(servicePresigned(t, "dynamodb"), "dynamodb",
		signedAt.Add(61*time.Second))
	if refusal, ok := errors.AsType[*sigv4.Error](err); !ok || refusal.Code != "InvalidSignatureException" {
		t.Errorf("got %v, want InvalidSignatureException", err)
	}
}

func TestVerifyReturnsBodyReadError(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection lost")
	r := serviceSigned(t, servicePath, "dynamodb", signedAt)
	r.Body = io.NopCloser(iotest.ErrReader(broken))
	if _, err := sigv4.New("us-east-1", secrets).Verify(r, "dynamodb", signedAt); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

func TestVerifierIsSafeForConcurrentUseAcrossDays(t *testing.T) {
	t.Parallel()
	verifier := sigv4.New("us-east-1", secrets)
	var clients sync.WaitGroup
	for _, service := range []string{"dynamodb", "sqs"} {
		clients.Go(func() {
			for day := range 100 {
				at := signedAt.AddDate(0, 0, day)
				if _, err := verifier.Verify(serviceSigned(t, servicePath, service, at), service, at); err != nil {
					t.Errorf("%s, day %d: %v", service, day, err)
				}
			}
		})
	}
	clients.Wait()
	r := serviceSigned(t, servicePath, "dynamodb", signedAt)
	r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "Signature=", "Signature=0", 1))
	if _, err := verifier.Verify(r, "dynamodb", signedAt); err == nil {
		t.Error("a key that was derived before makes every signature good")
	}
}

func TestQueryCodeMapsJSONCodes(t *testing.T) {
	t.Parallel()
	if got := sigv4.QueryCode("UnknownOperationException"); got != "UnknownOperationException" {
		t.Errorf("got %s, want a code without another name unchanged", got)
	}
}
