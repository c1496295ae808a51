package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/words/ids"
)

// TestReconnectRejectsConnectionOfAnotherOrganisation checks that neither another organisation nor a live credential
// can reconnect a test connection, in a browser or a widget. The response must be the same as for an unknown
// connection.
func TestReconnectRejectsConnectionOfAnotherOrganisation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		id := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
		s.clock.advance(1)
		stranger, live, before := s.newStranger(), s.seeded.Organisations[1], s.state.snapshot()
		liveURL := func(id string) string {
			return baseURL + "/bridge/reconnect?" + url.Values{
				"public_id": {live.PublicID}, "redirect_uri": {live.RedirectURI}, "reconnect_org_connection_id": {id},
				"external_state": {"theirs"},
			}.Encode()
		}
		for _, asked := range []string{id, strings.ToUpper(id), ids.Random(), "x", s.tenant() + "#CONN#" + id, "../" + id} {
			for redirect, address := range map[string]string{
				stranger.redirect: stranger.reconnectURL(asked),
				live.RedirectURI:  liveURL(asked),
			} {
				target, err := url.Parse(address)
				expect.NoError(t, err)
				b := s.patient.browser()
				got := b.get(target).location()
				if got == nil || !strings.HasPrefix(got.String(), redirect+"?") ||
					got.Query().Get("error") != "svc_invalid_request" ||
					got.Query().Get("error_description") != "reconnect_org_connection_id is unknown." ||
					got.Query().Get("external_state") != "theirs" || len(b.cookies) != 0 {
					t.Errorf("%s of %s leads to %v", asked, redirect, got)
				}
			}
			for _, publicID := range []string{stranger.publicID, live.PublicID} {
				got := s.call(http.MethodPost, "/bridge/attempts?public_id="+publicID, "", "",
					map[string]string{"reconnect_org_connection_id": asked})
				if got.status != http.StatusBadRequest || got.Error != "svc_invalid_request" {
					t.Errorf("an attempt of %s answered %d %s", asked, got.status, got.raw)
				}
			}
		}
		s.check.unchanged(t, before, "reconnecting another's connection")
		s.clock.advance(1)
		stranger.checkReceivedOnly(t, "")
	})
}

// TestDisconnectRejectsConnectionOfAnotherOrganisation checks that an organisation can't disconnect another
// organisation's connection. The response must be the same as for an unknown connection.
func TestDisconnectRejectsConnectionOfAnotherOrganisation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		l := s.ehr.keepLedger()
		id := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
		s.org.startExport(id)
		s.clock.advance(2)
		stranger, live, own := s.newStranger(), s.seeded.Organisations[1], s.seeded.Organisations[0]
		before := s.state.snapshot()
		unknown := s.org.request(http.MethodDelete, "/bridge/org_connection/"+ids.Random(), nil)
		for _, who := range [][2]string{{stranger.publicID, stranger.key}, {live.PublicID, live.PrivateKey}} {
			got := s.call(http.MethodDelete, "/bridge/org_connection/"+id, who[0], who[1], nil)
			if got.status != http.StatusNotFound || got.Error != unknown.Error || got.Description != unknown.Description {
				t.Errorf("DELETE answered %d %s, and for an unknown one %s", got.status, got.raw, unknown.raw)
			}
		}
		for _, who := range [][2]string{{"", ""}, {own.PublicID, stranger.key}, {own.PublicID, ""}} {
			if got := s.call(http.MethodDelete, "/bridge/org_connection/"+id, who[0], who[1],
				nil); got.status != http.StatusUnauthorized {
				t.Errorf("DELETE without the key answered %d", got.status)
			}
		}
		s.clock.advance(2)
		s.check.unchanged(t, before, "disconnecting another's connection")
		s.org.checkDownload(crashPersona)
		if len(l.revoked) != 0 {
			t.Error("the portal was asked to revoke something")
		}
	})
}

