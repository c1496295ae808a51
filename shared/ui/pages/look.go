package pages

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"

	"recordbridge/shared/words/org"
)

// look adds an organisation's corners, font and colour scheme to a page. A script could apply these styles only after
// the first paint.
type look struct{ org.Look }

// lookOf returns the look of an organisation's page. of may be nil. An invalid look could end the style element or add
// a rule, so it is replaced with the default look.
func lookOf(of *Branding) look {
	if of == nil || of.Look.Check() != nil {
		return look{}
	}
	return look{of.Look}
}

// attribute returns the root element's attribute that selects a colour scheme (shared/ui/kit/tokens.css). It returns ""
// if the page uses the device's colour scheme.
func (l look) attribute() string {
	if l.ColorScheme == org.Auto {
		return ""
	}
	return ` data-scheme="` + l.ColorScheme.String() + `"`
}

// element returns a style element that sets the radius and the font. It returns "" if both values are the defaults.
func (l look) element() string {
	if style := l.style(); style != "" {
		return "<style>" + style + "</style>"
	}
	return ""
}

// hash returns the style element's hash as a CSP source. It returns "" if the page has no such element.
func (l look) hash() string {
	style := l.style()
	if style == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(style))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// style returns the style element's text. Lengths are relative to the browser's text size, as in the other styles.
func (l look) style() string {
	var set []string
	if l.Radius != nil {
		set = append(set, "--radius:"+strconv.FormatFloat(float64(*l.Radius)/16, 'f', -1, 64)+"rem")
	}
	if l.Font != "" {
		set = append(set, "--font:"+l.Font+", var(--system)")
	}
	if len(set) == 0 {
		return ""
	}
	return ":root{" + strings.Join(set, ";") + "}"
}
