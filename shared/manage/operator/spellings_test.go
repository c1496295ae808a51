package operator_test

import (
	"errors"
	"strings"
	"testing"

	"recordbridge/infra/testkit/spelling"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
)

// apiHost is the API's host in the stack that newFixture creates.
const apiHost = "ctl-api.execute-api.us-east-1.amazonaws.com"

func TestOperatorRejectsServiceURLVariants(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	tenant := r.organisation(t)
	for _, text := range spelling.Of(apiHost, "", "/v1/bridge/connect?attempt=x") {
		for field, change := range map[string]operator.OrganisationChange{
			"website": {Website: &text}, "privacy": {Privacy: &text}, "terms": {Terms: &text}, "logo": {Logo: &text},
		} {
			if _, err := r.operator.Organisations.Change(t.Context(), tenant, change); !errors.Is(err, fault.Invalid) {
				t.Errorf("%s %q: %v", field, text, err)
			}
		}
		if _, _, err := r.operator.Credentials.Create(t.Context(),
			operator.CredentialDraft{Tenant: tenant, Redirects: []string{text}}); !errors.Is(err, fault.Invalid) {
			t.Errorf("redirect URI %q: %v", text, err)
		}
		origin, _, _ := strings.Cut(text, "/v1/")
		draft := operator.CredentialDraft{Tenant: tenant, Redirects: []string{redirect}, Origins: []string{origin}}
		if _, _, err := r.operator.Credentials.Create(t.Context(), draft); !errors.Is(err, fault.Invalid) {
			t.Errorf("origin %q: %v", origin, err)
		}
		if _, _, err := r.operator.Webhooks.Create(t.Context(), webhook.Draft{Tenant: tenant, URL: text}); !errors.Is(err,
			fault.Invalid) {
			t.Errorf("webhook %q: %v", text, err)
		}
	}
}

func TestOperatorNormalisesInternationalHostnames(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	tenant := r.organisation(t)
	given, want := "https://B\u00dcCHER.example/\u00fc", "https://xn--bcher-kva.example/%C3%BC"
	changed, err := r.operator.Organisations.Change(t.Context(), tenant,
		operator.OrganisationChange{Website: &given, Privacy: &given, Terms: &given, Logo: &given})
	if err != nil || changed.WebsiteURI != want || changed.PrivacyPolicyURI != want || changed.TermsURI != want ||
		changed.LogoURI != want {
		t.Errorf("organisation %+v: %v", changed, err)
	}
	made, _, err := r.operator.Credentials.Create(t.Context(),
		operator.CredentialDraft{
			Tenant: tenant, Redirects: []string{given},
			Origins: []string{"https://b\u00fccher.example"},
		})
	if err != nil || made.RedirectURIs[0] != want || made.AllowedOrigins[0] != "https://xn--bcher-kva.example" {
		t.Errorf("credential %+v: %v", made, err)
	}
	sub, _, err := r.operator.Webhooks.Create(t.Context(), webhook.Draft{Tenant: tenant, URL: given})
	if err != nil || sub.URL != want {
		t.Errorf("webhook %q: %v", sub.URL, err)
	}
}

func TestOperatorRejectsWildcardsAndUserInfo(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	tenant := r.organisation(t)
	for _, text := range []string{
		"https://*", "https://*.example", "https://user@alder.example", "https://0x7f.1",
		"https://alder.example\\@birch.example",
	} {
		if _, _, err := r.operator.Credentials.Create(t.Context(),
			operator.CredentialDraft{Tenant: tenant, Redirects: []string{redirect}, Origins: []string{text}}); !errors.Is(err,
			fault.Invalid) || !strings.Contains(fault.Of(err).Public, "without a wildcard") {
			t.Errorf("origin %q: %v", text, err)
		}
		if _, err := r.operator.Organisations.Change(t.Context(), tenant,
			operator.OrganisationChange{Privacy: &text}); !errors.Is(err, fault.Invalid) {
			t.Errorf("privacy policy %q: %v", text, err)
		}
	}
}
