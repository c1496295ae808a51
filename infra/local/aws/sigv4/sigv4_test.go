package sigv4_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"recordbridge/infra/local/aws/sigv4"
)

// path contains characters that URL encoders treat differently. It is encoded as the SDK encodes an object key.
const path = "https://s3.test/exports/live/org%20a/t%2B1/c~d%27e/%C3%BC%25.ndjson?list-type=2&prefix=a%20b%2Fc&empty="

var signedAt = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

func secrets(accessKey string) (string, bool) { return "local", accessKey == "Worker" }

func request(t *testing.T) *http.Request {
	t.Helper()
	r := send(t, http.MethodPut, path, "body")
	r.Header.Set("Content-Type", "text/plain")
	r.Header.Set("X-Amz-Meta-Note", "two   spaces ")
	return r
}

func s3Rules(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }

func credentials(accessKey string) aws.Credentials {
	return aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: "local"}
}

// headerSigned signs a request with the SDK's own signer and returns the request as a server would receive it.
func headerSigned(t *testing.T, accessKey string) *http.Request {
	t.Helper()
	r := request(t)
	hash := strings.Repeat("ab", 32)
	r.Header.Set("X-Amz-Content-Sha256", hash)
	if err := v4.NewSigner().SignHTTP(t.Context(), credentials(accessKey), r, hash, "s3", "us-east-1", signedAt,
		s3Rules); err != nil {
		t.Fatal(err)
	}
	r.Host = r.URL.Host
	return r
}

func presigned(t *testing.T, accessKey, expires string) *http.Request {
	t.Helper()
	r := send(t, http.MethodGet, path, "")
	setQuery(r, "X-Amz-Expires", expires)
	signed, _, err := v4.NewSigner().PresignHTTP(t.Context(), credentials(accessKey), r, "UNSIGNED-PAYLOAD", "s3",
		"us-east-1", signedAt, s3Rules)
	if err != nil {
		t.Fatal(err)
	}
	return send(t, http.MethodGet, signed, "")
}

func send(t *testing.T, method, rawURL, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, rawURL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func setQuery(r *http.Request, name, value string) {
	query := r.URL.Query()
	query.Set(name, value)
	r.URL.RawQuery = query.Encode()
}

// check verifies r, and fails the test unless r is rejected with the code want, or accepted if want is empty.
func check(t *testing.T, r *http.Request, now time.Time, want string) {
	t.Helper()
	key, err := sigv4.New("us-east-1", secrets).Verify(r, "s3", now)
	if want == "" {
		if err != nil || key != "Worker" {
			t.Fatalf("got key %q and error %v, want the key Worker", key, err)
		}
		return
	}
	if refusal, ok := errors.AsType[*sigv4.Error](err); !ok || refusal.Code != want || key != "" {
		t.Fatalf("got key %q and error %v, want %s", key, err, want)
	}
}

func TestVerifyAcceptsSDKSignatures(t *testing.T) {
	t.Parallel()
	check(t, headerSigned(t, "Worker"), signedAt, "")
	check(t, presigned(t, "Worker", "600"), signedAt, "")

	fromSocketless := headerSigned(t, "Worker")
	fromSocketless.Host = ""
	check(t, fromSocketless, signedAt, "")

	withTrace := headerSigned(t, "Worker")
	withTrace.Header.Set("User-Agent", "changed by a proxy")
	withTrace.Header.Set("X-Amzn-Trace-Id", "Root=1")
	check(t, withTrace, signedAt, "")
}

func TestVerifyRejectsTamperedHeaderSignedRequest(t *testing.T) {
	t.Parallel()
	swap := func(name, old, replacement string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set(name, strings.Replace(r.Header.Get(name), old, replacement, 1))
		}
	}
	tests := map[string]struct {
		tamper func(*http.Request)
		want   string
	}{
		"method":        {func(r *http.Request) { r.Method = http.MethodDelete }, "SignatureDoesNotMatch"},
		"host":          {func(r *http.Request) { r.Host = "other.test" }, "SignatureDoesNotMatch"},
		"path":          {func(r *http.Request) { r.URL.Path += "x"; r.URL.RawPath = "" }, "SignatureDoesNotMatch"},
		"query value":   {func(r *http.Request) { setQuery(r, "prefix", "other") }, "SignatureDoesNotMatch"},
		"added query":   {func(r *http.Request) { setQuery(r, "acl", "") }, "SignatureDoesNotMatch"},
		"broken query":  {func(r *http.Request) { r.URL.RawQuery += "&%zz" }, "InvalidURI"},
		"signed header": {swap("Content-Type", "plain", "html"), "SignatureDoesNotMatch"},
		"user metadata": {swap("X-Amz-Meta-Note", "two", "one"), "SignatureDoesNotMatch"},
		"content length": {
			func(r *http.Request) { r.Header.Del("Content-Length"); r.ContentLength = 9 },
			"SignatureDoesNotMatch",
		},
		"payload hash":        {swap("X-Amz-Content-Sha256", "ab", "cd"), "SignatureDoesNotMatch"},
		"no payload hash":     {func(r *http.Request) { r.Header.Del("X-Amz-Content-Sha256") }, "InvalidRequest"},
		"unsigned amz header": {func(r *http.Request) { r.Header.Set("X-Amz-Copy-Source", "/b/k") }, "AccessDenied"},
		"host left out":       {swap("Authorization", ";host", ""), "AccessDenied"},
		"date":                {swap("X-Amz-Date", "T1000", "T1001"), "SignatureDoesNotMatch"},
		"no date":             {func(r *http.Request) { r.Header.Del("X-Amz-Date") }, "AccessDenied"},
		"day":                 {swap("X-Amz-Date", "20261121", "20261122"), "AuthorizationHeaderMalformed"},
		"region":              {swap("Authorization", "us-east-1", "eu-west-1"), "AuthorizationHeaderMalformed"},
		"service":             {swap("Authorization", "/s3/", "/sqs/"), "AuthorizationHeaderMalformed"},
		"signature":           {swap("Authorization", "Signature=", "Signature=0"), "SignatureDoesNotMatch"},
		"empty signature":     {func(r *http.Request) { cutSignature(r) }, "AuthorizationHeaderMalformed"},
		"credential":          {swap("Authorization", "/aws4_request", ""), "AuthorizationHeaderMalformed"},
		"unknown member":      {swap("Authorization", "Signature=", "Sig="), "AuthorizationHeaderMalformed"},
		"access key":          {swap("Authorization", "Worker", "Nobody"), "InvalidAccessKeyId"},
		"basic authorization": {func(r *http.Request) { r.SetBasicAuth("a", "b") }, "InvalidArgument"},
		"no authorization":    {func(r *http.Request) { r.Header.Del("Authorization") }, "AccessDenied"},
		"two ways of signing": {func(r *http.Request) { setQuery(r, "X-Amz-Signature", "0") }, "InvalidArgument"},
		"no members": {
			func(r *http.Request) { r.Header.Set("Authorization", "AWS4-HMAC-SHA256 ") },
			"AuthorizationHeaderMalformed",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := headerSigned(t, "Worker")
			tt.tamper(r)
			check(t, r, signedAt, tt.want)
		})
	}
}

