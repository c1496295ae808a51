// Package sigv4 verifies AWS Signature Version 4 as S3 does: in the Authorization header or in a presigned URL.
// It owns the signature alone; whether the body matches its declared hash is for the reader of the body, and what
// the caller may do is for the IAM middleware. Other services encode the path differently, so it serves S3 only.
package sigv4

import (
	"cmp"
	"crypto/hmac"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	algorithm       = "AWS4-HMAC-SHA256"
	timeFormat      = "20060102T150405Z"
	unsignedPayload = "UNSIGNED-PAYLOAD"
	contentHash     = "X-Amz-Content-Sha256"

	maxSkew    = 15 * time.Minute   // how far the signer's clock may be from ours
	maxExpires = 7 * 24 * time.Hour // the longest life of a presigned URL
)

// Error says why a request is refused, with one of S3's error codes ("SignatureDoesNotMatch", "RequestTimeTooSkewed")
// and a sentence for the developer. Neither holds a secret or the signature that was expected.
type Error struct {
	Code    string
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// signature is what a request says about how it was signed, before any of it is believed.
type signature struct {
	accessKey     string
	scope         string // "20261121/us-east-1/s3/aws4_request"
	date          string // X-Amz-Date as sent
	signedHeaders []string
	value         string
	payload       string // the payload hash in the canonical request
	presigned     bool
}

// Verify checks the signature of r against the secret that the caller's access key has, at the time now. It returns
// that access key, or an *Error. Rules: "Authenticating Requests (AWS Signature Version 4)" in the S3 API reference.
func Verify(r *http.Request, secret func(accessKey string) (string, bool), now time.Time) (string, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return "", refuse("InvalidURI", "the query string cannot be parsed")
	}
	sig, err := parse(r, query, now)
	if err != nil {
		return "", err
	}
	if err := sig.checkHeaders(r.Header); err != nil {
		return "", err
	}
	key, ok := secret(sig.accessKey)
	if !ok {
		return "", refuse("InvalidAccessKeyId", "the access key id does not exist in our records")
	}
	if want := sig.compute(canonicalRequest(r, query, sig), key); !hmac.Equal([]byte(want), []byte(sig.value)) {
		return "", refuse("SignatureDoesNotMatch", "the signature we calculated does not match the one provided")
	}
	return sig.accessKey, nil
}

