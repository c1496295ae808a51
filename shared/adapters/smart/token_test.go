package smart_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/words/secret"
)

type answering struct {
	status int // HTTP status; 0 means 200
	body   string
}

func (a answering) Do(*http.Request) (*http.Response, error) {
	status := max(a.status, http.StatusOK)
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

// granted holds a token set from a token response, with its secrets in plain text for comparison.
type granted struct {
	Access, Refresh string
	ExpiresIn       time.Duration
	Scope, Patient  string
}

func opened(set tokens.Set) granted {
	return granted{
		set.AccessToken.Reveal(), set.RefreshToken.Reveal(), set.ExpiresAt.Sub(noon()), set.Scope,
		set.PatientID.Reveal(),
	}
}

func TestExchangeSendsCodeAsPublicClient(t *testing.T) {
	t.Parallel()
	e := newEHR(t, map[string]http.HandlerFunc{"/token": reply(http.StatusOK, `{"access_token":"a","token_type":"Bearer",
		"expires_in":3600,"scope":"patient/*.read","patient":"p-1","refresh_token":"r"}`)})
	set, err := portal(doer(), noon, public{}).Exchange(t.Context(), flow.Grant{
		Attempt: flow.Attempt{
			Server:     flow.Server{TokenEndpoint: e.URL + "/token?tenant=7"},
			Client:     flow.Client{ClientID: "client", Callback: "https://us.example/callback"},
			Parameters: flow.Parameters{Scope: "asked"},
		},
		Code: secret.New("c&d"), Verifier: secret.New("v"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(granted{"a", "r", time.Hour, "patient/*.read", "p-1"}, opened(set)); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	sent := e.requests()[0]
	if diff := cmp.Diff(query("grant_type", "authorization_code", "code", "c&d", "redirect_uri",
		"https://us.example/callback",
		"code_verifier", "v", "client_id", "client"), sent.PostForm); diff != "" {
		t.Errorf("form (-want +got):\n%s", diff)
	}
	if sent.Header.Get("Authorization") != "" || sent.Header.Get("Accept") != "application/json" ||
		sent.URL.RawQuery != "tenant=7" {
		t.Errorf("sent %s %v", sent.URL, sent.Header)
	}
}

func TestRefreshSendsRefreshToken(t *testing.T) {
	t.Parallel()
	e := newEHR(t, map[string]http.HandlerFunc{"/token": reply(http.StatusOK, `{"access_token":"a"}`)})
	set, err := portal(doer(), noon, public{}).Refresh(t.Context(), tenant(), tokens.Set{
		TokenEndpoint: e.URL + "/token", ClientID: "client", RefreshToken: secret.New("r+1"), Scope: "granted before",
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(granted{"a", "r+1", 5 * time.Minute, "granted before", ""}, opened(set)); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	want := query("grant_type", "refresh_token", "refresh_token", "r+1", "client_id", "client")
	if diff := cmp.Diff(want, e.requests()[0].PostForm); diff != "" {
		t.Errorf("form (-want +got):\n%s", diff)
	}
}

func TestTokenResponseIsParsedLeniently(t *testing.T) {
	t.Parallel()
	plain := granted{"a", "", 5 * time.Minute, "asked", ""}
	with := func(change func(*granted)) granted {
		changed := plain
		change(&changed)
		return changed
	}
	for body, want := range map[string]granted{
		`{"access_token":"a"}`:                       plain,
		`{"access_token":"a","token_type":"bearer"}`: plain,
		`{"access_token":"a","error":null}`:          plain,
		`{"access_token":"a","expires_in":"3600"}`:   with(func(g *granted) { g.ExpiresIn = time.Hour }),
		`{"access_token":"a","expires_in":59.9}`:     with(func(g *granted) { g.ExpiresIn = 59 * time.Second }),
		`{"access_token":"a","expires_in":1e300}`: with(
			func(g *granted) { g.ExpiresIn = 366 * 24 * time.Hour }),
		`{"access_token":"a","expires_in":0}`:                    plain,
		`{"access_token":"a","expires_in":-1}`:                   plain,
		`{"access_token":"a","expires_in":"NaN"}`:                plain,
		`{"access_token":"a","expires_in":"soon"}`:               plain,
		`{"access_token":"a","expires_in":null}`:                 plain,
		`{"access_token":"a","expires_in":{}}`:                   plain,
		`{"access_token":"a","scope":["x"]}`:                     plain,
		`{"access_token":"a","refresh_token":""}`:                plain,
		`{"access_token":"a","refresh_token":7}`:                 plain,
		`{"access_token":"a","refresh_token":"two\nlines"}`:      plain,
		`{"access_token":"a","patient":"Patient/p"}`:             with(func(g *granted) { g.Patient = "p" }),
		`{"access_token":"a","patient":"../x"}`:                  plain,
		`{"access_token":"a","patient":{"reference":"Patient"}}`: plain,
		`{"access_token":"a","ACCESS_TOKEN":"b"}`:                plain,
	} {
		set, err := portal(answering{body: body}, noon, public{}).Exchange(t.Context(), flow.Grant{Attempt: flow.Attempt{
			Server: flow.Server{TokenEndpoint: "https://login.example"}, Parameters: flow.Parameters{Scope: "asked"},
		}})
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if diff := cmp.Diff(want, opened(set)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

func TestTokenErrorIsClassifiedByBody(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status   int
		body     string
		code     string
		definite bool
		class    string
	}{
		{400, `{"error":"invalid_grant","error_description":"Alder Maple withdrew"}`, "invalid_grant", true, "definite"},
		{401, `{"error":"invalid_grant"}`, "invalid_grant", true, "definite"},
		{403, `{"error":"invalid_grant"}`, "invalid_grant", true, "definite"},
		{200, `{"error":"invalid_grant","access_token":"a"}`, "invalid_grant", true, "definite"},
		{401, `{"error":"invalid_client"}`, "invalid_client", false, "registration"},
		{400, `{"error":"unauthorized_client"}`, "unauthorized_client", false, "registration"},
		{401, `{"error":"unauthorized_client"}`, "invalid_client", false, "registration"},
		{400, `{"error":"invalid_scope"}`, "invalid_scope", false, "registration"},
		{400, `{"error":"invalid_request"}`, "invalid_request", false, "registration"},
		{400, `{"error":"unsupported_grant_type"}`, "unsupported_grant_type", false, "registration"},
		{400, `{"error":"Alder Maple is not known"}`, "", false, "transient"},
		{400, `{"error":{"code":"invalid_grant"}}`, "", false, "transient"},
		{400, `{"ERROR":"invalid_grant"}`, "", false, "transient"},
		{400, `invalid_grant`, "", false, "transient"},
		{400, `["invalid_grant"]`, "", false, "transient"},
		{500, `<html>invalid_grant</html>`, "", false, "transient"},
		{502, ``, "", false, "transient"},
		{302, ``, "", false, "transient"},
		{500, `{"access_token":"a"}`, "", false, "transient"},
		{200, `{}`, "", false, "transient"},
		{200, `{"access_token":""}`, "", false, "transient"},
		{200, `{"access_token":"two words"}`, "", false, "transient"},
		{200, `{"access_token":"a\r\nX: y"}`, "", false, "transient"},
		{200, `{"access_token":"a","token_type":"mac"}`, "", false, "transient"},
		{200, `{"access_token":"a","token_type":"DPoP"}`, "", false, "transient"},
		{200, `<html></html>`, "", false, "transient"},
	} {
		_, err := portal(answering{test.status, test.body}, noon, public{}).Refresh(t.Context(), tenant(),
			tokens.Set{TokenEndpoint: "https://login.example"})
		refusal, ok := errors.AsType[*smart.OAuthError](err)
		if !ok || refusal.Code != test.code || refusal.Status != test.status || refusal.Definite() != test.definite {
			t.Errorf("%d %s: got %#v", test.status, test.body, err)
			continue
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("refused", slog.Any("failure", refusal))
		if !strings.Contains(log.String(), "failure.class="+test.class) {
			t.Errorf("%d %s: logged %s", test.status, test.body, log.String())
		}
		if text := log.String() + err.Error(); strings.Contains(text, "Maple") {
			t.Errorf("%d %s: the server's text got out: %s", test.status, test.body, text)
		}
	}
}

func TestTokenRequestRejectsRedirect(t *testing.T) {
	t.Parallel()
	evil := newEHR(t, map[string]http.HandlerFunc{"": reply(http.StatusOK, `{"access_token":"a"}`)})
	e := newEHR(t, map[string]http.HandlerFunc{"": reply(http.StatusTemporaryRedirect, "", "Location", evil.URL)})
	_, err := portal(doer(), noon, public{}).Refresh(t.Context(), tenant(),
		tokens.Set{TokenEndpoint: e.URL, RefreshToken: secret.New("r")})
	refusal, ok := errors.AsType[*smart.OAuthError](err)
	if !ok || refusal.Status != http.StatusTemporaryRedirect || refusal.Definite() {
		t.Errorf("got %v", err)
	}
	if got := len(evil.requests()); got != 0 {
		t.Errorf("the other server got %d requests", got)
	}
}

func TestTokenRequestReturnsNetworkErrorWithoutResponse(t *testing.T) {
	t.Parallel()
	closed := newEHR(t, nil)
	closed.Close()
	large := newEHR(t, map[string]http.HandlerFunc{"": reply(http.StatusOK, strings.Repeat(" ", 1<<20))})
	for address, class := range map[string]safehttp.Class{closed.URL: safehttp.Connect, large.URL: safehttp.TooLarge} {
		_, err := portal(doer(), noon, public{}).Exchange(
			t.Context(), flow.Grant{Attempt: flow.Attempt{Server: flow.Server{TokenEndpoint: address}}, Code: secret.New("c")},
		)
		failure, ok := errors.AsType[*safehttp.Error](err)
		if !ok || failure.Class != class {
			t.Errorf("got %v, want %s", err, class)
		}
	}
}

func TestOAuthErrorUnspentReportsWhetherGrantIsUnused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		failure smart.OAuthError
		want    bool
	}{
		{smart.OAuthError{Code: "invalid_client", Status: http.StatusUnauthorized}, true},
		{smart.OAuthError{Code: "invalid_scope", Status: http.StatusBadRequest}, true},
		{smart.OAuthError{Status: http.StatusTooManyRequests}, true},
		{smart.OAuthError{Code: "invalid_grant", Status: http.StatusBadRequest}, false},
		{smart.OAuthError{Status: http.StatusInternalServerError}, false},
		{smart.OAuthError{Status: http.StatusOK}, false},
	} {
		if got := test.failure.Unspent(); got != test.want {
			t.Errorf("%v: got %t", &test.failure, got)
		}
	}
}
