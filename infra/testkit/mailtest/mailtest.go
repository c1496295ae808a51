// Package mailtest checks the properties common to all emails: the text matches testdata, the plain-text and HTML forms
// have the same content, and the HTML loads no external resources. Only tests import this package.
package mailtest

import (
	"html"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	tag     = regexp.MustCompile(`<[^>]*>`)
	address = regexp.MustCompile(`[a-z]+://[^\s"<]+`)
	loaded  = regexp.MustCompile(`(?i)<(img|script|style|link|iframe|form|input)\b|\bsrc=|url\(|\son[a-z]+=`)
)

// Check compares an email's subject and plain text with testdata/<name>.txt. The plain text and the HTML must have the
// same content and links. The HTML must not load external resources.
func Check(tb testing.TB, name, subject, text, markup string) {
	tb.Helper()
	want, err := fs.ReadFile(os.DirFS("testdata"), name+".txt")
	if err != nil {
		tb.Error(err)
	}
	if diff := cmp.Diff(string(want), "Subject: "+subject+"\n\n"+text); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", name, diff)
	}
	if found := loaded.FindString(markup); found != "" || strings.ContainsAny(subject, "\r\n") {
		tb.Errorf("%s: subject %q, the HTML has %q", name, subject, found)
	}
	shown := html.UnescapeString(tag.ReplaceAllString(markup, "\n"))
	for line := range strings.SplitSeq(strings.ReplaceAll(text, ": ", "\n"), "\n") {
		if line = strings.TrimSuffix(line, ":"); !strings.Contains(line, "://") &&
			!strings.Contains(strings.ReplaceAll(shown, ": ", "\n"), line) {
			tb.Errorf("%s: %q is not in the HTML: %s", name, line, markup)
		}
	}
	for _, to := range address.FindAllString(text, -1) {
		if !strings.Contains(html.UnescapeString(markup), to) {
			tb.Errorf("%s: the HTML does not name %s", name, to)
		}
	}
	if strings.Contains(text+markup, "docs/") || strings.Contains(text+markup, "github") {
		tb.Errorf("%s names a file of the repository: %s", name, text)
	}
}
