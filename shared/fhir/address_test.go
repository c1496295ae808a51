package fhir_test

import (
	"testing"

	"recordbridge/shared/fhir"
)

func base(t *testing.T, text string) fhir.Base {
	t.Helper()
	parsed, err := fhir.ParseBase(text)
	if err != nil {
		t.Fatalf("ParseBase(%q): %v", text, err)
	}
	return parsed
}

func TestParseBaseNormalisesURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://EHR.example/FHIR/R4/":      "https://ehr.example/FHIR/R4",
		"https://ehr.example:443":           "https://ehr.example",
		"http://127.0.0.1:8080/fhir":        "http://127.0.0.1:8080/fhir",
		"https://ehr.example:8443/a%20b///": "https://ehr.example:8443/a%20b",
		"https://[2001:4860::1]:443/r4":     "https://[2001:4860::1]/r4",
	} {
		if got := base(t, text).String(); got != want {
			t.Errorf("ParseBase(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestParseBaseRejectsInvalidURLs(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "ehr.example/fhir", "/fhir", "ftp://ehr.example/fhir", "https://", "https:///fhir", "https://a@ehr.example/fhir",
		"https://ehr.example/fhir?x=1", "https://ehr.example/fhir?", "https://ehr.example/fhir#x",
		"https://ehr.example/fhir#",
		"https://ehr.example/a/../b", "https://ehr.example/%2e%2e/b", "https:ehr.example", "https://ehr.example/a\x00b",
		"https://ehr.example//a",
	} {
		if got, err := fhir.ParseBase(text); err == nil {
			t.Errorf("ParseBase(%q) = %q, want an error", text, got)
		}
	}
}

func TestJoinEscapesEveryElement(t *testing.T) {
	t.Parallel()
	got, want := base(t, "https://ehr.example/r4").Join("Patient", "a/b?c#d"),
		"https://ehr.example/r4/Patient/a%2Fb%3Fc%23d"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestResolveAcceptsLinksUnderBase(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ base, link, want string }{
		{"https://ehr.example/r4", "https://ehr.example/r4/Observation?page=2", "https://ehr.example/r4/Observation?page=2"},
		{"https://ehr.example/r4", "https://EHR.example:443/r4?_getpages=x", "https://ehr.example/r4?_getpages=x"},
		{"https://ehr.example/r4", "Observation?page=2", "https://ehr.example/r4/Observation?page=2"},
		{"https://ehr.example/r4", "/r4/Observation?page=2", "https://ehr.example/r4/Observation?page=2"},
		{"https://ehr.example/r4", "?page=2", "https://ehr.example/r4/?page=2"},
		{"https://ehr.example/r4", "https://ehr.example/r4/Observation#x", "https://ehr.example/r4/Observation"},
		{"https://ehr.example/r4", "http://ehr.example/r4/Observation", "https://ehr.example/r4/Observation"},
		{"https://ehr.example/r4", "http://internal-7:8080/r4/Observation?p=2", "https://ehr.example/r4/Observation?p=2"},
		{"https://ehr.example/r4", "//other.example/r4/Observation", "https://ehr.example/r4/Observation"},
		{"https://ehr.example", "http://ehr.example/Observation", "https://ehr.example/Observation"},
		{"https://ehr.example", "Observation", "https://ehr.example/Observation"},
	} {
		if got, ok := base(t, test.base).Resolve(test.link); !ok || got != test.want {
			t.Errorf("%s resolves %q to %q, %v; want %q", test.base, test.link, got, ok, test.want)
		}
	}
}

func TestResolveRejectsLinksOutsideBase(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ base, link string }{
		{"https://ehr.example/r4", "https://other.example/fhir/Observation"},
		{"https://ehr.example/r4", "https://ehr.example/r4b/Observation"},
		{"https://ehr.example/r4", "https://ehr.example/admin"},
		{"https://ehr.example/r4", "https://ehr.example/r4/../admin"},
		{"https://ehr.example/r4", "../admin"},
		{"https://ehr.example/r4", "/r4/%2e%2e/admin"},
		{"https://ehr.example/r4", "/r4/..%2fadmin"},
		{"https://ehr.example/r4", `/r4/..\admin`},
		{"https://ehr.example/r4", "https://user@ehr.example/r4/Observation"},
		{"https://ehr.example/r4", "ftp://ehr.example/r4/Observation"},
		{"https://ehr.example/r4", "https:r4/Observation"},
		{"https://ehr.example/r4", "javascript:alert(1)"},
		{"https://ehr.example/r4", "urn:uuid:1"},
		{"https://ehr.example/r4", "\x7f"},
		{"https://ehr.example", "https://other.example/Observation"},
		{"https://ehr.example", "//other.example/Observation"},
	} {
		if got, ok := base(t, test.base).Resolve(test.link); ok {
			t.Errorf("%s resolves %q to %q, want a refusal", test.base, test.link, got)
		}
	}
}

