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
	// maxCookies is the number of attempts that a browser may have in progress. Each binding cookie takes 85 bytes of
	// the request header, and API Gateway limits the total size of the headers to 10,240 bytes. API Gateway rejects a
	// larger request before any code that could expire a cookie runs.
	maxCookies = 20
	// maxExpired is the maximum number of cookies that a response expires, because the size of response headers is also
	// limited. One cookie is expired for each new cookie.
	maxExpired = 20
)

// CookieName returns the name of the cookie that binds a state value to its browser. The name doesn't include the
// prefix that the HTTP edge adds (httpapi.Cookies). Each attempt has its own cookie, so that attempts in two open tabs
// don't interfere.
func CookieName(state string) string { return cookiePrefix + Hash(state)[:16] }

// cookieValue returns a binding cookie's value. The value consists of the cookie's creation time and 256 random bits.
// SurplusCookies uses the creation time to find the oldest cookies.
func cookieValue(random string, now time.Time) string {
	return strconv.FormatInt(now.Unix(), 36) + "." + random
}

// SurplusCookies returns, oldest first, the names of the cookies to expire before a browser gets another binding
// cookie. held maps the names of all the browser's cookies to their values. Attempts whose cookies are expired can no
// longer be completed.
func SurplusCookies(held map[string]string) []string {
	type bound struct {
		name string
		made int64 // creation time from the cookie's value; 0 if the value doesn't contain a time
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
