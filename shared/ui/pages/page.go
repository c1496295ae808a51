package pages

import (
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"

	"recordbridge/shared/words/org"
	"recordbridge/shared/words/weburl"
)

// page is a page of the build in one language, with placeholders.
type page struct {
	text  string
	style string // the inline style's CSP source; may be empty
}

var errPlaces = errors.New("has not both of {{title}} and {{boot}}, or a style without its hash")

func newPage(text, styleHash string) (page, error) {
	for _, place := range []string{"{{title}}", "{{boot}}"} {
		if !strings.Contains(text, place) {
			return page{}, errPlaces
		}
	}
	if strings.Contains(text, "<style") && !hash().MatchString(styleHash) {
		return page{}, errPlaces
	}
	return page{text: text, style: styleHash}, nil
}

func hash() *regexp.Regexp { return regexp.MustCompile(`^sha(256|384|512)-[A-Za-z0-9+/]+=*$`) }

// Drawn is a page rendered for a single visit, with its response headers.
type Drawn struct {
	HTML     []byte
	Policy   string // Content-Security-Policy (Content Security Policy Level 3)
	Referrer string // Referrer-Policy
}

// Names of the pages.
const (
	Embed     = "embed"     // displayed in a frame on a customer's page
	Connect   = "connect"   // displayed in a separate window
	Demo      = "demo"      // the playground page
	Dashboard = "dashboard" // for developers; see docs/adr/0036-the-dashboard.md
)

// Draw renders the named page in a language, with a title. The strings in boot may contain any characters.
func (b *Bundle) Draw(name, language, title string, boot Boot) (Drawn, error) {
	p, ok := b.pages[name+"."+language]
	if !ok {
		return Drawn{}, fmt.Errorf("pages: the build has no page %s.%s", name, language)
	}
	script, err := boot.script()
	if err != nil {
		return Drawn{}, err
	}
	// Replace all placeholders in a single pass, so that inserted text is never searched for placeholders.
	form := lookOf(boot.Organisation)
	text := strings.NewReplacer("{{title}}", html.EscapeString(title), "{{boot}}", script,
		"{{scheme}}", form.attribute(), "{{look}}", form.element()).Replace(p.text)
	drawn := Drawn{HTML: []byte(text), Policy: p.policy(name, boot, form), Referrer: "no-referrer"}
	if startsAttempts(name) {
		// With "no-referrer", browsers send "null" as the Origin of a form post (Fetch, section 3.2), and the service
		// would refuse to start an attempt.
		drawn.Referrer = "strict-origin"
	}
	return drawn, nil
}

// startsAttempts reports whether the named page can start attempts.
func startsAttempts(name string) bool { return name == Embed || name == Connect }

// policy returns a Content-Security-Policy that lets the page load and request only the service's own resources, and
// display logos.
func (p page) policy(name string, boot Boot, form look) string {
	styles := []string{"'self'"}
	for _, hash := range []string{p.style, form.hash()} {
		if hash != "" {
			styles = append(styles, "'"+hash+"'")
		}
	}
	action := "'none'"
	if startsAttempts(name) {
		action = "'self'"
	}
	policy := "default-src 'none'; script-src 'self'; style-src " + strings.Join(styles, " ") +
		"; connect-src 'self'; img-src https: data:; base-uri 'none'; form-action " + action
	switch {
	case name == Dashboard:
		// The dashboard never parses text as markup, because injected markup could run scripts.
		return policy + "; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
	case name == Demo:
		return policy + "; frame-src 'self'; frame-ancestors 'none'"
	case name == Connect:
		return policy + "; frame-ancestors 'none'"
	case len(boot.AllowedOrigins) == 0:
		return policy // no frame-ancestors directive, because even "*" would exclude web views' custom schemes
	}
	return policy + "; frame-ancestors " + ancestors(boot.Own, boot.AllowedOrigins)
}

// ancestors returns the registered origins as CSP sources, plus the service's own origin for the playground. Origins
// that are not written as browsers send them are omitted, because they could add a directive to the policy.
func ancestors(own weburl.Own, origins []string) string {
	sources := []string{"'self'"}
	for _, origin := range origins {
		if normal, err := org.NewOrigin(own, origin); err == nil {
			sources = append(sources, normal)
		}
	}
	return strings.Join(sources, " ")
}