func TestParseReferenceAcceptsReferencesToServer(t *testing.T) {
	t.Parallel()
	for reference, want := range map[string]string{
		"Practitioner/1":                                       "Practitioner/1",
		"Binary/a.B-9":                                         "Binary/a.B-9",
		"Practitioner/1/_history/2":                            "Practitioner/1",
		"Practitioner/1#part":                                  "Practitioner/1",
		"https://ehr.example/r4/Practitioner/1":                "Practitioner/1",
		"HTTPS://EHR.example:443/r4/Practitioner/1/_history/2": "Practitioner/1",
		"":           "",
		"#contained": "",
		"urn:uuid:298c62e6-b204-4a14-8e21-73d5be0ce22e": "",
		"urn:oid:1.2.3":                                              "",
		"Practitioner":                                               "",
		"Practitioner?identifier=urn|1":                              "",
		"Practitioner/1?x=y":                                         "",
		"practitioner/1":                                             "",
		"Practitioner/..":                                            "",
		"Practitioner/a_b":                                           "",
		"Practitioner/1/2":                                           "",
		"Practitioner/1/_history":                                    "",
		"Practitioner/1/_history/2/3":                                "",
		"/Practitioner/1":                                            "",
		"https://ehr.example/Practitioner/1":                         "",
		"https://other.example/r4/Practitioner/1":                    "",
		"http://ehr.example/r4/Practitioner/1":                       "",
		"https://ehr.example:8443/r4/Practitioner/1":                 "",
		"https://ehr.example.other.example/r4/Practitioner/1":        "",
		"https://ehr.example@other.example/r4/Practitioner/1":        "",
		"https://ehr.example/r4/Practitioner/1?x=y":                  "",
		"https://ehr.example/r4/x/../Practitioner/1/../../../../etc": "",
	} {
		got := ""
		resourceType, id, ok := fhir.ParseReference(reference, base(t, "https://ehr.example/r4"))
		if ok {
			got = resourceType + "/" + id
		}
		if got != want {
			t.Errorf("ParseReference(%q) = %q, want %q", reference, got, want)
		}
	}
}

func TestValidIDRejectsDotSegments(t *testing.T) {
	t.Parallel()
	long := "0123456789012345678901234567890123456789012345678901234567890123"
	for id, want := range map[string]bool{
		"1": true, "a.B-9": true, "...": true, long: true,
		"": false, ".": false, "..": false, "a_b": false, "a/b": false, "é": false, long + "4": false,
	} {
		if got := fhir.ValidID(id); got != want {
			t.Errorf("ValidID(%q) = %v, want %v", id, got, want)
		}
	}
}

func TestForeignReferenceReturnsResourceType(t *testing.T) {
	t.Parallel()
	base, err := fhir.ParseBase("https://ehr.example/fhir/r4")
	if err != nil {
		t.Fatal(err)
	}
	for reference, want := range map[string]string{
		"https://elsewhere.example/fhir/Practitioner/1":              "Practitioner",
		"http://elsewhere.example/Location/a.b/_history/2":           "Location",
		"https://ehr.example/other/Organization/1":                   "Organization",
		"https://ehr.example/fhir/r4/Practitioner/1":                 "",
		"https://elsewhere.example/":                                 "",
		"https://elsewhere.example/fhir/practitioner/1":              "",
		"https://elsewhere.example/fhir/Practitioner?identifier=x|1": "",
		"Practitioner/1": "",
		"urn:uuid:1b4e28ba-2fa1-41d2-883f-0016d3cca427": "",
		"#p": "",
		"":   "",
	} {
		if got, ok := fhir.ForeignReference(reference, base); got != want && ok || ok != (want != "") {
			t.Errorf("%q: got %q, %v; want %q", reference, got, ok, want)
		}
	}
}
