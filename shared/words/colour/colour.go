// Package colour computes the contrast of sRGB colours (WCAG 2.2) and adjusts colours so that text is legible.
package colour

import (
	"math"
	"strconv"
)

// RGB is an sRGB colour. Each component ranges from 0 to 255.
type RGB [3]float64

// textRatio is the minimum contrast of text (WCAG 2.2, success criterion 1.4.3).
const textRatio = 4.5

// Sheets returns the backgrounds of the service's pages in the light and dark colour schemes, as in
// shared/ui/kit/tokens.css.
func Sheets() (light, dark RGB) { return RGB{0xff, 0xff, 0xff}, RGB{0x1a, 0x22, 0x29} }

// Parse parses a colour in the form #rrggbb. ok is false for any other text.
func Parse(text string) (c RGB, ok bool) {
	if len(text) != 7 || text[0] != '#' {
		return RGB{}, false
	}
	for i := range c {
		part, err := strconv.ParseUint(text[1+2*i:3+2*i], 16, 8)
		if err != nil {
			return RGB{}, false
		}
		c[i] = float64(part)
	}
	return c, true
}

// String formats the colour as #rrggbb.
func (c RGB) String() string {
	number := uint64(1) // keeps leading zeros
	for _, part := range c {
		number = number<<8 | uint64(part)
	}
	return "#" + strconv.FormatUint(number, 16)[1:]
}

// Contrast returns the contrast ratio of two colours, from 1 to 21.
func Contrast(a, b RGB) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Legible returns the colour if it is legible as text on a background, and otherwise the nearest legible mixture of the
// colour with black or white, as shared/ui/kit/colour.ts does.
func (c RGB) Legible(ground RGB) RGB {
	pole := RGB{0xff, 0xff, 0xff}
	if ground.luminance() > 0.18 {
		pole = RGB{}
	}
	for share := 0.0; share < 1; share += 0.02 {
		var mixed RGB
		for i := range mixed {
			mixed[i] = math.Round(c[i] + (pole[i]-c[i])*share)
		}
		if Contrast(mixed, ground) >= textRatio {
			return mixed
		}
	}
	return pole
}

// luminance returns the relative luminance, from 0 to 1.
func (c RGB) luminance() float64 {
	var linear RGB
	for i, part := range c {
		if share := part / 255; share <= 0.04045 {
			linear[i] = share / 12.92
		} else {
			linear[i] = math.Pow((share+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*linear[0] + 0.7152*linear[1] + 0.0722*linear[2]
}
