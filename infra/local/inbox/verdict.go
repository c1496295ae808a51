package inbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// Verdict says what the inbox thinks of a delivery's signature.
type Verdict string

// The verdicts.
const (
	Verified Verdict = "verified" // signed with the secret of its inbox, and fresh
	Wrong    Verdict = "wrong"    // not signed so, or too old
	Unknown  Verdict = "unknown"  // the secret of its inbox is not known
)

// tolerance between the time of signing and the time of arrival, as Standard Webhooks' own libraries have it.
const tolerance = 5 * time.Minute

// judge checks a delivery as Standard Webhooks 1.0 says: HMAC-SHA256 over "id.timestamp.body" with the secret's bytes.
// It is written apart from the service's signing on purpose: a shared mistake would verify itself.
func judge(secret string, d Delivery) Verdict {
	if secret == "" {
		return Unknown
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return Unknown
	}
	id, timestamp := d.Headers["webhook-id"], d.Headers["webhook-timestamp"]
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || id == "" || d.ReceivedAt.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return Wrong
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "." + d.Body))
	want := mac.Sum(nil)
	for signature := range strings.FieldsSeq(d.Headers["webhook-signature"]) {
		encoded, isV1 := strings.CutPrefix(signature, "v1,")
		got, err := base64.StdEncoding.DecodeString(encoded)
		if isV1 && err == nil && hmac.Equal(got, want) {
			return Verified
		}
	}
	return Wrong
}
