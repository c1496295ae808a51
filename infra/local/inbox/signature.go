package inbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// Signature is what the inbox found out about a delivery's signature.
type Signature string

// The results.
const (
	Verified Signature = "verified" // signed with the secret of its inbox, and fresh
	Wrong    Signature = "wrong"    // not signed so, or too old
	Unknown  Signature = "unknown"  // the secret of its inbox is not known
)

// tolerance between the time of signing and the time of arrival, as Standard Webhooks' own libraries have it.
const tolerance = 5 * time.Minute

// verify checks a delivery as Standard Webhooks 1.0 says: HMAC-SHA256 over "id.timestamp.body" with the secret's bytes;
// reason says, in words for a person, what is the matter with one that is not Verified.
// It is written apart from the service's signing on purpose: a shared mistake would verify itself.
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
