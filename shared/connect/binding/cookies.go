package binding

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	cookiePrefix = "__Host-attempt-"
	// maxCookies is the number of attempts that a browser may have under way. A cookie takes 85 bytes of the request
	// header, and API Gateway limits the header to 10,240 bytes in all. It rejects a larger request before any code that
	// could expire a cookie runs.
	maxCookies = 20
	// maxExpired limits the cookies that one response expires, because response headers are limited too. One cookie is
	// expired for each new one.
	maxExpired = 20
)

// CookieName returns the name of the cookie that binds a state value to its browser. Each attempt has its own, so that
// two open tabs do not disturb each other.
func CookieName(state string) string { return cookiePrefix + Hash(state)[:16] }

// cookieValue returns the value with which a browser proves itself: its creation time, by which SurplusCookies finds
// the oldest, followed by 256 random bits.
func cookieValue(random string, now time.Time) string {
	return strconv.FormatInt(now.Unix(), 36) + "." + random
}

// SurplusCookies returns the names of the cookies to expire when a browser gets one more, oldest first. held contains
// all of its cookies by name. Attempts whose cookies are expired can no longer be completed.
func SurplusCookies(held map[string]string) []string {
	type bound struct {
		name string
		made int64 // 0 if the value does not contain it
	}
	var all []bound
	for name, value := range held {
		if strings.HasPrefix(name, cookiePrefix) {
			stamp, _, _ := strings.Cut(value, ".")
			made, err := strconv.ParseInt(stamp, 36, 64)
			if err != nil {
				made = 0
			}
			all = append(all, bound{name: name, made: made})
		}
	}
	slices.SortFunc(all, func(a, b bound) int { return cmp.Or(cmp.Compare(a.made, b.made), cmp.Compare(a.name, b.name)) })
	surplus := min(max(len(all)-(maxCookies-1), 0), maxExpired)
	names := make([]string, 0, surplus)
	for _, b := range all[:surplus] {
		names = append(names, b.name)
	}
	return names
}
