package httpapi_test

import (
	"context"
	"fmt"
	"math"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/fault"
)

// showBrand renders a sheet with an organisation's brand.
func showBrand(brand httpapi.Brand, language string) *httptest.ResponseRecorder {
	document := func(context.Context, httpapi.Visit, nothing) (httpapi.Answer, error) {
		return httpapi.Document(httpapi.Sheet{
			Language: language, Icon: httpapi.Plain, Brand: brand, Body: "<h1>Hi</h1><p>Return to {{organisation}}.</p>",
		}), nil
	}
	return do(newEdge().Serve("/callback", httpapi.Methods{"GET": httpapi.Page(httpapi.Limiter{}, document)}),
		newRequest("GET", "/callback", ""))
}

func TestSheetShowsOrganisation(t *testing.T) {
	t.Parallel()
	w := showBrand(httpapi.Brand{
		Name: "Alder Maple Clinic", Logo: "https://cdn.example/logo.png", Accent: "#0a7d33",
	}, "en")
	page, policy := w.Body.String(), w.Header().Get("Content-Security-Policy")
	for _, part := range []string{
		`<img src="https://cdn.example/logo.png" alt=""`, "<bdi>Alder Maple Clinic</bdi>", "Return to Alder Maple Clinic.",
		"--accent: #0a7d33",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q:\n%s", part, page)
		}
	}
	if !strings.Contains(policy, "; img-src https:;") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %s", policy)
	}
	expect.OwnPolicy(t, policy, page)
}

func TestSheetWithoutOrganisationNamesApplication(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{"en": "Return to the application.", "es": "Return to la aplicación."} {
		w := showBrand(httpapi.Brand{Logo: "https://cdn.example/logo.png"}, language)
		page, policy := w.Body.String(), w.Header().Get("Content-Security-Policy")
		if !strings.Contains(page, want) || strings.Contains(page, "<img") || strings.Contains(policy, "img-src") ||
			strings.Contains(page, `class="brand"`) {
			t.Errorf("%s: %s\n%s", language, policy, page)
		}
		expect.OwnPolicy(t, policy, page)
	}
}

// TestSheetEscapesHostileBrand checks that no value of an organisation's brand is interpreted as markup, a style or a
// source.
func TestSheetEscapesHostileBrand(t *testing.T) {
	t.Parallel()
	const hostile = `</bdi></p></style><script>alert(1)</script>"onerror="x {{script}}{{body}} <img/onload=1>`
	for _, brand := range []httpapi.Brand{
		{Name: hostile, Logo: "https://cdn.example/" + hostile, Accent: "#0a7d33"},
		{Name: hostile, Logo: "javascript:alert(1)", Accent: hostile},
		{Name: hostile, Logo: "data:image/png;base64,AAAA", Accent: "#0a7d3;"},
		{Name: hostile, Logo: "http://cdn.example/logo.png", Accent: "#+1+2+3"},
	} {
		w := showBrand(brand, "en")
		page, policy := w.Body.String(), w.Header().Get("Content-Security-Policy")
		if strings.Contains(page, "<script") || strings.Count(page, "<img") > 1 || strings.Contains(page, "javascript:") ||
			strings.Contains(page, "data:image") || strings.Contains(page, "http://cdn") ||
			strings.Contains(page, `"onerror`) || strings.Count(page, "<h1>") != 1 {
			t.Errorf("%+v:\n%s", brand, page)
		}
		if strings.Contains(policy, "alert") || strings.Contains(policy, "script-src") {
			t.Errorf("policy %s", policy)
		}
		expect.OwnPolicy(t, policy, page)
	}
}

// TestSheetAccentIsLegible checks the contrast of the organisation's name on the sheet in both colour schemes.
func TestSheetAccentIsLegible(t *testing.T) {
	t.Parallel()
	found := regexp.MustCompile(`--accent: (#[0-9a-f]{6})`)
	for _, accent := range []string{
		"#ffffff", "#000000", "#ffff00", "#0a7d33", "#00ff00", "#0000ff", "#777777", "#f5f7f9", "#10161b", "#808000",
	} {
		page := showBrand(httpapi.Brand{Name: "Alder", Accent: accent}, "en").Body.String()
		got := found.FindAllStringSubmatch(page, -1)
		if len(got) != 2 {
			t.Fatalf("%s: %d colours", accent, len(got))
		}
		for i, ground := range []string{"#ffffff", "#1a2229"} {
			if ratio := ratioOf(t, got[i][1], ground); ratio < 4.5 {
				t.Errorf("%s: %s on %s has the contrast %.2f", accent, got[i][1], ground, ratio)
			}
			if !strings.Contains(page, "--sheet: "+strings.Replace(ground, "#ffffff", "#fff", 1)) {
				t.Errorf("the sheet is not on %s", ground)
			}
		}
	}
}

// ratioOf returns the contrast ratio of two colours (WCAG 2.2), computed independently of the package under test.
func ratioOf(t *testing.T, a, b string) float64 {
	t.Helper()
	light := func(colour string) (sum float64) {
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			part, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
			expect.NoError(t, err)
			share := float64(part) / 255
			if share > 0.04045 {
				sum += weight * math.Pow((share+0.055)/1.055, 2.4)
			} else {
				sum += weight * share / 12.92
			}
		}
		return sum + 0.05
	}
	return max(light(a)/light(b), light(b)/light(a))
}

func TestErrorPageShowsOrganisationAndItsLanguage(t *testing.T) {
	t.Parallel()
	refuse := func(context.Context, httpapi.Visit, nothing) (httpapi.Answer, error) {
		failure := fmt.Errorf("somewhere: %w", fault.BadRequest("This sign-in was already opened."))
		return httpapi.Answer{}, httpapi.Branded(failure, "es", httpapi.Brand{Name: "Alder <b>", Accent: "#0a7d33"})
	}
	handler := newEdge().Serve("/callback", httpapi.Methods{"GET": httpapi.Page(httpapi.Limiter{}, refuse)})
	w := do(handler, newRequest("GET", "/callback", ""))
	page := w.Body.String()
	if w.Code != 400 || !strings.Contains(page, `<html lang="es">`) || !strings.Contains(page, "<bdi>Alder &lt;b&gt;") ||
		!strings.Contains(page, "This sign-in was already opened.") || !strings.Contains(page, "svc_invalid_request") {
		t.Errorf("got %d %s", w.Code, page)
	}
	expect.OwnPolicy(t, w.Header().Get("Content-Security-Policy"), page)
}
