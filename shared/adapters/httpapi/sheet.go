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

// Sheet is a small page of fixed text, in the layout that all such pages share.
type Sheet struct {
	Language string
	Icon     SheetIcon
	Body     string            // fixed HTML; its heading is also the page's title
	Values   map[string]string // values for {{name}} in Body; may be any text
	Script   string            // the only script that may run
}

// SheetIcon selects the icon that a sheet shows beside its text.
type SheetIcon string

// Icons of a sheet.
const (
	Plain SheetIcon = "plain"
	Good  SheetIcon = "good"
	Bad   SheetIcon = "bad"
)

// html renders the complete page.
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
		"{{language}}", s.Language, "{{title}}", heading, "{{mood}}", string(s.Icon),
		"{{body}}", strings.NewReplacer(values...).Replace(s.Body), "{{script}}", script,
	).Replace(sheetPage)
}

// headers sets the page's headers. The policy lists the page's own style and script by hash, so that nothing else loads
// or runs, and no site may frame the page.
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

// sourceOf returns the hash source of an inline style or script for a Content-Security-Policy (Content Security Policy
// Level 3, section 2.3.1).
func sourceOf(inline string) string {
	sum := sha256.Sum256([]byte(inline))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// pageHeaders sets the headers that all pages share, and the page's Content-Security-Policy.
func pageHeaders(header http.Header, policy string) {
	header.Set("Content-Security-Policy", policy)
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
}
