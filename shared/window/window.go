// Package window is what the windows have in common that our own pages open for a sign-in: they leave once, by a start value, and
// end on a page that wakes the one which opened them.
package window

import (
	"context"
	"embed"
	"net/http"

	"recordbridge/shared/binding"
	"recordbridge/shared/fault"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/logx"
	"recordbridge/shared/secret"
)

// Prepared is the request of a browser with a start value.
type Prepared struct {
	Attempt string `query:"attempt" required:"true"`
	Site    string `header:"Sec-Fetch-Site"`
}

// Leaver begins attempts that a page of ours has made.
type Leaver interface {
	Leave(ctx context.Context, start secret.Text) (binding.Started, error)
}

// Leave lets a browser go that was opened by our own page. A link that somebody else made, or a browser that does not say
// where it comes from, could bind a person's sign-in to another's attempt (docs/threat-model.md).
func Leave(ctx context.Context, visit httpapi.Visit, in Prepared, flows Leaver) (httpapi.Answer, error) {
	if in.Site != "same-origin" {
		return httpapi.Answer{}, fault.BadRequest("This page cannot be opened by itself. Return to the application and start again there; " +
			"if that does not help, update your browser or use another one.")
	}
	started, err := flows.Leave(ctx, secret.New(in.Attempt))
	if err != nil {
		return httpapi.Answer{}, err
	}
	return Depart(visit, started), nil
}

// Depart sends the browser to where the person signs in, with the cookie that binds the attempt to it.
func Depart(visit httpapi.Visit, started binding.Started) httpapi.Answer {
	cookies := httpapi.ExpiredCookies(binding.SurplusCookies(visit.Cookies())...)
	return httpapi.Redirect(started.URL, append(cookies, httpapi.HostCookie(started.CookieName, started.CookieValue.Reveal(), started.CookieAge))...)
}

// EndBinding removes the cookie of an attempt whose browser has come back.
func EndBinding(state string) *http.Cookie {
	return &http.Cookie{
		Name: binding.CookieName(state), Path: "/", MaxAge: -1, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

//go:embed sheets
var sheets embed.FS

// Sheet is one of the pages in the visitor's language, with scripts that run one after the other.
func Sheet(visit httpapi.Visit, name string, mood httpapi.Mood, scripts ...string) (httpapi.Sheet, error) {
	body, err := sheets.ReadFile("sheets/" + name + "." + visit.Language() + ".html")
	made := httpapi.Sheet{Language: visit.Language(), Mood: mood, Body: string(body)}
	for _, script := range scripts {
		var text []byte
		if err == nil {
			text, err = sheets.ReadFile("sheets/" + script + ".js")
		}
		made.Script += string(text)
	}
	return made, err //nolint:wrapcheck // what is embedded is there
}

// End is what a person sees in the window at last: that it is done, by the sheet of that name, or what has failed, while the page
// that opened it learns the same from the attempt, for which the window nudges it. Nothing that the server of others sent is on it. A
// window that tells of a failure stays: its reference is to be read.
func End(ctx context.Context, visit httpapi.Visit, done string, failure error, state string) (httpapi.Answer, error) {
	if failure == nil {
		s, err := Sheet(visit, done, httpapi.Good, "nudge", "close")
		return httpapi.Document(s, EndBinding(state)), err
	}
	logx.Fail(ctx, failure)
	shown := fault.Of(failure)
	if shown.Kind == fault.Internal {
		shown = fault.Of(nil)
	}
	s, err := Sheet(visit, "failed", httpapi.Bad, "nudge")
	s.Values = map[string]string{"description": shown.Public, "request_id": logx.RequestID(ctx)}
	return httpapi.Document(s, EndBinding(state)), err
}
