// Package totp implements the six-digit SHA-1 codes of authenticator apps (RFC 6238). Codes change every 30 seconds.
// The caller must remember the last accepted code's time step.
package totp

import (
	"crypto/hmac"
	//nolint:gosec // G505: RFC 6238's default, which generators know alone; an HMAC does not rest on collisions
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"time"
)

const (
	step   = 30 * time.Second
	digits = 1_000_000
	// skew is the number of time steps by which an authenticator clock may be ahead or behind (RFC 6238 section 5.2).
	skew = 1
	// Size is the size of a secret in bytes, as recommended by RFC 4226 section 4.
	Size = 20
)

// Code returns the code for a time step.
func Code(secret []byte, number int64) string {
	var message [8]byte
	binary.BigEndian.PutUint64(message[:], uint64(number)) //nolint:gosec // G115: steps since 1970 are positive
	mac := hmac.New(sha1.New, secret)
	mac.Write(message[:])
	sum := mac.Sum(nil)
	offset := sum[len(sum)-1] & 0x0f
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[offset:])&0x7fffffff%digits)
}

// Step returns the time step that contains a time.
func Step(at time.Time) int64 { return at.Unix() / int64(step/time.Second) }

// Match returns the time step whose code was typed. It considers only steps later than after. ok is false if no step
// matches. The time that it takes doesn't depend on which step matches.
func Match(secret []byte, typed string, now time.Time, after int64) (found int64, ok bool) {
	for number := Step(now) - skew; number <= Step(now)+skew; number++ {
		right := subtle.ConstantTimeCompare([]byte(Code(secret, number)), []byte(typed)) == 1
		if right && number > after && !ok {
			found, ok = number, true
		}
	}
	return found, ok
}

// Base32 returns a secret in the form that users type into an authenticator app.
func Base32(secret []byte) string {
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret)
}

// URI returns the URI that an authenticator app reads from a QR code to import a secret
// (https://github.com/google/google-authenticator/wiki/Key-Uri-Format).
func URI(secret []byte, issuer, owner string) string {
	query := url.Values{"secret": {Base32(secret)}, "issuer": {issuer}}
	return (&url.URL{Scheme: "otpauth", Host: "totp", Path: "/" + issuer + ":" + owner, RawQuery: query.Encode()}).String()
}