func refuse(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// parse finds the signature in the header or in the query and checks its form and its time.
func parse(r *http.Request, query url.Values, now time.Time) (*signature, error) {
	inHeader, inQuery := r.Header.Get("Authorization"), query.Has("X-Amz-Algorithm") || query.Has("X-Amz-Signature")
	switch {
	case inHeader != "" && inQuery:
		return nil, refuse("InvalidArgument", "only one authentication mechanism is allowed")
	case inQuery:
		return parseQuery(r, query, now)
	case inHeader != "":
		return parseHeader(r, inHeader, now)
	default:
		return nil, refuse("AccessDenied", "the request is not signed")
	}
}

func parseHeader(r *http.Request, authorization string, now time.Time) (*signature, error) {
	const malformed = "AuthorizationHeaderMalformed"
	fields, ok := strings.CutPrefix(authorization, algorithm+" ")
	if !ok {
		return nil, refuse("InvalidArgument", "unsupported authorization type")
	}
	sig := &signature{date: r.Header.Get("X-Amz-Date"), payload: r.Header.Get(contentHash)}
	var credential string
	for field := range strings.SplitSeq(fields, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		switch name {
		case "Credential":
			credential = value
		case "SignedHeaders":
			sig.signedHeaders = strings.Split(value, ";")
		case "Signature":
			sig.value = value
		default:
			return nil, refuse(malformed, "the authorization header has an unknown member")
		}
	}
	signed, err := time.Parse(timeFormat, sig.date)
	if err != nil {
		return nil, refuse("AccessDenied", "a valid x-amz-date header is required")
	}
	if err := sig.setCredential(credential, malformed); err != nil {
		return nil, err
	}
	if sig.payload == "" {
		return nil, refuse("InvalidRequest", "missing required header for this request: x-amz-content-sha256")
	}
	if signed.Sub(now).Abs() > maxSkew {
		return nil, refuse("RequestTimeTooSkewed", "the difference between the request time and the current time is too large")
	}
	return sig, nil
}

func parseQuery(r *http.Request, query url.Values, now time.Time) (*signature, error) {
	const malformed = "AuthorizationQueryParametersError"
	for _, name := range []string{"Algorithm", "Credential", "Date", "Expires", "SignedHeaders", "Signature"} {
		if len(query["X-Amz-"+name]) != 1 {
			return nil, refuse(malformed, "query-string authentication requires X-Amz-%s once", name)
		}
	}
	if query.Get("X-Amz-Algorithm") != algorithm {
		return nil, refuse(malformed, "X-Amz-Algorithm only supports %s", algorithm)
	}
	sig := &signature{
		date:          query.Get("X-Amz-Date"),
		signedHeaders: strings.Split(query.Get("X-Amz-SignedHeaders"), ";"),
		value:         query.Get("X-Amz-Signature"),
		payload:       unsignedPayload,
		presigned:     true,
	}
	if sig.signs(contentHash) {
		sig.payload = r.Header.Get(contentHash)
	}
	signed, err := time.Parse(timeFormat, sig.date)
	if err != nil {
		return nil, refuse(malformed, "X-Amz-Date must have the form yyyyMMddTHHmmssZ")
	}
	seconds, err := strconv.ParseUint(query.Get("X-Amz-Expires"), 10, 31)
	if err != nil {
		return nil, refuse(malformed, "X-Amz-Expires must be a non-negative number")
	}
	life := time.Duration(seconds) * time.Second
	if life > maxExpires {
		return nil, refuse(malformed, "X-Amz-Expires must be at most a week (604800 seconds)")
	}
	if err := sig.setCredential(query.Get("X-Amz-Credential"), malformed); err != nil {
		return nil, err
	}
	if signed.After(now.Add(maxSkew)) {
		return nil, refuse("AccessDenied", "request is not yet valid")
	}
	if now.After(signed.Add(life)) {
		return nil, refuse("AccessDenied", "request has expired")
	}
	return sig, nil
}

// setCredential splits "access key/date/region/s3/aws4_request" and checks it against the request's own date.
func (s *signature) setCredential(credential, malformed string) error {
	accessKey, scope, _ := strings.Cut(credential, "/")
	parts := strings.Split(scope, "/")
	if accessKey == "" || len(parts) != 4 || parts[1] == "" {
		return refuse(malformed, "the credential must have the form access key/date/region/service/aws4_request")
	}
	if date, _, _ := strings.Cut(s.date, "T"); parts[0] != date {
		return refuse(malformed, "the date of the credential is not the date of the request")
	}
	if parts[2] != "s3" || parts[3] != "aws4_request" {
		return refuse(malformed, "the credential is not for the service s3 and aws4_request")
	}
	s.accessKey, s.scope = accessKey, scope
	return nil
}

// signs tells whether the header of that name is among the signed ones.
func (s *signature) signs(header string) bool {
	return slices.Contains(s.signedHeaders, strings.ToLower(header))
}

// checkHeaders refuses headers that steer the request and that the signer did not vouch for.
func (s *signature) checkHeaders(headers http.Header) error {
	if !s.signs("Host") {
		return refuse("AccessDenied", "the host header must be signed")
	}
	for name := range headers {
		if strings.HasPrefix(name, "X-Amz-") && !s.signs(name) && (!s.presigned || name != contentHash) {
			return refuse("AccessDenied", "there were headers present in the request which were not signed: %s", name)
		}
	}
	return nil
}

// host prefers the Host of a received request; a request that an SDK client hands over in-process may only have a URL.
func host(r *http.Request) string { return cmp.Or(r.Host, r.URL.Host) }
