package httpapi

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
	"net/http"
	"strings"
)

//go:embed sheet.html
var sheetPage string

// Sheet is a small page of fixed words for a person, in the form that all our pages have.
type Sheet struct {
	Language string
	Mood     Mood
	Body     string            // HTML of ours; its heading is the page's title, too
	Values   map[string]string // what stands in Body at {{name}}; may hold anything
	Script   string            // of ours; the only one that runs
}

// Mood is what a sheet's mark says beside its words.
type Mood string

// The moods.
const (
	Plain Mood = "plain"
	Good  Mood = "good"
	Bad   Mood = "bad"
)

// html is the whole page.
func (s Sheet) html() string {
	_, heading, _ := strings.Cut(s.Body, "<h1>")
	heading, _, _ = strings.Cut(heading, "</h1>")
	values := make([]string, 0, 2*len(s.Values))
	for name, value := range s.Values {
		values = append(values, "{{"+name+"}}", html.EscapeString(value))
	}
	script := ""
	if s.Script != "" {
		script = "<script>" + s.Script + "</script>\n"
	}
	return strings.NewReplacer(
		"{{language}}", s.Language, "{{title}}", heading, "{{mood}}", string(s.Mood),
		"{{body}}", strings.NewReplacer(values...).Replace(s.Body), "{{script}}", script,
	).Replace(sheetPage)
}

// headers puts the page's headers. It runs and loads nothing but its own style and script, which stand in the policy by
// their hashes, and is framed by nobody.
func (s Sheet) headers(header http.Header) {
	_, style, _ := strings.Cut(sheetPage, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	policy := "default-src 'none'; style-src " + sourceOf(style) +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if s.Script != "" {
		policy += "; script-src " + sourceOf(s.Script)
	}
	pageHeaders(header, policy)
}

// sourceOf is what an inline style or script stands in a policy as (Content Security Policy Level 3, section 2.3.1).
func sourceOf(inline string) string {
	sum := sha256.Sum256([]byte(inline))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// pageHeaders are those of every page, and its policy.
func pageHeaders(header http.Header, policy string) {
	header.Set("Content-Security-Policy", policy)
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
}
