package httpapi

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"recordbridge/shared/words/secret"
)

// hostPrefix is the name prefix of cookies that other hosts in the domain can't set (RFC 6265bis section 4.1.3.2).
const hostPrefix = "__Host-"

// SessionCookie is the name of the dashboard's session cookie.
const SessionCookie = "recordbridge-session"

// WithCookies is the Out type of a JSON endpoint that also sets cookies. Data becomes the success envelope's data
// member.
type WithCookies struct {
	Data    any
	Cookies []*http.Cookie
}

// Cookies names, creates and reads the service's cookies. The cookies' full names begin with __Host-, and browsers send
// such cookies only over https. A service on the local machine may use http without the prefix, because WebKit rejects
// __Host- cookies over http. The zero value represents a service that uses https.
type Cookies struct {
	plain bool // whether cookies lack both the prefix and the Secure attribute
}

// CookiesAt returns the Cookies of a service with the given base URL.
func CookiesAt(baseURL string) Cookies {
	u, err := url.Parse(baseURL)
	if err != nil || u.Scheme != "http" {
		return Cookies{}
	}
	host := u.Hostname()
	return Cookies{plain: host == "127.0.0.1" || host == "localhost" || host == "::1"}
}

// Name returns the full name of a cookie.
func (c Cookies) Name(name string) string {
	if c.plain {
		return name
	}
	return hostPrefix + name
}

// Lax creates a cookie that browsers send only to this origin, even when the user follows a link from another site.
func (c Cookies) Lax(name string, value secret.Text, age time.Duration) *http.Cookie {
	return c.cookie(name, value, age, http.SameSiteLaxMode)
}

// Strict creates a cookie like Lax, except that browsers don't send it when the user follows a link from another site.
func (c Cookies) Strict(name string, value secret.Text, age time.Duration) *http.Cookie {
	return c.cookie(name, value, age, http.SameSiteStrictMode)
}

// Expired returns a cookie that deletes the cookie of the same name created by Lax.
func (c Cookies) Expired(name string) *http.Cookie { return c.Lax(name, secret.Text{}, -time.Second) }

// Of returns a function that looks up the service's cookies in a request by name. The function returns the cookie's
// value, or "" if the browser didn't send it. A cookie is ignored if it has the prefix and the service's cookies don't,
// or vice versa.
func (c Cookies) Of(v Visit) func(name string) string {
	return func(name string) string { return cookieOf(v.request, c.Name(name)) }
}

// All returns the names and values of the service's cookies in a request. Cookies without a prefix can't be
// distinguished from the cookies of other programs on the local machine.
func (c Cookies) All(v Visit) map[string]string {
	all := map[string]string{}
	for _, cookie := range v.request.Cookies() {
		name, isHost := strings.CutPrefix(cookie.Name, hostPrefix)
		if isHost != c.plain {
			all[name] = cookie.Value
		}
	}
	return all
}

func (c Cookies) cookie(name string, value secret.Text, age time.Duration, site http.SameSite) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure is missing only at http on the local machine (CookiesAt)
		Name: c.Name(name), Value: value.Reveal(), Path: "/", MaxAge: int(age.Seconds()), Secure: !c.plain,
		HttpOnly: true, SameSite: site,
	}
}

func cookieOf(r *http.Request, name string) string {
	cookie, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return cookie.Value
}