// TestStartValueIsSingleUseAndExpires checks that a start value works only once and for a limited time, so that links
// and forms on other sites cannot bind a sign-in to an attempt.
func TestStartValueIsSingleUseAndExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		ask := map[string]string{"endpoint_id": s.seeded.Sandbox.EndpointID}
		made := s.patient.makeAttempt(ask)
		s.checkStartsNowhereElse(t, made.form())
		own, other := s.patient.browser(), s.patient.browser()
		there := own.start(made.form()).location()
		address := own.returning(there.String(), crashPersona)
		for _, b := range []*browser{own, other} {
			checkNoReturn(t, b.start(made.form())) // the start value has already been used
		}
		checkNoReturn(t, other.get(address))
		if got := s.patient.watchAttempt(made).Status; got != "open" {
			t.Errorf("the attempt is %q", got)
		}
		if got := own.get(address); got.status != http.StatusOK || s.patient.watchAttempt(made).Status != "done" {
			t.Errorf("the window that left ended with %d", got.status)
		}

		late := s.patient.makeAttempt(ask)
		<-time.After(30 * time.Minute)
		checkNoReturn(t, own.start(late.form()))
		if got := s.patient.watchAttempt(late).Status; got != "expired" {
			t.Errorf("the attempt is %q", got)
		}
	})
}

// checkStartsNowhereElse checks that an attempt can be started only by forms on the service's pages, and not by links
// or by forms on other sites.
func (o *outside) checkStartsNowhereElse(t *testing.T, form startForm) {
	t.Helper()
	for _, header := range []http.Header{
		{"Sec-Fetch-Site": {"cross-site"}},
		{"Sec-Fetch-Site": {"same-site"}},
		{"Sec-Fetch-Site": {"none"}},
		{"Sec-Fetch-Site": {""}},
		{"Sec-Fetch-Site": {"SAME-ORIGIN"}},
		{"Sec-Fetch-Mode": {"cors"}},
		{"Sec-Fetch-Mode": nil},
		{"Sec-Fetch-Site": nil},
		{"Origin": {"https://evil.example"}},
		{"Origin": {"null"}},
		{"Origin": nil},
		{"Content-Type": {"text/plain"}},
	} {
		b := o.patient.browser()
		b.header = header
		checkNoReturn(t, b.start(form))
		if len(b.cookies) != 0 {
			t.Errorf("%v gets a cookie", header)
		}
	}
	for _, name := range []string{"attempt", "start_value"} {
		b := o.patient.browser()
		b.header = http.Header{"Sec-Fetch-Site": {"same-origin"}, "Sec-Fetch-Mode": {"navigate"}, "Origin": {host}}
		link, err := url.Parse(form.url + "?" + url.Values{name: {form.value}}.Encode())
		expect.NoError(t, err)
		ofGet := http.StatusBadRequest
		if strings.HasSuffix(link.Path, "/start") { // the path accepts only POST requests
			ofGet = http.StatusMethodNotAllowed
		}
		checkRefusal(t, b.get(link), ofGet)
		checkNoReturn(t, b.start(startForm{url: link.String()}))
		if len(b.cookies) != 0 {
			t.Errorf("a URL with %s gets a cookie", name)
		}
	}
}

// TestJWKSContainsOnlyPublicKeysFromOutside checks that the JWKS contains only public members of keys (RFC 7517 and
// 7518).
func TestJWKSContainsOnlyPublicKeysFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, s *outside) {
		t.Helper()
		got := s.call(http.MethodGet, "/.well-known/jwks.json", "", "", nil)
		var set map[string][]map[string]any
		expect.NoError(t, json.Unmarshal(got.raw, &set))
		if len(set) != 1 || len(set["keys"]) < 2 || set["keys"][0]["kty"] != "RSA" {
			t.Fatalf("the key set is %s", got.raw)
		}
		for _, key := range set["keys"] {
			for member := range key {
				if !slices.Contains([]string{"kty", "kid", "use", "key_ops", "alg", "n", "e", "crv", "x", "y"}, member) {
					t.Errorf("a key shows %s", member)
				}
			}
			if key["use"] != "sig" || key["kid"] == "" {
				t.Errorf("a key is %v", key)
			}
		}
	})
}
