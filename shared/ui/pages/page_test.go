package pages_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"recordbridge/infra/testkit/built"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/ui/pages"
	"recordbridge/shared/words/org"
)

func TestBootDataIsEscapedInScript(t *testing.T) {
	t.Parallel()
	evil := "</script><script>alert(1)</script><!-- <script> ]]> \u2028\u2029 {{title}} {{lang}} & ' \" \\"
	boot := pages.Boot{
		Shell: pages.Page, BaseURL: "https://api.example/v1", Mode: org.Test, PublicID: evil,
		Organisation: &pages.Branding{Name: evil}, AllowedOrigins: []string{evil},
		Query: map[string]string{"external_id": evil},
		Error: &pages.Failure{Error: evil, Description: evil, RequestID: evil},
	}
	drawn, err := loaded(t).Draw(pages.Connect, "en", evil, boot)
	if err != nil {
		t.Fatal(err)
	}
	page := string(drawn.HTML)
	if strings.Count(page, "<script") != 2 || strings.Count(page, "</script>") != 2 || strings.Contains(page, "<!--") {
		t.Errorf("got %s", page)
	}
	found := regexp.MustCompile(`(?s)<script id="boot" type="application/json">(.*?)</script>`).FindStringSubmatch(page)
	if len(found) != 2 || strings.ContainsAny(found[1], "<>&\u2028\u2029") {
		t.Fatalf("got %s", page)
	}
	var back pages.Boot
	if err := json.Unmarshal([]byte(found[1]), &back); err != nil || !reflect.DeepEqual(back, boot) {
		t.Errorf("the page reads %+v: %v", back, err)
	}
}

// TestStoredPurposeWithMarkupStaysTextInBootData covers a row that bypassed org.Purpose.Set.
func TestStoredPurposeWithMarkupStaysTextInBootData(t *testing.T) {
	t.Parallel()
	evil := org.Purpose{
		English: `</script><script>alert(1)</script><img src=x onerror=alert(1)>","name":"x`,
		Spanish: "<!--<script>\u2028{{boot}}{{title}}",
	}
	boot := pages.Boot{Organisation: pages.BrandingOf(org.Organisation{Name: "Alder", Purpose: evil}, ownhosts.Own())}
	for _, name := range []string{pages.Embed, pages.Connect} {
		drawn, err := loaded(t).Draw(name, "en", "T", boot)
		if err != nil {
			t.Fatal(err)
		}
		page := string(drawn.HTML)
		found := regexp.MustCompile(`(?s)<script id="boot" type="application/json">(.*?)</script>`).FindStringSubmatch(page)
		if len(found) != 2 || strings.Count(page, "<script") != 2 || strings.Contains(page, "<img") ||
			strings.Contains(page, "<!--") {
			t.Fatalf("%s: %s", name, page)
		}
		var back struct{ Org map[string]string }
		if err := json.Unmarshal([]byte(found[1]), &back); err != nil || back.Org["name"] != "Alder" ||
			back.Org["purpose"] != evil.English || back.Org["purpose_es"] != evil.Spanish {
			t.Errorf("%s reads %v: %v", name, back, err)
		}
	}
}

func TestBootDataContainsAllFields(t *testing.T) {
	t.Parallel()
	drawn, err := loaded(t).Draw(pages.Embed, "es", "T",
		pages.Boot{Shell: pages.Frame, BaseURL: "https://api.example/v1", Mode: org.Live, PublicID: "p"})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"shell":"frame","base_url":"https://api.example/v1","api_mode":"live","public_id":"p","org":null,` +
		`"allowed_origins":[],"error":null,"query":{}}`
	if page := string(drawn.HTML); !strings.Contains(page, ">"+want+"<") ||
		!strings.Contains(page, `<html lang="es"><title>T</title>`) {
		t.Errorf("got %s", page)
	}
	if _, err := loaded(t).Draw("other", "en", "T", pages.Boot{}); err == nil {
		t.Error("a page that is not there was drawn")
	}
}

func TestPageReferrerPolicyAllowsOriginWhenPageStartsAttempts(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		pages.Embed: "strict-origin", pages.Connect: "strict-origin", pages.Demo: "no-referrer",
		pages.Dashboard: "no-referrer",
	} {
		drawn, err := loaded(t).Draw(page, "en", "T", pages.Boot{})
		if err != nil || drawn.Referrer != want {
			t.Errorf("%s: Referrer-Policy %q, want %q (%v)", page, drawn.Referrer, want, err)
		}
	}
}

func TestCSPListsAllowedFrameAncestors(t *testing.T) {
	t.Parallel()
	const all = "default-src 'none'; script-src 'self'; style-src 'self' '" + built.StyleHash +
		"'; connect-src 'self'; img-src https: data:; base-uri 'none'; form-action "
	const posts, own = all + "'self'", all + "'none'"
	for _, c := range []struct {
		page    string
		origins []string
		want    string
	}{
		{pages.Embed, nil, posts},
		{
			pages.Embed,
			[]string{"https://app.example", "https://b.example:8443"},
			posts + "; frame-ancestors 'self' https://app.example https://b.example:8443",
		},
		{
			pages.Embed,
			[]string{"capacitor://localhost", "http://[::1]:3000"},
			posts + "; frame-ancestors 'self' capacitor://localhost http://[::1]:3000",
		},
		{
			pages.Embed,
			[]string{"https://a.example;script-src", "https://app.example"},
			posts + "; frame-ancestors 'self' https://app.example",
		},
		{
			pages.Embed,
			[]string{"https://*.example.com", "https://app.example", "*"},
			posts + "; frame-ancestors 'self' https://app.example",
		},
		{pages.Embed, []string{"https://a.example; script-src *"}, posts + "; frame-ancestors 'self'"},
		{pages.Embed, []string{
			"*", "https://*.example", "'self'", "https://a,b", "https://A.example", "https://a.example/x",
			"https://api.example", "https://API.example:444",
		}, posts + "; frame-ancestors 'self'"},
		{pages.Connect, []string{"https://app.example"}, posts + "; frame-ancestors 'none'"},
		{pages.Demo, nil, own + "; frame-src 'self'; frame-ancestors 'none'"},
		{
			pages.Dashboard,
			[]string{"https://app.example"},
			own + "; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
		},
	} {
		drawn, err := loaded(t).Draw(c.page, "en", "T", pages.Boot{AllowedOrigins: c.origins, Own: ownhosts.Own()})
		if err != nil || drawn.Policy != c.want {
			t.Errorf("%s %v: %s\nwant %s (%v)", c.page, c.origins, drawn.Policy, c.want, err)
		}
	}
}

func TestBrandingOmitsServiceURLs(t *testing.T) {
	t.Parallel()
	got := pages.BrandingOf(org.Organisation{
		Name: "Alder", Accent: "#1a5fb4", LogoURI: "https://api.example/v1/bridge/connect?attempt=x",
		PrivacyPolicyURI: "https://app.example/privacy",
		TermsURI:         "https://API.example:444/", WebsiteURI: "",
	}, ownhosts.Own())
	want := pages.Branding{Name: "Alder", Accent: "#1a5fb4", PrivacyPolicyURI: "https://app.example/privacy"}
	if *got != want {
		t.Errorf("got %+v, want %+v", *got, want)
	}
}
