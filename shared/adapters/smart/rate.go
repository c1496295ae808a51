package smart

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"recordbridge/shared/fhir"
)

// maxQuota is the maximum value of a rate limit header. The limit prevents integer overflow in calculations.
const maxQuota = 1 << 40

// firstUnixTime is the lowest reset value interpreted as a Unix time. A lower reset value is a delay in seconds.
const firstUnixTime = 1_000_000_000

// rate parses the server's rate limit headers. rate accepts the separate fields of earlier versions of
// draft-ietf-httpapi-ratelimit-headers, and their older X- variants. The rate is known if limit and remaining are
// present and no field is malformed.
func rate(header http.Header) fhir.Rate {
	for _, prefix := range [...]string{"RateLimit-", "X-RateLimit-"} {
		limit, limitOK := quota(header, prefix+"Limit")
		remaining, remainingOK := quota(header, prefix+"Remaining")
		reset, resetOK := resetOf(header, prefix)
		if header.Get(prefix+"Reset") == "" {
			resetOK = true // reset is optional
		}
		if limitOK && remainingOK && resetOK && limit > 0 {
			return fhir.Rate{Limit: limit, Remaining: remaining, Reset: reset, Known: true}
		}
	}
	return fhir.Rate{}
}

// quota parses the number at the start of a rate limit header. The Internet-Draft allows quota policies after the
// number.
func quota(header http.Header, name string) (number int, ok bool) {
	text, _, _ := strings.Cut(header.Get(name), ",")
	text, _, _ = strings.Cut(text, ";")
	number, err := strconv.Atoi(strings.TrimSpace(text))
	return min(number, maxQuota), err == nil && number >= 0
}

// resetOf returns the time until the quota resets. The header contains seconds or a Unix time. A Unix time is compared
// with the response's Date header, so clock skew between server and client doesn't matter.
func resetOf(header http.Header, prefix string) (wait time.Duration, ok bool) {
	number, ok := quota(header, prefix+"Reset")
	if !ok {
		return 0, false
	}
	if number > firstUnixTime {
		now, err := http.ParseTime(header.Get("Date"))
		if err != nil {
			return 0, false
		}
		number = max(0, number-int(now.Unix()))
	}
	return time.Duration(min(number, int(maxRetryAfter/time.Second))) * time.Second, true
}

// waitOf returns the delay that an error response requests, or 0 if the response requests none.
func waitOf(response *http.Response) time.Duration {
	busy := response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusServiceUnavailable
	if wait := retryAfter(response.Header); wait > 0 || response.Header.Get("Retry-After") != "" || !busy {
		return wait
	}
	for _, prefix := range [...]string{"RateLimit-", "X-RateLimit-"} {
		if wait, ok := resetOf(response.Header, prefix); ok {
			return wait
		}
	}
	return 0
}
