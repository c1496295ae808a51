package expect

import (
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"
)

// OwnPolicy says that a page's policy lets it run and load nothing but the inline style and script that are in it, by
// their hashes, and be framed by nobody. It returns the script, which is empty when there is none.
func OwnPolicy(tb testing.TB, policy, page string) (script string) {
	tb.Helper()
	hash := func(inline string) string {
		sum := sha256.Sum256([]byte(inline))
		return " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	styles := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindAllStringSubmatch(page, -1)
	scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(page, -1)
	if len(styles) != 1 || len(scripts) > 1 || strings.Count(page, "<script") != len(scripts) ||
		regexp.MustCompile(`src=|href=|https?:| style=| on[a-z]+=`).MatchString(page) {
		tb.Errorf("the page has %d styles and %d scripts, something from elsewhere or what a hash does not allow:\n%s",
			len(styles), len(scripts), page)
		return ""
	}
	want := "default-src 'none'; style-src" + hash(styles[0][1]) +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if len(scripts) == 1 {
		script = scripts[0][1]
		want += "; script-src" + hash(script)
	}
	if policy != want {
		tb.Errorf("policy %q\nwant   %q", policy, want)
	}
	return script
}
