package smart

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"recordbridge/shared/fhir"
)

// maxQuota bounds what a rate header says, so that whoever calculates with it stays within an int.
const maxQuota = 1 << 40

// firstUnixTime is the number from which a reset is no longer seconds to wait, but a Unix time.
const firstUnixTime = 1_000_000_000

// rate reads what an answer tells of the server's limits: the fields of draft-ietf-httpapi-ratelimit-headers
// before they became one, or their elder siblings with X-. It is known where limit and remaining are there
// and nothing is malformed.
func rate(header http.Header) fhir.Rate {
	for _, prefix := range [...]string{"RateLimit-", "X-RateLimit-"} {
		limit, limitOK := quota(header, prefix+"Limit")
		remaining, remainingOK := quota(header, prefix+"Remaining")
		reset, resetOK := resetOf(header, prefix)
		if header.Get(prefix+"Reset") == "" {
			resetOK = true // it counts, even so
		}
		if limitOK && remainingOK && resetOK && limit > 0 {
			return fhir.Rate{Limit: limit, Remaining: remaining, Reset: reset, Known: true}
		}
	}
	return fhir.Rate{}
}

// quota reads the number that a rate header begins with; the draft lets the policies follow it.
func quota(header http.Header, name string) (number int, ok bool) {
	text, _, _ := strings.Cut(header.Get(name), ",")
	text, _, _ = strings.Cut(text, ";")
	number, err := strconv.Atoi(strings.TrimSpace(text))
	return min(number, maxQuota), err == nil && number >= 0
}

// resetOf reads how long it is until there is quota again: seconds, or a Unix time, which is compared with the answer's
// own Date so that no two clocks have to agree.
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

// waitOf returns how long a refused answer asks to wait; 0 when it does not.
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
