package pages_test

import (
	"strings"
	"testing"

	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/infra/testkit/spelling"
	"recordbridge/shared/ui/pages"
	"recordbridge/shared/words/org"
)

// TestBrandingOmitsServiceURLVariants covers rows stored by an earlier release, which accepted more spellings of URLs.
func TestBrandingOmitsServiceURLVariants(t *testing.T) {
	t.Parallel()
	for _, all := range [][]string{
		spelling.Of("api.recordbridge.example", "", "/v1"),
		spelling.Of("127.0.0.1", "4566", "/v1"),
	} {
		for _, text := range all {
			got := pages.BrandingOf(org.Organisation{WebsiteURI: text, PrivacyPolicyURI: text, TermsURI: text, LogoURI: text},
				ownhosts.Own())
			if *got != (pages.Branding{}) {
				t.Errorf("%q is shown: %+v", text, got)
			}
		}
	}
	shown := pages.BrandingOf(org.Organisation{PrivacyPolicyURI: "https://b\u00fccher.example/privacy"}, ownhosts.Own())
	if shown.PrivacyPolicyURI != "https://xn--bcher-kva.example/privacy" {
		t.Errorf("an honest policy is shown as %q", shown.PrivacyPolicyURI)
	}
}

func TestCSPOmitsServiceHostVariants(t *testing.T) {
	t.Parallel()
	bundle := loaded(t)
	for _, text := range spelling.Of("api.recordbridge.example", "", "") {
		drawn, err := bundle.Draw(pages.Embed, "en", "T", pages.Boot{AllowedOrigins: []string{text}, Own: ownhosts.Own()})
		if err != nil || !strings.HasSuffix(drawn.Policy, "; frame-ancestors 'self'") {
			t.Errorf("%q: %s (%v)", text, drawn.Policy, err)
		}
	}
}
