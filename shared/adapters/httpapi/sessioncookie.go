package httpapi

import (
	"net/http"
	"time"

	"recordbridge/shared/words/secret"
)

// SessionCookieName is the name of the cookie with a session's token. No neighbouring host can set it (RFC 6265bis
// section 4.1.3.2), and no host but the one that did is given it.
const SessionCookieName = "__Host-recordbridge-session"

// WithCookies is the Out of a JSON endpoint that also gives its browser cookies. Data is what the envelope holds.
type WithCookies struct {
	Data    any
	Cookies []*http.Cookie
}

// StrictCookie makes a cookie like HostCookie's that does not come when a page of others sends the browser here.
func StrictCookie(name string, value secret.Text, age time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: name, Value: value.Reveal(), Path: "/", MaxAge: int(age.Seconds()), Secure: true, HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
}
