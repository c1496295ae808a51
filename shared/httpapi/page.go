package httpapi

import (
	"context"
	"net/http"
	"net/url"

	"recordbridge/shared/fault"
	"recordbridge/shared/logx"
	"recordbridge/shared/org"
)

// Visit is what a page function knows of the browser that came.
type Visit struct {
	Caller  org.Caller // the organisation of public_id; zero on a Page
	request *http.Request
}

// Cookie returns the value of the browser's cookie of that name, or "".
func (v Visit) Cookie(name string) string {
	cookie, err := v.request.Cookie(name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// Answer is how a page function ends: Redirect, RedirectError or Document makes one.
type Answer struct {
	location string
	html     []byte
	script   string
	cookies  []*http.Cookie
	failure  error
}

// PublicPage makes an endpoint that a browser navigates to with ?public_id=. An error that f returns ends as an HTML
// page and never as a redirect; use RedirectError once a redirect URI is proven. The page's status is 400 for
// whatever the visitor's address got wrong, and 429, 500 or 503 otherwise.
func PublicPage[In any](auth PublicAuth, f func(context.Context, Visit, In) (Answer, error)) Endpoint {
	return page(auth.caller, f)
}

// Page is PublicPage for addresses that name no organisation, such as the one where portals return. Its limit is per
// client address.
func Page[In any](limiter Limiter, f func(context.Context, Visit, In) (Answer, error)) Endpoint {
	return page(func(c *call) (org.Caller, error) { return org.Caller{}, limiter.take(c, "") }, f)
}

func page[In any](find func(*call) (org.Caller, error), f func(context.Context, Visit, In) (Answer, error)) Endpoint {
	bind := newBinder[In]()
	serve := func(c *call) (reply, error) {
		caller, err := find(c)
		if err != nil {
			return reply{}, err
		}
		in, err := bind.from(c.request)
		if err != nil {
			return reply{}, err
		}
		answer, err := f(c.request.Context(), Visit{Caller: caller, request: c.request}, in)
		if err != nil {
			return reply{}, err
		}
		return answer.render(c)
	}
	return Endpoint{serve: serve, fail: failPage}
}

// Redirect sends the browser to location (302). The caller vouches for location: a portal's authorize URL, or a
// VerifiedRedirect with its result.
func Redirect(location string, cookies ...*http.Cookie) Answer {
	return Answer{location: location, cookies: cookies}
}

// RedirectError sends an error to a proven redirect URI: error, error_description, request_id, and external_state
// when there is one (spec sections 4.12 and 7.1). It also puts the error on the request's log line.
func RedirectError(ctx context.Context, to org.VerifiedRedirect, externalState string, err error, cookies ...*http.Cookie) Answer {
	if to.URI() == "" {
		return Answer{failure: err}
	}
	f := shown(ctx, err)
	params := url.Values{
		"error":             {string(fault.Code(f.code).InBrowser())},
		"error_description": {f.description},
		"request_id":        {logx.RequestID(ctx)},
	}
	if externalState != "" {
		params.Set("external_state", externalState)
	}
	return Redirect(to.With(params), cookies...)
}

// Document shows a static page. scriptHash is the CSP source of its one inline script ("sha256-…"), or "".
func Document(html []byte, scriptHash string, cookies ...*http.Cookie) Answer {
	return Answer{html: html, script: scriptHash, cookies: cookies}
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
	pageHeaders(c.header, a.script)
	return reply{status: http.StatusOK, body: a.html}, nil
}
