package fhir_test

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recordbridge/shared/fhir"
)

func TestLearnDerivesServerBaseURLFromPage(t *testing.T) {
	t.Parallel()
	const pinned = "https://ehr.example/r4"
	for name, c := range map[string]struct {
		page fhir.Bundle
		path string
		want string
	}{
		"by the self link": {
			fhir.Bundle{Self: "http://inner:8080/hapi/fhir/Observation?patient=p"},
			"Observation", "http://inner:8080/hapi/fhir",
		},
		"of a search for all": {fhir.Bundle{Self: "http://inner/fhir/Goal"}, "Goal", "http://inner/fhir"},
		"of an operation": {
			fhir.Bundle{Self: "http://inner/fhir/Patient/p1/%24everything?_count=1"},
			"Patient/p1/$everything", "http://inner/fhir",
		},
		"at the root": {
			fhir.Bundle{Self: "http://inner:80/Observation?x=y"},
			"Observation",
			"http://inner",
		},
		"of the same place without TLS": {
			fhir.Bundle{Self: "http://ehr.example/r4/Observation"},
			"Observation",
			"http://ehr.example/r4",
		},
		"by its entries": {fhir.Bundle{EntryBase: "http://inner/fhir"}, "Observation", "http://inner/fhir"},
		"by the self link before entries": {
			fhir.Bundle{Self: "http://one/fhir/Goal", EntryBase: "http://two/fhir"},
			"Goal",
			"http://one/fhir",
		},
		"not: it is the same": {fhir.Bundle{
			Self:      pinned + "/Observation",
			EntryBase: "HTTPS://EHR.example:443/r4/",
		}, "Observation", ""},
		"not: entries of another server": {fhir.Bundle{
			Self:      pinned + "/Goal",
			EntryBase: "https://other.example/fhir",
		}, "Goal", ""},
		"not: the same, a page of it": {fhir.Bundle{
			Self:      pinned + "?_getpages=1",
			EntryBase: "https://other.example/fhir",
		}, "Goal", ""},
		"not: another type's page":   {fhir.Bundle{Self: "http://inner/fhir/Observation?x=/Goal"}, "Goal", ""},
		"not: a page of a session":   {fhir.Bundle{Self: "http://inner/fhir?_getpages=1"}, "Goal", ""},
		"not: a path":                {fhir.Bundle{Self: "/fhir/Goal"}, "Goal", ""},
		"not: with user information": {fhir.Bundle{Self: "https://ehr.example@evil.example/fhir/Goal"}, "Goal", ""},
		"not: with dot segments":     {fhir.Bundle{Self: "https://evil.example/../fhir/Goal"}, "Goal", ""},
		"not: with encoded dots":     {fhir.Bundle{Self: "https://evil.example/%2e%2e/Goal"}, "Goal", ""},
		"not: with an encoded slash": {fhir.Bundle{Self: "https://evil.example/a%2Fb/Goal"}, "Goal", ""},
		"not: with a backslash":      {fhir.Bundle{Self: `https://evil.example/a\b/Goal`}, "Goal", ""},
		"not: with a fragment":       {fhir.Bundle{Self: "https://evil.example/#/Goal"}, "Goal", ""},
		"not: another scheme":        {fhir.Bundle{Self: "file:///fhir/Goal"}, "Goal", ""},
		"not: no address":            {fhir.Bundle{Self: "\x7f/Goal", EntryBase: "http://"}, "Goal", ""},
		"by its entries, not by the other": {
			fhir.Bundle{Self: "https://a@evil.example/Goal", EntryBase: "http://inner/fhir"},
			"Goal", "http://inner/fhir",
		},
	} {
		learned := base(t, pinned).Learn(c.page, c.path)
		if got := learned.Own(); got != c.want || learned.String() != pinned {
			t.Errorf("%s: own base %q of %s, want %q", name, got, learned, c.want)
		}
		if again := base(t, pinned).Knowing(learned.Own()); again != learned {
			t.Errorf("%s: what is kept of it means %+v, want %+v", name, again, learned)
		}
	}
}

