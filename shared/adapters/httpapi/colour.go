package httpapi

import (
	"math"
	"strconv"
)

// rgb is an sRGB colour. Components range from 0 to 255.
type rgb [3]float64

// textRatio is the minimum contrast of text (WCAG 2.2, success criterion 1.4.3).
const textRatio = 4.5

// sheetGrounds returns the backgrounds of sheets in the light and dark colour schemes, as in sheet.html.
func sheetGrounds() (light, dark rgb) { return rgb{0xff, 0xff, 0xff}, rgb{0x1a, 0x22, 0x29} }

// parseColour parses a colour in the form #rrggbb. ok is false for any other text.
func parseColour(text string) (colour rgb, ok bool) {
	if len(text) != 7 || text[0] != '#' {
		return rgb{}, false
	}
	for i := range colour {
		part, err := strconv.ParseUint(text[1+2*i:3+2*i], 16, 8)
		if err != nil {
			return rgb{}, false
		}
		colour[i] = float64(part)
	}
	return colour, true
}

// String formats the colour as #rrggbb.
func (c rgb) String() string {
	number := uint64(1) // keeps leading zeros
	for _, part := range c {
		number = number<<8 | uint64(part)
	}
	return "#" + strconv.FormatUint(number, 16)[1:]
}

// luminance returns the relative luminance (WCAG 2.2).
func (c rgb) luminance() float64 {
	var linear rgb
	for i, part := range c {
		if share := part / 255; share <= 0.04045 {
			linear[i] = share / 12.92
		} else {
			linear[i] = math.Pow((share+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*linear[0] + 0.7152*linear[1] + 0.0722*linear[2]
}

// contrast returns the contrast ratio of two colours, between 1 and 21.
func contrast(a, b rgb) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// legible returns the colour if the colour is legible as text on a background. Otherwise, it returns the nearest
// legible mixture of the colour with black or white, as shared/ui/kit/colour.ts does.
func legible(colour, ground rgb) rgb {
	pole := rgb{0xff, 0xff, 0xff}
	if ground.luminance() > 0.18 {
		pole = rgb{}
	}
	for share := 0.0; share < 1; share += 0.02 {
		var mixed rgb
		for i := range mixed {
			mixed[i] = math.Round(colour[i] + (pole[i]-colour[i])*share)
		}
		if contrast(mixed, ground) >= textRatio {
			return mixed
		}
	}
	return pole
}
