package connect_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/catalog"
	"recordbridge/shared/words/fault"
)

func TestConnectShowsErrorPageWithoutVerifiedRedirectURI(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query  url.Values
		status int
		code   string
	}{
		"no public id": {url.Values{"redirect_uri": {returnURI}}, 400, "svc_invalid_request"},
		"an unknown public id": {
			url.Values{"public_id": {"public_test_x"}, "redirect_uri": {returnURI}},
			400,
			"svc_unauthorized_client",
		},
		"two public ids": {
			url.Values{"public_id": {oneURI, twoURIs}, "redirect_uri": {returnURI}},
			400,
			"svc_invalid_request",
		},
		"another redirect URI": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {otherURI}},
			400,
			"svc_invalid_request",
		},
		"a longer redirect URI": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {returnURI + "&x=1"}},
			400,
			"svc_invalid_request",
		},
		"a script as redirect": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"javascript:alert(1)"}},
			400,
			"svc_invalid_request",
		},
		"an encoded redirect URI": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://app.example/%72eturn?keep=1"},
		}, 400, "svc_invalid_request"},
		"encoded twice": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {url.QueryEscape(returnURI)}},
			400,
			"svc_invalid_request",
		},
		"a user before the host": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://app.example@evil.example/return?keep=1"},
		}, 400, "svc_invalid_request"},
		"user information": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://me@app.example/return?keep=1"},
		}, 400, "svc_invalid_request"},
		"a fragment": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {returnURI + "#x"}},
			400,
			"svc_invalid_request",
		},
		"a host below": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://evil.app.example/return?keep=1"},
		}, 400, "svc_invalid_request"},
		"a host around": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://app.example.evil.example/return?keep=1"},
		}, 400, "svc_invalid_request"},
		"a path below": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://app.example/return/x?keep=1"},
		}, 400, "svc_invalid_request"},
		"a path with dots": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://app.example/x/../return?keep=1"},
		}, 400, "svc_invalid_request"},
		"a backslash": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {`https://app.example\@evil.example/return?keep=1`},
		}, 400, "svc_invalid_request"},
		"another case": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"https://app.example/Return?keep=1"}},
			400, "svc_invalid_request",
		},
		"a trailing dot": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"https://app.example./return?keep=1"}},
			400, "svc_invalid_request",
		},
		"no scheme": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"//app.example/return?keep=1"}},
			400,
			"svc_invalid_request",
		},
		"a path alone": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"/return?keep=1"}},
			400,
			"svc_invalid_request",
		},
		"two slashes": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"https://app.example//return?keep=1"}},
			400, "svc_invalid_request",
		},
		"a host in capitals": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"https://APP.example/return?keep=1"}},
			400, "svc_invalid_request",
		},
		"a scheme in capitals": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"HTTPS://app.example/return?keep=1"}},
			400, "svc_invalid_request",
		},
		"without TLS": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"http://app.example/return?keep=1"}},
			400, "svc_invalid_request",
		},
		"another query": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://app.example/return?keep=1&next=https://evil.example"},
		}, 400, "svc_invalid_request"},
		"no query": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"https://app.example/return"}},
			400,
			"svc_invalid_request",
		},
		"a slash at the end": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {"https://app.example/return/?keep=1"}},
			400, "svc_invalid_request",
		},
		"a letter that looks so": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://\u0430pp.example/return?keep=1"},
		}, 400, "svc_invalid_request"},
		"a full-width dot": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://app\uff0eexample/return?keep=1"},
		}, 400, "svc_invalid_request"},
		"blanks around": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {" " + returnURI}},
			400,
			"svc_invalid_request",
		},
		"another's redirect URI": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {otherURI + "?"}},
			400,
			"svc_invalid_request",
		},
		"a port": {url.Values{
			"public_id":    {oneURI},
			"redirect_uri": {"https://app.example:443/return?keep=1"},
		}, 400, "svc_invalid_request"},
		"two redirect URIs": {
			url.Values{"public_id": {oneURI}, "redirect_uri": {returnURI, returnURI}},
			400,
			"svc_invalid_request",
		},
		"none of several":         {url.Values{"public_id": {twoURIs}}, 400, "svc_invalid_request"},
		"our own failure":         {url.Values{"public_id": {broken}, "redirect_uri": {returnURI}}, 500, "svc_server_error"},
		"markup in what was sent": {url.Values{"public_id": {"<script>"}}, 400, "svc_unauthorized_client"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s starter
			w := s.visit(t, http.MethodGet, c.query)
			if w.Code != c.status || w.Header().Get("Location") != "" || len(w.Header().Values("Set-Cookie")) != 0 ||
				len(s.asked) != 0 {
				t.Errorf("got %d to %q, %d attempts", w.Code, w.Header().Get("Location"), len(s.asked))
			}
			if got := w.Header().Get("Content-Type"); got != "text/html; charset=utf-8" ||
				w.Header().Get("WWW-Authenticate") != "" {
				t.Errorf("Content-Type %q, WWW-Authenticate %q", got, w.Header().Get("WWW-Authenticate"))
			}
			if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none';") ||
				strings.Contains(policy, "script-src") {
				t.Errorf("policy %q", policy)
			}
			page := w.Body.String()
			if !strings.Contains(page, c.code) || !strings.Contains(page, keyedtest.RequestID) {
				t.Errorf("the page shows neither %s nor the request id:\n%s", c.code, page)
			}
			if strings.Contains(page, "<script") || strings.Contains(page, "app.example") || strings.Contains(page, "10.0.0.7") {
				t.Errorf("the page repeats what was sent or what failed:\n%s", page)
			}
		})
	}
}

func TestConnectRedirectsErrorsToVerifiedRedirectURI(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err               error
		state             string
		code, description string
	}{
		"an unknown endpoint": {catalog.MissingEndpoint(), "visit&9", "svc_invalid_request", "endpoint_id is unknown."},
		"without a state":     {catalog.MissingEndpoint(), "", "svc_invalid_request", "endpoint_id is unknown."},
		"a portal that is down": {
			fault.New(fault.Unavailable, fault.CodeUnavailable, "The health system did not respond."), "s",
			"svc_server_error", "The health system did not respond.",
		},
		"our own failure": {errTrouble, "s", "svc_server_error", "Something went wrong on our side. Please try again."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := starter{err: c.err}
			w := s.visit(t, http.MethodGet, url.Values{
				"public_id": {oneURI}, "redirect_uri": {returnURI}, "external_id": {"p 7"}, "external_state": {c.state},
				"request_id": {"mine"}, "endpoint_id": {"endpoint"},
			})
			want := url.Values{
				"keep": {"1"}, "error": {c.code}, "error_description": {c.description}, "request_id": {keyedtest.RequestID},
				"external_id": {"p 7"},
			}
			if c.state != "" {
				want.Set("external_state", c.state)
			}
			wantRedirect(t, w, "https://app.example/return?"+want.Encode())
			if got := w.Header().Values("Set-Cookie"); len(got) != 0 {
				t.Errorf("cookies %q of an attempt that was not begun", got)
			}
		})
	}
}