func cutSignature(r *http.Request) {
	kept, _, _ := strings.Cut(r.Header.Get("Authorization"), "Signature=")
	r.Header.Set("Authorization", kept+"Signature=")
}

func TestVerifyRejectsTamperedPresignedURL(t *testing.T) {
	t.Parallel()
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { setQuery(r, name, value) }
	}
	const malformed = "AuthorizationQueryParametersError"
	tests := map[string]struct {
		tamper func(*http.Request)
		want   string
	}{
		"method": {func(r *http.Request) { r.Method = http.MethodDelete }, "SignatureDoesNotMatch"},
		"host":   {func(r *http.Request) { r.Host = "other.test" }, "SignatureDoesNotMatch"},
		"path": {
			func(r *http.Request) { r.URL.Path = "/exports/other"; r.URL.RawPath = "" },
			"SignatureDoesNotMatch",
		},
		"longer life":       {set("X-Amz-Expires", "6000"), "SignatureDoesNotMatch"},
		"life over a week":  {set("X-Amz-Expires", "604801"), malformed},
		"negative life":     {set("X-Amz-Expires", "-1"), malformed},
		"life is no number": {set("X-Amz-Expires", "soon"), malformed},
		"huge life":         {set("X-Amz-Expires", "9999999999999999999"), malformed},
		"response override": {set("response-content-type", "text/html"), "SignatureDoesNotMatch"},
		"algorithm":         {set("X-Amz-Algorithm", "AWS4-HMAC-SHA1"), malformed},
		"date":              {set("X-Amz-Date", "20261121T100100Z"), "SignatureDoesNotMatch"},
		"date form":         {set("X-Amz-Date", "today"), malformed},
		"credential":        {set("X-Amz-Credential", "Worker"), malformed},
		"access key":        {set("X-Amz-Credential", "Nobody/20261121/us-east-1/s3/aws4_request"), "InvalidAccessKeyId"},
		"signed headers":    {set("X-Amz-SignedHeaders", "host;range"), "SignatureDoesNotMatch"},
		"host not signed":   {set("X-Amz-SignedHeaders", "range"), "AccessDenied"},
		"unsigned header":   {func(r *http.Request) { r.Header.Set("X-Amz-Meta-A", "b") }, "AccessDenied"},
		"signature":         {set("X-Amz-Signature", strings.Repeat("0", 64)), "SignatureDoesNotMatch"},
		"signature twice":   {func(r *http.Request) { r.URL.RawQuery += "&X-Amz-Signature=0" }, malformed},
		"no signature": {func(r *http.Request) {
			query := r.URL.Query()
			query.Del("X-Amz-Signature")
			r.URL.RawQuery = query.Encode()
		}, malformed},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := presigned(t, "Worker", "600")
			tt.tamper(r)
			check(t, r, signedAt, tt.want)
		})
	}
}