func TestResolveRewritesLinksFromServerBaseURLToPinnedBaseURL(t *testing.T) {
	t.Parallel()
	const pinned, inner = "https://ehr.example/r4", "http://inner:8080/hapi/fhir"
	for _, c := range []struct{ own, link, want string }{
		{inner, inner + "/Observation?page=2&x=%2F..%2F", pinned + "/Observation?page=2&x=%2F..%2F"},
		{inner, inner + "?_getpages=1&_getpagesoffset=20", pinned + "?_getpages=1&_getpagesoffset=20"},
		{inner, inner + "/?_getpages=1", pinned + "/?_getpages=1"},
		{inner, "https://INNER:8080/hapi/fhir/Binary/a%20b", pinned + "/Binary/a%20b"},
		{inner, "/hapi/fhir/Observation?page=2", pinned + "/Observation?page=2"},
		{inner, "Observation?page=2", pinned + "/Observation?page=2"},
		{inner, pinned + "/Observation?page=2", pinned + "/Observation?page=2"},
		{"http://inner", "http://inner/Observation?page=2", pinned + "/Observation?page=2"},
		{"http://inner", "http://inner?_getpages=2", pinned + "?_getpages=2"},
		{pinned + "/tenant", pinned + "/tenant/Goal", pinned + "/Goal"},
		{"https://ehr.example", "https://ehr.example/Goal", pinned + "/Goal"},
		{"https://ehr.example", pinned + "/Goal", pinned + "/Goal"},
	} {
		if got, ok := base(t, pinned).Knowing(c.own).Resolve(c.link); !ok || got != c.want {
			t.Errorf("%s: %q is %q, %v; want %q", c.own, c.link, got, ok, c.want)
		}
	}
	known := base(t, pinned).Knowing(inner)
	for _, link := range []string{
		"http://inner:8080/hapi/fhirx/Goal", "http://inner:8080/hapi", "http://inner:9090/hapi/fhir/Goal",
		"http://inner/hapi/fhir/Goal",
		"http://evil.example/hapi/fhir/Goal", "http://a@inner:8080/hapi/fhir/Goal", inner + "/../admin",
		inner + "/%2e%2e/admin",
		inner + "/a%2f..%2fadmin", inner + `/..\admin`, inner + "//evil.example/Goal", "//inner:8080/hapi/fhir/../x",
		"ftp://inner:8080/hapi/fhir/Goal",
		"http://inner:8080@evil.example/hapi/fhir/Goal",
	} {
		if got, ok := known.Resolve(link); ok {
			t.Errorf("%q is %q, want a refusal", link, got)
		}
	}
}

func TestParseReferenceAcceptsServerBaseURL(t *testing.T) {
	t.Parallel()
	known := base(t, "https://ehr.example/r4").Knowing("http://inner:8080/hapi/fhir")
	for reference, want := range map[string]string{
		"http://inner:8080/hapi/fhir/Practitioner/1":             "Practitioner/1",
		"https://inner:8080/hapi/fhir/Practitioner/1/_history/2": "Practitioner/1",
		"https://ehr.example/r4/Practitioner/1":                  "Practitioner/1",
		"Practitioner/1":                                         "Practitioner/1",
		"http://inner:8080/other/Practitioner/1":                 "",
		"http://inner/hapi/fhir/Practitioner/1":                  "",
		"http://inner:8080/hapi/fhir/../Practitioner/1":          "",
	} {
		got := ""
		if resourceType, id, ok := fhir.ParseReference(reference, known); ok {
			got = resourceType + "/" + id
		}
		if got != want {
			t.Errorf("%q is %q, want %q", reference, got, want)
		}
		if _, foreign := fhir.ForeignReference(reference, known); foreign && want != "" {
			t.Errorf("%q is another server's", reference)
		}
	}
}

// The token is sent only to the pinned base URL, even if a hostile server names another base URL, next page or
// reference.
func TestHostileServerBaseURLCannotRedirectRequests(t *testing.T) {
	t.Parallel()
	parts := []string{
		"http", "https", "://", ":", "/", "//", "\\", "@", "ehr.example", "evil.example", "ehr.example.evil.example", ":443",
		":8080", "r4", "..", ".", "%2e",
		"%2E%2e", "%2f", "%5c", "%00", "?", "&", "#", "_getpages=1", "Observation", "Goal", ";", "a", " ", "\x7f",
		"é", "[", "]",
	}
	word := rapid.Map(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12),
		func(of []string) string { return strings.Join(of, "") })
	web := rapid.Map(word, func(of string) string { return "https://evil.example/" + of })
	anything := rapid.OneOf(word, web)
	rapid.Check(t, func(r *rapid.T) {
		pinned, err := fhir.ParseBase(rapid.SampledFrom(
			[]string{"https://ehr.example/r4", "https://ehr.example", "https://ehr.example:8443/a/b"}).Draw(r, "base"))
		if err != nil {
			r.Fatal(err)
		}
		self := anything.Draw(r, "self")
		if rapid.Bool().Draw(r, "a type behind it") {
			self += "/Goal"
		}
		known := pinned.Learn(fhir.Bundle{Self: self, EntryBase: anything.Draw(r, "entries")}, "Goal")
		link := anything.Draw(r, "link")
		if own := known.Own(); own != "" && rapid.Bool().Draw(r, "under it") {
			link = own + "/" + link
		}
		address, ok := known.Resolve(link)
		if !ok {
			return
		}
		target, err := url.Parse(address)
		below := strings.TrimPrefix(address, pinned.String())
		if err != nil || target.User != nil || below == address || below != "" && below[0] != '/' && below[0] != '?' {
			r.Fatalf("%q leads from %s, as %s knows it, to %q", link, pinned, known.Own(), address)
		}
		path, _, _ := strings.Cut(strings.ToLower(below), "?")
		for _, trick := range []string{"..", "%2e", "%2f", "%5c", "%00", "//", "\\"} {
			if strings.Contains(path+"/", "/"+trick+"/") || trick != ".." && strings.Contains(path, trick) {
				r.Fatalf("%q is %q", link, address)
			}
		}
	})
}
