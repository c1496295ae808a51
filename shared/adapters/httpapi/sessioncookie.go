package httpapi

import (
	"net/http"
	"time"

	"recordbridge/shared/words/secret"
)

// SessionCookieName is the name of the session cookie. No other host of the domain can set it (RFC 6265bis section
// 4.1.3.2), and browsers send it only to the host that set it.
const SessionCookieName = "__Host-recordbridge-session"

// WithCookies is the Out of a JSON endpoint that also sets cookies. Data is the envelope's data.
type WithCookies struct {
	Data    any
	Cookies []*http.Cookie
}

// StrictCookie creates a cookie like HostCookie's, except that browsers don't send it when the user follows a link from
// another site.
func StrictCookie(name string, value secret.Text, age time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: name, Value: value.Reveal(), Path: "/", MaxAge: int(age.Seconds()), Secure: true, HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
}
