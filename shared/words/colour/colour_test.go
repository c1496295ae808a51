package colour_test

import (
	"math"
	"testing"

	"recordbridge/shared/words/colour"
)

func TestParseAcceptsOnlySixDigits(t *testing.T) {
	t.Parallel()
	if c, ok := colour.Parse("#00aBff"); !ok || c.String() != "#00abff" {
		t.Errorf("got %s %t", c, ok)
	}
	for _, text := range []string{"", "#abc", "00abff#", "#00abfg", "#00abff0", "red", "#+1+1+1"} {
		if c, ok := colour.Parse(text); ok {
			t.Errorf("%q is parsed as %s", text, c)
		}
	}
}

func TestContrastMatchesReferenceValues(t *testing.T) {
	t.Parallel()
	light, dark := colour.Sheets()
	black, _ := colour.Parse("#000000")
	grey, _ := colour.Parse("#767676")
	for name, c := range map[string]struct {
		a, b colour.RGB
		want float64
	}{
		"black on white": {black, light, 21}, "a colour on itself": {dark, dark, 1}, "WCAG's grey": {light, grey, 4.54},
	} {
		if got := colour.Contrast(c.a, c.b); math.Abs(got-c.want) > 0.01 {
			t.Errorf("%s: %.3f", name, got)
		}
	}
}

func TestLegibleReturnsReadableColourOnLightAndDarkBackgrounds(t *testing.T) {
	t.Parallel()
	light, dark := colour.Sheets()
	for _, text := range []string{"#ffff00", "#000000", "#ffffff", "#1a5fb4", "#808080"} {
		c, _ := colour.Parse(text)
		for _, ground := range []colour.RGB{light, dark} {
			if got := c.Legible(ground); colour.Contrast(got, ground) < 4.5 {
				t.Errorf("%s on %s becomes %s", text, ground, got)
			}
		}
	}
	if black, _ := colour.Parse("#000000"); black.Legible(light) != black {
		t.Error("a legible colour is changed")
	}
}
