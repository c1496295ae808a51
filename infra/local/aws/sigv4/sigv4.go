// Package sigv4 verifies requests signed with AWS Signature Version 4, in the Authorization header or in a presigned
// URL. The package verifies only the signature; the IAM middleware checks permissions. S3 streams objects, so package
// s3 verifies that an object matches its declared hash. For all services other than S3, this package reads and hashes
// the body.
package sigv4

import (
	"crypto/hmac"
	"encoding/hex"
	"net/http"
	"net/url"
	"time"
)

const (
	algorithm       = "AWS4-HMAC-SHA256"
	timeFormat      = "20060102T150405Z"
	unsignedPayload = "UNSIGNED-PAYLOAD"
	contentHash     = "X-Amz-Content-Sha256"

	maxExpires = 7 * 24 * time.Hour // maximum validity period of a presigned URL
)

// Verifier verifies the signatures of calls in one region. Use New to create a Verifier. A Verifier is safe for
// concurrent use.
type Verifier struct {
	region string
	secret func(accessKey string) (string, bool)
	keys   signingKeys
}

// New returns a Verifier for a region. The function secret must return the secret key for an access key, or false if
// the access key is unknown.
func New(region string, secret func(accessKey string) (string, bool)) *Verifier {
	return &Verifier{region: region, secret: secret}
}

// Verify checks that r is signed for service with the secret of its access key and that the signature is valid at now,
// and returns the access key. service is the name in the credential scope, such as "dynamodb" or "s3". If Verify
// rejects the signature, the error is an *Error; any other error means that the body could not be read. Except for S3,
// Verify reads the entire body and replaces it with one that has a method Bytes() []byte. The rules are in "AWS
// Signature Version 4" in the IAM user guide and, for S3, in its API reference.
func (v *Verifier) Verify(r *http.Request, service string, now time.Time) (string, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return "", refuse(service, malformedURL, "the query string cannot be parsed")
	}
	sig, refusal := parse(r, query, service)
	if refusal == nil {
		refusal = sig.check(r, v.region, now)
	}
	if refusal != nil {
		return "", refusal
	}
	secret, ok := v.secret(sig.accessKey)
	if !ok {
		return "", refuse(service, unknownKey, "The security token included in the request is invalid.")
	}
	if service != serviceS3 {
		if sig.payload, err = hashBody(r); err != nil {
			return "", err
		}
	}
	toSign := sig.stringToSign(canonicalRequest(r, query, sig))
	want := hex.EncodeToString(sign(v.keys.of(secret, sig.scope), toSign))
	if !hmac.Equal([]byte(want), []byte(sig.value)) {
		return "", refuse(service, wrongSignature, "The request signature we calculated does not match the signature you "+
			"provided. Check your AWS Secret Access Key and signing method.")
	}
	return sig.accessKey, nil
}
