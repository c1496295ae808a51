package httpapi

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
	"net/http"
	"strings"

	"recordbridge/shared/words/colour"
)

//go:embed sheet.html
var sheetPage string

// Sheet is a small page of fixed text in a common layout.
type Sheet struct {
	Language string
	Brand    Brand
	Icon     SheetIcon
	Body     string            // fixed HTML; its h1 is also the page's title
	Values   map[string]string // text that replaces {{name}} in Body; it is HTML-escaped
	Script   string            // the only script that may run
}

// Brand is an organisation's branding on a page. An empty field means that the value is unknown. The fields may contain
// arbitrary text.
type Brand struct {
	Name   string // value of {{organisation}} in a sheet's body; "the application" if empty
	Logo   string // https URL
	Accent string // "#rrggbb"
}

// SheetIcon selects the icon that a sheet shows next to its text.
type SheetIcon string

// Icons of a Sheet.
const (
	Plain SheetIcon = "plain"
	Good  SheetIcon = "good"
	Bad   SheetIcon = "bad"
)

func (s Sheet) html() string {
	_, heading, _ := strings.Cut(s.Body, "<h1>")
	heading, _, _ = strings.Cut(heading, "</h1>")
	unknown := "the application"
	if s.Language == Spanish {
		unknown = "la aplicación"
	}
	values := make([]string, 0, 2*len(s.Values)+2)
	values = append(values, "{{organisation}}", html.EscapeString(cmp.Or(s.Brand.Name, unknown)))
	for name, value := range s.Values {
		values = append(values, "{{"+name+"}}", html.EscapeString(value))
	}
	script, accent := "", s.Brand.style()
	if s.Script != "" {
		script = "<script>" + s.Script + "</script>\n"
	}
	if accent != "" {
		accent = "<style>" + accent + "</style>\n"
	}
	return strings.NewReplacer(
		"{{language}}", s.Language, "{{title}}", heading, "{{mood}}", string(s.Icon), "{{brand}}", s.Brand.header(),
		"{{accent}}", accent,
		"{{body}}", strings.NewReplacer(values...).Replace(s.Body), "{{script}}", script,
	).Replace(sheetPage)
}

// header returns the HTML of the organisation's name and logo, or "" if the name is unknown.
func (b Brand) header() string {
	if b.Name == "" {
		return ""
	}
	logo := ""
	if b.hasLogo() {
		logo = `<img src="` + html.EscapeString(b.Logo) + `" alt="" width="40" height="40">`
	}
	return `<p class="brand">` + logo + "<bdi>" + html.EscapeString(b.Name) + "</bdi></p>\n"
}

func (b Brand) hasLogo() bool { return b.Name != "" && strings.HasPrefix(b.Logo, "https://") }

// style returns CSS rules with the organisation's colour, legible in both colour schemes, or "" if the colour is
// missing or invalid.
func (b Brand) style() string {
	accent, ok := colour.Parse(b.Accent)
	if !ok {
		return ""
	}
	light, dark := colour.Sheets()
	return ":root { --accent: " + accent.Legible(light).String() + " } @media (prefers-color-scheme: dark) " +
		"{ :root { --accent: " + accent.Legible(dark).String() + " } }"
}

// headers sets the page's headers. The Content-Security-Policy allows only the page's inline styles and script, by
// their hashes, and a logo. No site can frame the page.
func (s Sheet) headers(header http.Header) {
	_, style, _ := strings.Cut(sheetPage, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	policy := "default-src 'none'; style-src " + sourceOf(style)
	if accent := s.Brand.style(); accent != "" {
		policy += " " + sourceOf(accent)
	}
	if s.Brand.hasLogo() {
		policy += "; img-src https:"
	}
	policy += "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if s.Script != "" {
		policy += "; script-src " + sourceOf(s.Script)
	}
	pageHeaders(header, policy)
}

// sourceOf returns the Content-Security-Policy hash source for an inline style or script (Content Security Policy Level
// 3, section 2.3.1).
func sourceOf(inline string) string {
	sum := sha256.Sum256([]byte(inline))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// pageHeaders sets the headers of every page, with policy as the Content-Security-Policy.
func pageHeaders(header http.Header, policy string) {
	header.Set("Content-Security-Policy", policy)
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
}
