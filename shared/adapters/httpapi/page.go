package httpapi

import (
	"context"
	"net/http"
	"net/url"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/weburl"
)

// Visit describes a browser's request to a page function.
type Visit struct {
	Caller   org.Caller           // organisation identified by public_id; zero on a Page
	Redirect org.VerifiedRedirect // verified redirect_uri; not set on a Page
	Error    *PageError           // error that an Application must display, or nil
	request  *http.Request
}

// PageError is an error that an application displays to the user (docs/openapi.yaml, Error).
type PageError struct {
	Code        string
	Description string
	RequestID   string
}

// Language returns the supported language that the browser prefers.
func (v Visit) Language() string { return languageOf(v.request) }

// Answer is the result of a page function, created by Redirect, RedirectError, Document, Drawn or Framed.
type Answer struct {
	location string
	html     []byte
	headers  func(http.Header) // sets the page's headers
	cookies  []*http.Cookie
	failure  error
}

// PublicPage creates an endpoint that browsers open with the parameters public_id and redirect_uri. Until both
// parameters have been verified, errors are rendered as an HTML page, never returned by redirect. The page's status is
// 400 for any error in the URL, and 429, 500 or 503 otherwise. After both parameters are verified, all errors are
// returned by redirect, including those from the rate limit, from binding In and from f (docs/reference/deviations.md,
// "HTTP"; RFC 9700 section 4.11).
func PublicPage[In any](auth PublicAuth, f func(context.Context, Visit, In) (Answer, error)) Endpoint {
	bind := newBinder[In]()
	serve := func(ctx context.Context, c *call) (reply, error) {
		caller, err := auth.caller(ctx, c) // caller is set even if its rate limit is exceeded
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
			c.failed(ctx, err)
			answer = RedirectError(ctx, redirect, echoOf(c.request), err)
		}
		return answer.render(c)
	}
	return Endpoint{serve: serve, fail: failPage}
}

// Page creates an endpoint for a URL that does not identify an organisation, such as the portals' callback URL. Errors
// from f are rendered as an HTML page. If a redirect URI has been verified, f should return RedirectError instead of an
// error. Requests are rate-limited per client address.
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

// FormPage creates a Page for submitted forms (POST) on a route without a GET endpoint. For other methods, such as GET
// when a browser opens the URL, the page renders opened, whose Kind should be fault.MethodNotAllowed.
func FormPage[In any](limiter Limiter, f func(context.Context, Visit, In) (Answer, error), opened error) Endpoint {
	endpoint := Page(limiter, f)
	endpoint.opened = opened
	return endpoint
}

// Application creates an endpoint for a page that contains an application, either standalone or in another site's
// frame. The application runs for the organisation identified by public_id. If the request is rejected, f is called
// with Visit.Error set, so that the application can display the error. The response to a rejected request has the
// status of an error page. Visit.Caller is zero unless the organisation was identified.
func Application[In any](auth PublicAuth, f func(context.Context, Visit, In) (Answer, error)) Endpoint {
	bind := newBinder[In]()
	serve := func(ctx context.Context, c *call) (reply, error) {
		caller, err := auth.caller(ctx, c)
		in, wrong := bind.read(c)
		if err == nil {
			err = wrong
		}
		visit, status := Visit{Caller: caller, request: c.request}, http.StatusOK
		if err != nil {
			shows := shown(ctx, err)
			shows.retry(c.header)
			status = pageStatus(fault.Of(err))
			visit.Error = &PageError{Code: shows.code, Description: shows.description, RequestID: logx.RequestID(ctx)}
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
	in, err := bind.read(c)
	if err != nil {
		return Answer{}, err
	}
	return f(ctx, visit, in)
}

// redirectOf verifies the request's redirect_uri against the caller's registered URIs. Verification fails if the caller
// is unknown.
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

// Redirect sends the browser to location (302). The caller must ensure that location is safe: for example, a portal's
// authorize URL or a VerifiedRedirect with the result added.
func Redirect(location string, cookies ...*http.Cookie) Answer {
	return Answer{location: location, cookies: cookies}
}

// Echo holds the connect or reconnect parameters that are returned to the caller, on success and on failure
// (docs/openapi.yaml, ConnectResult and RedirectError). A field is empty if the request omitted the parameter.
type Echo struct {
	ExternalID    string
	ExternalState string
}

// maxEcho is the maximum length, in bytes, of a value that is returned before validation. Every endpoint rejects values
// longer than maxEcho.
const maxEcho = 1024

// echoOf extracts the echoed parameters from a rejected request's query, omitting invalid values.
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

// RedirectError redirects the browser to a verified redirect URI with an error. The redirect carries error,
// error_description, request_id (the ID of this request, unique per error), and the caller's own fields
// (docs/openapi.yaml, RedirectError). RedirectError also records the error in the request's log line.
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

// Document returns an Answer that renders a Sheet as an HTML document.
func Document(s Sheet, cookies ...*http.Cookie) Answer {
	return Answer{html: []byte(s.html()), headers: s.headers, cookies: cookies}
}

// Drawn responds with an HTML page that has the given Content-Security-Policy and Referrer-Policy.
func Drawn(html []byte, policy, referrer string) Answer {
	return Answer{html: html, headers: func(header http.Header) {
		pageHeaders(header, policy)
		header.Set("Referrer-Policy", referrer)
	}}
}

// Framed is like Drawn, but for a page that any site may embed in a frame. A site that sets
// Cross-Origin-Embedder-Policy (HTML section 7.1.4) can embed only pages that set it too, so the framed page sets it.
// As a side effect, third-party images such as logos load without credentials.
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
