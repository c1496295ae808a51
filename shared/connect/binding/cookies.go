package binding

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	cookiePrefix = "attempt-"
	// maxCookies limits a browser's concurrent attempts. Each binding cookie takes 85 bytes of the request header, and
	// API Gateway limits the total size of the headers to 10,240 bytes. API Gateway rejects larger requests before the
	// service can expire any cookies.
	maxCookies = 20
	// maxExpired is the maximum number of cookies that a response expires, because the size of response headers is also
	// limited. A browser at the maxCookies limit loses one cookie for each new one.
	maxExpired = 20
)

// CookieName returns the name of the cookie that binds a state value to its browser. The name excludes the prefix that
// the HTTP edge adds (httpapi.Cookies). Each attempt has its own cookie so that attempts in separate tabs don't
// interfere.
func CookieName(state string) string { return cookiePrefix + Hash(state)[:16] }

// cookieValue returns a binding cookie's value, which contains the cookie's creation time and 256 random bits.
// SurplusCookies uses the creation time to find the oldest cookies.
func cookieValue(random string, now time.Time) string {
	return strconv.FormatInt(now.Unix(), 36) + "." + random
}

// SurplusCookies returns the names of the binding cookies to expire, oldest first, before the browser gets another one.
// held maps the name of each of the browser's cookies to its value. An attempt whose cookie was expired can no longer
// be completed.
func SurplusCookies(held map[string]string) []string {
	type bound struct {
		name string
		made int64 // creation time according to the cookie's value; 0 if the value contains no valid time
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
