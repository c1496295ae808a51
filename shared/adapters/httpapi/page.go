package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/weburl"
)

// Visit is what a page function knows of the browser that came.
type Visit struct {
	Caller   org.Caller           // the organisation of public_id; zero on a Page
	Redirect org.VerifiedRedirect // proven by redirect_uri; zero on a Page
	Trouble  *Trouble             // what is wrong with an Application's address; else nil
	request  *http.Request
}

// Trouble is an error as an application shows it itself (docs/openapi.yaml, Error).
type Trouble struct {
	Code        string
	Description string
	RequestID   string
}

// Language is that of the pages' languages which the browser asks for.
func (v Visit) Language() string { return languageOf(v.request) }

// Cookie returns the value of the browser's cookie of that name, or "".
func (v Visit) Cookie(name string) string {
	cookie, err := v.request.Cookie(name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// Cookies returns the values of all of the browser's cookies by name.
func (v Visit) Cookies() map[string]string {
	all := map[string]string{}
	for _, cookie := range v.request.Cookies() {
		all[cookie.Name] = cookie.Value
	}
	return all
}

// HostCookie makes a cookie that only this origin's servers see, and that comes back when a page of others sends the
// browser here. Its name begins with __Host-, so that no neighbouring host can set it (RFC 6265bis section 4.1.3.2).
func HostCookie(name, value string, age time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(age.Seconds()), Secure: true, HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
	}
}

// ExpiredCookies make a browser forget cookies of HostCookie.
func ExpiredCookies(names ...string) []*http.Cookie {
	all := make([]*http.Cookie, 0, len(names))
	for _, name := range names {
		all = append(all, HostCookie(name, "", -time.Second))
	}
	return all
}

// Answer is how a page function ends: Redirect, RedirectError, Document or Drawn makes one.
type Answer struct {
	location string
	html     []byte
	headers  func(http.Header) // of the page
	cookies  []*http.Cookie
	failure  error
}

// PublicPage makes an endpoint that a browser navigates to with ?public_id= and redirect_uri. Until both are proven an
// error ends as an HTML page and never as a redirect; its status is 400 for whatever the visitor's address got wrong,
// and 429, 500 or 503 otherwise. From then on every error goes back by redirect, whoever finds it: the rate limit, the
// binding of In, or f (docs/reference/deviations.md, "HTTP"; RFC 9700 section 4.11).
func PublicPage[In any](auth PublicAuth, f func(context.Context, Visit, In) (Answer, error)) Endpoint {
	bind := newBinder[In]()
	serve := func(ctx context.Context, c *call) (reply, error) {
		caller, err := auth.caller(ctx, c) // of one who comes too often, the caller as well
		redirect, unproven := redirectOf(auth.Own, c.request, caller)
		if unproven != nil {
			if err == nil {
				err = unproven
			}
			return reply{}, err
		}
		var answer Answer
		if err == nil {
			visit := Visit{Caller: caller, Redirect: redirect, request: c.request}
			answer, err = answerPage(ctx, c, bind, visit, f)
		}
		if err != nil {
			answer = RedirectError(ctx, redirect, echoOf(c.request), err)
		}
		return answer.render(c)
	}
	return Endpoint{serve: serve, fail: failPage}
}

// Page makes an endpoint for addresses that name no organisation, such as the one where portals return. An error that f
// returns is a page, as before the proof on a PublicPage; use RedirectError where a redirect was proven before. The
// limit is per client address.
func Page[In any](limiter Limiter, f func(context.Context, Visit, In) (Answer, error)) Endpoint {
	bind := newBinder[In]()
	serve := func(ctx context.Context, c *call) (reply, error) {
		if err := limiter.take(ctx, c, ""); err != nil {
			return reply{}, err
		}
		answer, err := answerPage(ctx, c, bind, Visit{request: c.request}, f)
		if err != nil {
			return reply{}, err
		}
		return answer.render(c)
	}
	return Endpoint{serve: serve, fail: failPage}
}

// FormPage makes a Page for the POST of a form, on a route without GET. Other methods, such as that of a browser that
// opens the URL, get the error opened as a page; its Kind should be fault.MethodNotAllowed.
func FormPage[In any](limiter Limiter, f func(context.Context, Visit, In) (Answer, error), opened error) Endpoint {
	endpoint := Page(limiter, f)
	endpoint.opened = opened
	return endpoint
}

// Application makes an endpoint for a page that carries an application, in a frame of others or alone, for the
// organisation of public_id. What is wrong with its address is no page of its own: f is told (Visit.Trouble) and
// the application shows it, with the status that an error page would have. The organisation is then nobody's,
// unless it came too often.
func Application[In any](auth PublicAuth, f func(context.Context, Visit, In) (Answer, error)) Endpoint {
	bind := newBinder[In]()
	serve := func(ctx context.Context, c *call) (reply, error) {
		caller, err := auth.caller(ctx, c)
		in, wrong := bind.from(c.request)
		if err == nil {
			err = wrong
		}
		visit, status := Visit{Caller: caller, request: c.request}, http.StatusOK
		if err != nil {
			shows := shown(ctx, err)
			shows.retry(c.header)
			status = pageStatus(fault.Of(err))
			visit.Trouble = &Trouble{Code: shows.code, Description: shows.description, RequestID: logx.RequestID(ctx)}
		}
		answer, err := f(ctx, visit, in)
		if err != nil {
			return reply{}, err
		}
		made, err := answer.render(c)
		if err == nil && made.status == http.StatusOK {
			made.status = status
		}
		return made, err
	}
	return Endpoint{serve: serve, fail: failPage}
}

func answerPage[In any](ctx context.Context, c *call, bind binder[In], visit Visit,
	f func(context.Context, Visit, In) (Answer, error),
) (Answer, error) {
	in, err := bind.from(c.request)
	if err != nil {
		return Answer{}, err
	}
	return f(ctx, visit, in)
}

// redirectOf proves the request's redirect_uri. Nobody's caller has none that could be proven.
func redirectOf(own weburl.Own, r *http.Request, caller org.Caller) (org.VerifiedRedirect, error) {
	query, err := parseQuery(r)
	if err != nil {
		return org.VerifiedRedirect{}, err
	}
	asked, err := single(query, "redirect_uri")
	if err != nil {
		return org.VerifiedRedirect{}, err
	}
	return org.MatchRedirect(own, caller.RedirectURIs, asked)
}

// Redirect sends the browser to location (302). The caller vouches for location: a portal's authorize URL, or a
// VerifiedRedirect with its result.
func Redirect(location string, cookies ...*http.Cookie) Answer {
	return Answer{location: location, cookies: cookies}
}

// Echo is what a caller of connect or reconnect gave to have it returned, on success and on failure (docs/openapi.yaml,
// ConnectResult and RedirectError). What is empty was not given.
type Echo struct {
	ExternalID    string
	ExternalState string
}

// maxEcho bounds what is repeated before anybody has checked it. Nothing longer is taken by any endpoint.
const maxEcho = 1024

// echoOf reads what is to be returned from the query of a request that is refused. What is itself wrong is left out.
func echoOf(r *http.Request) Echo {
	query := r.URL.Query()
	read := func(name string) string {
		value, err := single(query, name)
		if err != nil || len(value) > maxEcho {
			return ""
		}
		return value
	}
	return Echo{ExternalID: read("external_id"), ExternalState: read("external_state")}
}

// RedirectError sends an error to a proven redirect URI: error, error_description, request_id (this request's, which is
// what makes it unique per error), and the caller's own fields (docs/openapi.yaml, RedirectError). It also puts the
// error on the request's log line.
func RedirectError(ctx context.Context, to org.VerifiedRedirect, echo Echo, err error, cookies ...*http.Cookie) Answer {
	if to.URI() == "" {
		return Answer{failure: err}
	}
	f := shown(ctx, err)
	params := url.Values{
		"error":             {string(fault.Code(f.code).InBrowser())},
		"error_description": {f.description},
		"request_id":        {logx.RequestID(ctx)},
	}
	for name, value := range map[string]string{"external_id": echo.ExternalID, "external_state": echo.ExternalState} {
		if value != "" {
			params.Set(name, value)
		}
	}
	return Redirect(to.With(params), cookies...)
}

// Document shows a sheet.
func Document(s Sheet, cookies ...*http.Cookie) Answer {
	return Answer{html: []byte(s.html()), headers: s.headers, cookies: cookies}
}

// Drawn shows a page that has its own Content-Security-Policy and Referrer-Policy.
func Drawn(html []byte, policy, referrer string) Answer {
	return Answer{html: html, headers: func(header http.Header) {
		pageHeaders(header, policy)
		header.Set("Referrer-Policy", referrer)
	}}
}

// Framed is Drawn for a page in a frame of others: one that isolates itself (Cross-Origin-Embedder-Policy, HTML section
// 7.1.4) holds only what does so, too, and may be held by anybody. Pictures of others, such as logos, come without
// credentials then, and nothing else changes.
func Framed(html []byte, policy, referrer string) Answer {
	drawn := Drawn(html, policy, referrer)
	return Answer{html: html, headers: func(header http.Header) {
		drawn.headers(header)
		header.Set("Cross-Origin-Embedder-Policy", "credentialless")
		header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	}}
}

func (a Answer) render(c *call) (reply, error) {
	if a.failure != nil {
		return reply{}, a.failure
	}
	for _, cookie := range a.cookies {
		c.header.Add("Set-Cookie", cookie.String())
	}
	if a.location != "" {
		c.header.Set("Location", a.location)
		return reply{status: http.StatusFound}, nil
	}
	a.headers(c.header)
	return reply{status: http.StatusOK, body: a.html}, nil
}
