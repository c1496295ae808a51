// Package mailtext formats the service's emails as plain text and HTML, in a uniform style. Text from outside the
// service is always escaped. Callers choose the content and the recipient.
package mailtext

import (
	"html"
	"strings"
	"unicode"
)

// Message is an email to a single recipient. The rendered parts appear in the order of the fields. Empty parts are
// omitted.
type Message struct {
	Language string // language tag (BCP 47)
	Subject  string // a single line without secrets, because it may appear on a locked phone
	Opening  []string
	Code     Code
	Facts    []Fact
	Link     Link
	Closing  []string
	Reason   string // reason for sending the email
}

// Code holds digits for the reader to enter.
type Code struct {
	Label  string
	Digits string
}

// Fact is a label and its value.
type Fact struct {
	Name, Value string
}

// Link is a link to a page.
type Link struct {
	Label   string
	Address string
}

// Text returns the message as plain text, with one paragraph per part.
func (l Message) Text() string {
	parts := make([]string, 0, len(l.Opening)+len(l.Closing)+4)
	parts = append(parts, l.Opening...)
	if l.Code.Digits != "" {
		parts = append(parts, l.Code.Label+" "+l.Code.Digits)
	}
	if len(l.Facts) > 0 {
		lines := make([]string, 0, len(l.Facts))
		for _, f := range l.Facts {
			lines = append(lines, f.Name+": "+f.Value)
		}
		parts = append(parts, strings.Join(lines, "\n"))
	}
	if l.Link.Address != "" {
		parts = append(parts, l.Link.Label+":\n"+l.Link.Address)
	}
	parts = append(parts, l.Closing...)
	if l.Reason != "" {
		parts = append(parts, l.Reason)
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// HTML returns the message as HTML, at most 600 pixels wide and readable at 375 pixels. Styles are inline, because many
// email clients drop style sheets. Only the link sets its own colours, so that mail programs in dark mode can adapt all
// other colours. The HTML doesn't load any external resources.
func (l Message) HTML() string {
	var b strings.Builder
	title := html.EscapeString(l.Subject)
	b.WriteString(`<!doctype html><html lang="` + html.EscapeString(l.Language) + `"><head><meta charset="utf-8">` +
		`<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>` + title +
		`</title></head>` +
		`<body style="margin:0"><div style="font:16px/1.5 system-ui,sans-serif;max-width:600px;margin:0 ` +
		`auto;padding:24px;box-sizing:border-box;overflow-wrap:anywhere">`)
	paragraphs(&b, l.Opening)
	if l.Code.Digits != "" {
		b.WriteString(`<p>` + html.EscapeString(l.Code.Label) + `<br><strong style="font-size:32px;letter-spacing:4px">` +
			html.EscapeString(l.Code.Digits) + `</strong></p>`)
	}
	if len(l.Facts) > 0 {
		b.WriteString(`<dl style="margin:0">`)
		for _, f := range l.Facts {
			b.WriteString(`<dt style="font-size:14px">` + html.EscapeString(f.Name) +
				`</dt><dd style="margin:0 0 8px"><strong>` + html.EscapeString(f.Value) + `</strong></dd>`)
		}
		b.WriteString(`</dl>`)
	}
	if l.Link.Address != "" {
		b.WriteString(`<p><a href="` + html.EscapeString(l.Link.Address) +
			`" style="display:inline-block;padding:10px 18px;border-radius:6px;background:#1a5fb4;color:#fff;` +
			`text-decoration:none">` +
			html.EscapeString(l.Link.Label) + `</a></p>`)
	}
	paragraphs(&b, l.Closing)
	if l.Reason != "" {
		b.WriteString(`<p style="font-size:14px;border-top:1px solid;padding-top:12px;margin-top:24px">` +
			html.EscapeString(l.Reason) + `</p>`)
	}
	b.WriteString(`</div></body></html>`)
	return b.String()
}

func paragraphs(b *strings.Builder, texts []string) {
	for _, text := range texts {
		b.WriteString(`<p>` + html.EscapeString(text) + `</p>`)
	}
}

// Plain returns a user-supplied name as a single line.
func Plain(name string) string {
	return strings.Join(strings.FieldsFunc(name,
		func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}
