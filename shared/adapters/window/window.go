// Package window serves the sign-in windows that the service's pages open. One of those pages posts a single-use start
// value, which is needed to reach the portal. After the sign-in, the browser returns to a page that notifies the
// opener.
package window

import (
	"cmp"
	"context"
	"embed"
	"net/http"
	"strings"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/weburl"
)

// Prepared is the form that one of the service's pages posts to start an attempt. Prepared includes headers that
// identify the form's origin.
type Prepared struct {
	Start  string `form:"start_value" required:"true"`
	Site   string `header:"Sec-Fetch-Site"`
	Mode   string `header:"Sec-Fetch-Mode"`
	Origin string `header:"Origin"`
}

// Leaver starts an attempt that was created by one of the service's pages.
type Leaver interface {
	Leave(ctx context.Context, start secret.Text) (binding.Started, error)
}

// Leave starts an attempt if a page on baseURL's origin posts the attempt's start value. Leave rejects a form from any
// other origin because such a form could bind one person's sign-in to another person's attempt
// (docs/develop/threats-sign-in.md).
//
// The response is a page that sends the browser to the portal. A redirect wouldn't work because Chromium applies the
// posting page's form-action policy to every redirect after the form, including the portal's.
func Leave(ctx context.Context, visit httpapi.Visit, in Prepared, baseURL string,
	flows Leaver,
) (httpapi.Answer, error) {
	own := catalog.Origin(baseURL)
	if own == "" || in.Origin != own || in.Site != "same-origin" || in.Mode != "navigate" {
		return httpapi.Answer{}, astray()
	}
	started, err := flows.Leave(ctx, secret.New(in.Start))
	if binding.IsCancelled(err) {
		return cancelled(ctx, visit, started.Look, err)
	}
	if err != nil {
		return httpapi.Answer{}, Failed(err, started.Look)
	}
	s, err := Sheet(visit, started.Look, "leaving", httpapi.Plain, "leave")
	s.Values = map[string]string{"portal": started.URL}
	return httpapi.Document(s, bind(visit, started, httpapi.CookiesAt(baseURL))...), err
}

// RefuseDirectVisit rejects a browser that opens a start URL through a link, a redirect or the address bar.
func RefuseDirectVisit(context.Context, httpapi.Visit, struct{}) (httpapi.Answer, error) {
	return httpapi.Answer{}, astray()
}

const direct = "This page can't be opened directly. Return to the application, reload it and start again. " +
	"If that does not help, update your browser or use a different one."

func astray() error { return fault.BadRequest(direct) }

// Opened returns the error for a GET request to a start URL that accepts only a form. The error is
// fault.MethodNotAllowed and has the same text as the error of RefuseDirectVisit.
func Opened() error {
	return fault.New(fault.MethodNotAllowed, fault.CodeMethodNotAllowed, direct)
}

// Depart redirects the browser to the sign-in page and sets the cookie that binds the attempt to that browser.
func Depart(visit httpapi.Visit, started binding.Started, cookies httpapi.Cookies) httpapi.Answer {
	return httpapi.Redirect(started.URL, bind(visit, started, cookies)...)
}

// bind returns the cookie that binds the attempt to the browser, preceded by expired cookies that delete the browser's
// surplus binding cookies.
func bind(visit httpapi.Visit, started binding.Started, cookies httpapi.Cookies) []*http.Cookie {
	var all []*http.Cookie
	for _, name := range binding.SurplusCookies(cookies.All(visit)) {
		all = append(all, cookies.Expired(name))
	}
	return append(all, cookies.Lax(started.CookieName, started.CookieValue, started.CookieAge))
}

// EndBinding returns a cookie that makes the browser delete an attempt's binding cookie. Callers send the cookie when
// the browser returns from the sign-in.
func EndBinding(state string, cookies httpapi.Cookies) *http.Cookie {
	return cookies.Expired(binding.CookieName(state))
}

//go:embed sheets
var sheets embed.FS

// LookOf returns the look of the windows for a widget's attempt, which consists of the widget's language (possibly "")
// and the caller's branding. Like other pages, windows don't show images from the service's own hosts
// (docs/develop/threats-sign-in.md, "Start values"). LookOf returns fault.Invalid if the language is not available.
func LookOf(caller org.Caller, own weburl.Own, language string) (binding.Look, error) {
	look := binding.Look{Language: language, Organisation: caller.Brand.Name, Accent: caller.Brand.Accent}
	if logo := own.Shown(caller.Brand.LogoURI); strings.HasPrefix(logo, "https://") {
		look.Logo = logo
	}
	return look, binding.CheckLanguage(language)
}

func brandOf(look binding.Look) httpapi.Brand {
	return httpapi.Brand{Name: look.Organisation, Logo: look.Logo, Accent: look.Accent}
}

// Failed returns err with an error page that uses the attempt's look.
func Failed(err error, look binding.Look) error {
	return httpapi.Branded(err, look.Language, brandOf(look))
}

// Sheet returns a page with the given look. The page's scripts run in the given order. If the look has no language, the
// page uses the browser's preferred language.
func Sheet(visit httpapi.Visit, look binding.Look, name string, mood httpapi.SheetIcon,
	scripts ...string,
) (httpapi.Sheet, error) {
	made := httpapi.Sheet{Language: cmp.Or(look.Language, visit.Language()), Brand: brandOf(look), Icon: mood}
	body, err := sheets.ReadFile("sheets/" + name + "." + made.Language + ".html")
	made.Body = string(body)
	for _, script := range scripts {
		var text []byte
		if err == nil {
			text, err = sheets.ReadFile("sheets/" + script + ".js")
		}
		made.Script += string(text)
	}
	return made, err //nolint:wrapcheck // what is embedded is there
}

// cancelled returns the page for a sign-in window whose attempt the patient has already cancelled.
func cancelled(ctx context.Context, visit httpapi.Visit, look binding.Look, failure error,
	expired ...*http.Cookie,
) (httpapi.Answer, error) {
	logx.Fail(ctx, failure)
	s, err := Sheet(visit, look, "cancelled", httpapi.Plain, "nudge")
	return httpapi.Document(s, expired...), err
}

// Ended is the result of a sign-in.
type Ended struct {
	Sheet   string // page to show on success
	State   string // state returned by the browser
	Look    binding.Look
	Failure error // nil if the sign-in succeeded
}

// End returns the window's last page, which reports success, failure or cancellation by the patient. The page notifies
// the opener, which reads the result from the attempt. The page contains no text from other servers. After a failure,
// the window stays open so that the user can read the error's reference.
func End(ctx context.Context, visit httpapi.Visit, end Ended, cookies httpapi.Cookies) (httpapi.Answer, error) {
	expired := EndBinding(end.State, cookies)
	if end.Failure == nil {
		s, err := Sheet(visit, end.Look, end.Sheet, httpapi.Good, "nudge", "close")
		return httpapi.Document(s, expired), err
	}
	if binding.IsCancelled(end.Failure) {
		return cancelled(ctx, visit, end.Look, end.Failure, expired)
	}
	logx.Fail(ctx, end.Failure)
	shown := fault.Of(end.Failure)
	if shown.Kind == fault.Internal {
		shown = fault.Of(nil)
	}
	s, err := Sheet(visit, end.Look, "failed", httpapi.Bad, "nudge")
	s.Values = map[string]string{"description": shown.Public, "request_id": logx.RequestID(ctx)}
	return httpapi.Document(s, expired), err
}
