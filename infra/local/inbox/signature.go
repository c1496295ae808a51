package inbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// Signature is the result of verifying a delivery's signature.
type Signature string

// Results of verification.
const (
	Verified Signature = "verified" // the signature is valid and its timestamp is recent
	Wrong    Signature = "wrong"    // no signature is valid, or the timestamp differs too much from the arrival time
	Unknown  Signature = "unknown"  // not verifiable, because the inbox has no valid secret
)

// tolerance is the maximum difference between a signature's timestamp and its arrival, as in the libraries of Standard
// Webhooks.
const tolerance = 5 * time.Minute

// verify checks a delivery's signature according to Standard Webhooks 1.0. The signature is the HMAC-SHA256 of
// "id.timestamp.body" under the decoded secret. If the result is not Verified, reason explains why. verify deliberately
// doesn't use the service's signing code, because a mistake in shared code would go undetected.
func verify(secret string, d Delivery) (result Signature, reason string) {
	if secret == "" {
		return Unknown, "this inbox has no known secret"
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return Unknown, "this inbox's secret is not valid base64"
	}
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		if d.Headers[name] == "" {
			return Wrong, "the header " + name + " is missing"
		}
	}
	id, timestamp := d.Headers["webhook-id"], d.Headers["webhook-timestamp"]
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return Wrong, "webhook-timestamp is not a number of seconds"
	}
	if d.ReceivedAt.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return Wrong, "signed more than " + tolerance.String() + " before or after it arrived"
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "." + d.Body))
	want := mac.Sum(nil)
	for signature := range strings.FieldsSeq(d.Headers["webhook-signature"]) {
		encoded, isV1 := strings.CutPrefix(signature, "v1,")
		got, err := base64.StdEncoding.DecodeString(encoded)
		if isV1 && err == nil && hmac.Equal(got, want) {
			return Verified, ""
		}
	}
	return Wrong, "no signature matches the body and this inbox's secret"
}
