// Package window serves the windows that our own pages open for a sign-in. A browser leaves once, with a start value
// posted by one of our pages, and ends on a page that notifies the opener.
package window

import (
	"context"
	"embed"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/secret"
)

// Prepared is the form that one of our pages posts to start an attempt, with the browser's headers on its source.
type Prepared struct {
	Start  string `form:"start_value" required:"true"`
	Site   string `header:"Sec-Fetch-Site"`
	Mode   string `header:"Sec-Fetch-Mode"`
	Origin string `header:"Origin"`
}

// Leaver begins attempts that one of our pages has created.
type Leaver interface {
	Leave(ctx context.Context, start secret.Text) (binding.Started, error)
}

// Leave starts an attempt if one of our pages, on the origin of baseURL, posts the start value. A form of any other
// site is refused: it could bind one person's sign-in to another's attempt (docs/develop/threat-model.md).
//
// The response is a page that leads to the portal, rather than a redirect: Chromium applies the posting page's
// form-action policy to every redirect after the form, the portal's included.
func Leave(ctx context.Context, visit httpapi.Visit, in Prepared, baseURL string,
	flows Leaver,
) (httpapi.Answer, error) {
	own := catalog.Origin(baseURL)
	if own == "" || in.Origin != own || in.Site != "same-origin" || in.Mode != "navigate" {
		return httpapi.Answer{}, astray()
	}
	started, err := flows.Leave(ctx, secret.New(in.Start))
	if err != nil {
		return httpapi.Answer{}, err
	}
	s, err := Sheet(visit, "leaving", httpapi.Plain, "leave")
	s.Values = map[string]string{"portal": started.URL}
	return httpapi.Document(s, cookies(visit, started)...), err
}

// RefuseDirectVisit refuses a browser that reached a start address by a link, a redirect or its address bar.
func RefuseDirectVisit(context.Context, httpapi.Visit, struct{}) (httpapi.Answer, error) {
	return httpapi.Answer{}, astray()
}

const direct = "This page can't be opened directly. Return to the application, reload it and start again. " +
	"If that does not help, update your browser or use a different one."

func astray() error { return fault.BadRequest(direct) }

// Opened returns RefuseDirectVisit's error for a start address that has no GET.
func Opened() error {
	return fault.New(fault.MethodNotAllowed, fault.CodeMethodNotAllowed, direct)
}

// Depart redirects the browser to the sign-in, with the cookie that binds the attempt to it.
func Depart(visit httpapi.Visit, started binding.Started) httpapi.Answer {
	return httpapi.Redirect(started.URL, cookies(visit, started)...)
}

// cookies returns the cookie that binds the attempt to the browser, preceded by the removals that make room for it.
func cookies(visit httpapi.Visit, started binding.Started) []*http.Cookie {
	expired := httpapi.ExpiredCookies(binding.SurplusCookies(visit.Cookies())...)
	return append(expired, httpapi.HostCookie(started.CookieName, started.CookieValue.Reveal(), started.CookieAge))
}

// EndBinding removes the cookie of an attempt whose browser has come back.
func EndBinding(state string) *http.Cookie {
	return &http.Cookie{
		Name: binding.CookieName(state), Path: "/", MaxAge: -1, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

//go:embed sheets
var sheets embed.FS

// Sheet returns a page in the visitor's language, with scripts that run in sequence.
func Sheet(visit httpapi.Visit, name string, mood httpapi.SheetIcon, scripts ...string) (httpapi.Sheet, error) {
	body, err := sheets.ReadFile("sheets/" + name + "." + visit.Language() + ".html")
	made := httpapi.Sheet{Language: visit.Language(), Icon: mood, Body: string(body)}
	for _, script := range scripts {
		var text []byte
		if err == nil {
			text, err = sheets.ReadFile("sheets/" + script + ".js")
		}
		made.Script += string(text)
	}
	return made, err //nolint:wrapcheck // what is embedded is there
}

// End returns the last page of the window. It shows success, with the sheet named done, or the failure. The page that
// opened the window gets the same result from the attempt, for which the window notifies it. The page contains no text
// from another server. A window that shows a failure stays open, so that its reference can be read.
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
