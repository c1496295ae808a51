package pages_test

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"recordbridge/infra/testkit/built"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/ui/pages"
	"recordbridge/shared/words/org"
)

func drawLook(t *testing.T, page string, look org.Look) (html, policy string) {
	t.Helper()
	boot := pages.Boot{Organisation: pages.BrandingOf(org.Organisation{Name: "Alder", Look: look}, ownhosts.Own())}
	drawn, err := loaded(t).Draw(page, "en", "T", boot)
	if err != nil {
		t.Fatal(err)
	}
	return string(drawn.HTML), drawn.Policy
}

func TestPageContainsBrandingForFirstPaint(t *testing.T) {
	t.Parallel()
	for style, look := range map[string]org.Look{
		"":                          {ColorScheme: org.Dark},
		":root{--radius:0rem}":      {Radius: new(0)},
		":root{--radius:1.5rem}":    {Radius: new(24), ColorScheme: org.Light},
		":root{--radius:0.4375rem}": {Radius: new(7)},
		`:root{--radius:0.5rem;--font:"Segoe UI", serif, var(--system)}`: {
			Radius: new(8), Font: `"Segoe UI", serif`, ColorScheme: org.Dark,
		},
	} {
		for _, page := range []string{pages.Embed, pages.Connect} {
			html, policy := drawLook(t, page, look)
			root, element, source := `<html lang="en">`, "", "'"+built.StyleHash+"'"
			if look.ColorScheme != org.Auto {
				root = `<html lang="en" data-scheme="` + string(look.ColorScheme) + `">`
			}
			if style != "" {
				sum := sha256.Sum256([]byte(style))
				element = "<style>" + style + "</style>"
				source += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
			}
			if !strings.Contains(html, root) || !strings.Contains(html, "</style>"+element+"<script") {
				t.Errorf("%s with %+v: %s", page, look, html)
			}
			if !strings.Contains(policy, "; style-src 'self' "+source+"; ") {
				t.Errorf("%s with %+v: policy %s", page, look, policy)
			}
		}
	}
}

func TestPageOmitsInvalidStoredBranding(t *testing.T) {
	t.Parallel()
	plain, policy := drawLook(t, pages.Embed, org.Look{})
	for _, look := range []org.Look{
		{Font: "</style><script>alert(1)</script>"},
		{Font: "serif;}body{display:none"},
		{Font: "url(https://evil.example)"},
		{Radius: new(99), Font: "serif"},
		{ColorScheme: `dark" onload="alert(1)`},
	} {
		if html, got := drawLook(t, pages.Embed, look); html != plain || got != policy {
			t.Errorf("%+v: %s\n%s", look, got, html)
		}
	}
}
