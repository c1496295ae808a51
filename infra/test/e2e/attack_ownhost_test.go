package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// TestRedirectURICannotPointToOwnConnectEndpoint checks that an organisation's redirect URI can't be the URL that
// starts an attempt at another organisation. The service must reject registration of such a URI, and must not redirect
// to one stored by an earlier release.
func TestRedirectURICannotPointToOwnConnectEndpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		attacker := s.state.tenantOf(1)
		control := store.Control{DB: s.rows, Table: "test-ControlTable"}
		for _, start := range []string{
			baseURL + "/bridge/connect?attempt=x",
			"http://localhost:4566/v1/bridge/connect?attempt=x", "http://[::1]:4566/v1/bridge/connect?attempt=x",
		} {
			_, _, err := s.operator.Credentials.Create(t.Context(),
				operator.CredentialDraft{Tenant: attacker, Redirects: []string{start}})
			if err == nil {
				t.Errorf("%s is registered", start)
			}
			made := org.Credential{ID: ids.Random(), Tenant: attacker, RedirectURIs: []string{start}}
			expect.NoError(t, store.Callers(control).CreateCredential(t.Context(), made))
			for _, path := range []string{"/bridge/reconnect", "/bridge/connect"} {
				got := s.patient.browser().get(s.at(path, url.Values{
					"public_id": {made.PublicID()}, "redirect_uri": {start}, "reconnect_org_connection_id": {ids.Random()},
					"endpoint_id": {s.seeded.Sandbox.EndpointID},
				}.Encode()))
				if got.status != http.StatusBadRequest || got.header.Get("Location") != "" {
					t.Errorf("%s to %s: %d, Location %q", path, start, got.status, got.header.Get("Location"))
				}
			}
		}
	})
}

// TestPagesOmitStoredLinksToOwnHost checks that pages omit a stored privacy policy URL that browsers would resolve to
// the service's own host.
func TestPagesOmitStoredLinksToOwnHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		own, tenant := s.seeded.Organisations[0], s.state.tenantOf(0)
		control := store.Control{DB: s.rows, Table: "test-ControlTable"}
		stored, err := store.Organisations(control).Organisation(t.Context(), tenant)
		expect.NoError(t, err)
		policy := "https://\uff11" + "27.0.0.1:4566/v1/bridge/connect?attempt=x"
		if _, err := s.operator.Organisations.Change(t.Context(), tenant,
			operator.OrganisationChange{Privacy: &policy}); err == nil {
			t.Error("the policy is stored")
		}
		stored.PrivacyPolicyURI, stored.LogoURI = policy, "https://user@alder.example/logo.svg"
		expect.NoError(t, store.Organisations(control).SaveOrganisation(t.Context(), stored))
		for _, path := range []string{"/bridge/org", "/widget/embed", "/widget/connect"} {
			got := s.send(http.MethodGet, path+"?public_id="+own.PublicID, http.Header{}, nil)
			if got.status != http.StatusOK || strings.Contains(string(got.raw), "attempt=x") ||
				strings.Contains(string(got.raw), "user@alder") {
				t.Errorf("%s: %d %s", path, got.status, got.raw)
			}
		}
	})
}
