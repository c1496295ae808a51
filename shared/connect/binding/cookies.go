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
	// maxCookies is how many attempts a browser may have under way. A cookie takes 85 bytes of the request's header, of
	// which API Gateway takes 10,240 in all, and a request with more reaches nobody who could take one away.
	maxCookies = 20
	// maxExpired bounds what one answer takes away, since its header is bounded too. One goes for each that comes.
	maxExpired = 20
)

// CookieName is the name of the cookie that binds a state value to its browser. Each attempt has its own, so that
// two open tabs do not disturb each other.
func CookieName(state string) string { return cookiePrefix + Hash(state)[:16] }

// cookieValue is what a browser proves itself with: 256 random bits, behind the time by which
// SurplusCookies finds the oldest.
func cookieValue(random string, now time.Time) string {
	return strconv.FormatInt(now.Unix(), 36) + "." + random
}

// SurplusCookies names the cookies that a browser has to give up when it gets one more, the oldest first. held are all
// of its cookies, by name. The attempts of those that go cannot be completed any more.
func SurplusCookies(held map[string]string) []string {
	type bound struct {
		name string
		made int64 // 0 when the value does not say it
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