func TestVerifyRejectsRequestOutsideTimeWindow(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		build func(*testing.T) *http.Request
		after time.Duration
		want  string
	}{
		"header within the skew": {
			func(t *testing.T) *http.Request { t.Helper(); return headerSigned(t, "Worker") },
			15 * time.Minute, "",
		},
		"header too old": {
			func(t *testing.T) *http.Request { t.Helper(); return headerSigned(t, "Worker") },
			15*time.Minute + time.Second, "RequestTimeTooSkewed",
		},
		"header from the future": {
			func(t *testing.T) *http.Request { t.Helper(); return headerSigned(t, "Worker") },
			-16 * time.Minute, "RequestTimeTooSkewed",
		},
		"presigned at its last": {
			func(t *testing.T) *http.Request { t.Helper(); return presigned(t, "Worker", "600") },
			10 * time.Minute, "",
		},
		"presigned and expired": {
			func(t *testing.T) *http.Request { t.Helper(); return presigned(t, "Worker", "600") },
			10*time.Minute + time.Second, "AccessDenied",
		},
		"presigned in the future": {
			func(t *testing.T) *http.Request { t.Helper(); return presigned(t, "Worker", "600") },
			-16 * time.Minute, "AccessDenied",
		},
		"presigned for a whole week": {func(t *testing.T) *http.Request {
			t.Helper()
			return presigned(t, "Worker",
				"604800")
		}, 167 * time.Hour, ""},
		"presigned with a clock skew": {
			func(t *testing.T) *http.Request { t.Helper(); return presigned(t, "Worker", "600") },
			-14 * time.Minute, "",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tt.build(t), signedAt.Add(tt.after), tt.want)
		})
	}
}

func TestVerifyChecksPinnedPayloadHashOfPresignedUpload(t *testing.T) {
	t.Parallel()
	r := send(t, http.MethodPut, path, "body")
	hash := strings.Repeat("ab", 32)
	r.Header.Set("X-Amz-Content-Sha256", hash)
	setQuery(r, "X-Amz-Expires", "60")
	signed, headers, err := v4.NewSigner().PresignHTTP(t.Context(), credentials("Worker"), r, hash, "s3", "us-east-1",
		signedAt, s3Rules)
	if err != nil {
		t.Fatal(err)
	}
	upload := send(t, http.MethodPut, signed, "body")
	if headers.Get("X-Amz-Content-Sha256") == "" {
		t.Fatalf("the signer did not sign the hash: %v", headers)
	}
	upload.Header.Set("X-Amz-Content-Sha256", hash)
	check(t, upload, signedAt, "")
	upload.Header.Set("X-Amz-Content-Sha256", strings.Repeat("cd", 32))
	check(t, upload, signedAt, "SignatureDoesNotMatch")
}

func FuzzVerifyRejectsUnsignedRequests(f *testing.F) {
	f.Add("X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=0", "AWS4-HMAC-SHA256 Credential=/", "20261121T100000Z")
	f.Add("", "AWS4-HMAC-SHA256 Credential=Worker/20261121/us-east-1/s3/aws4_request,SignedHeaders=host,Signature=",
		"20261121T100000Z")
	f.Fuzz(func(t *testing.T, query, authorization, date string) {
		r := &http.Request{
			Method: http.MethodGet, Host: "s3.test", URL: &url.URL{Path: "/b/%zz", RawQuery: query},
			Header: http.Header{},
		}
		r.Header["Authorization"] = []string{authorization}
		r.Header["X-Amz-Date"] = []string{date}
		r.Header["X-Amz-Content-Sha256"] = []string{"UNSIGNED-PAYLOAD"}
		for _, service := range []string{"s3", "dynamodb", "ses"} {
			if key, err := sigv4.New("us-east-1", secrets).Verify(r, service, signedAt); err == nil {
				t.Errorf("%s accepted an unsigned request as %q", service, key)
			}
		}
	})
}
