package window_test

import (
	"errors"
	"testing"

	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/adapters/window"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/weburl"
)

func TestLookOfHidesUnsafeLogo(t *testing.T) {
	t.Parallel()
	const logo = "https://cdn.example/a.png"
	for stored, want := range map[string]string{
		logo: logo, "": "", "http://cdn.example/a.png": "", "javascript:alert(1)": "", "data:image/png;base64,AA": "",
		"https://api.example/v1/bridge/connect?x": "", "https://API.example:443/v1/demo": "", "//cdn.example/a.png": "",
		"https://user@cdn.example/a.png": "", "http://127.0.0.1:4566/v1/demo": "",
	} {
		caller := org.Caller{Brand: org.Brand{Name: "Alder", LogoURI: stored, Accent: "#0a7d33"}}
		got, err := window.LookOf(caller, ownhosts.Own(), "es")
		if look := (binding.Look{Language: "es", Organisation: "Alder", Logo: want, Accent: "#0a7d33"}); got != look ||
			err != nil {
			t.Errorf("%q: %+v, %v", stored, got, err)
		}
		if got, err = window.LookOf(caller, weburl.Own{}, ""); got.Logo != "" || err != nil {
			t.Errorf("%q without known hosts: %+v, %v", stored, got, err)
		}
	}
}

func TestLookOfRejectsUnavailableLanguage(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"fr", "EN", "es-MX", "../../x", "en\n"} {
		_, err := window.LookOf(org.Caller{}, ownhosts.Own(), language)
		if !errors.Is(err, fault.Invalid) || fault.Of(err).Field != "lang" {
			t.Errorf("%q: %v", language, err)
		}
	}
}
