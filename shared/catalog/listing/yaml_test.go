package listing_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/record"
)

const byHand = `endpoints:
  main: {address: "https://fhir.elm.example/r4", name: Main, fhir_version: 4.0.1, platform: epic,
    id: 0b5e4a86-6f43-4a0e-9a57-6f1f7b1d0001}
  old: {address: "https://old.elm.example/dstu2", off: true}
portals:
  chart: {name: ElmChart, website: "https://chart.elm.example", endpoints: [main, old]}
brands:
  elm:
    name: Elm Health
    aliases: [Elm, Elm Health System]
    npis: ["1234567893"]
    identifiers: [{system: "urn:ietf:rfc:3986", value: "https://elm.example"}]
    website: https://elm.example
    logo: https://elm.example/logo.svg
    logo_license: https://elm.example/terms
    description: For all of Elm
    category: clinical
    merged: [0B5E4A86-6F43-4A0E-9A57-6F1F7B1D0002]
    locations: [{city: Elmton, state: OR, postal_code: "97999", country: US}]
    portals: [chart]
  elm-kids:
    name: Elm Children's
    part_of: elm
    hidden: true
    portals: [chart]
    endpoints: [main]
`

func TestReadYAMLJoinsEntriesByKey(t *testing.T) {
	t.Parallel()
	main := listing.Endpoint{
		Address: "https://fhir.elm.example/r4", ID: "0b5e4a86-6f43-4a0e-9a57-6f1f7b1d0001",
		Name: "Main", FHIRVersion: "4.0.1", Platform: "epic",
	}
	chart := listing.Portal{
		Key: "chart", Name: "ElmChart", Website: "https://chart.elm.example",
		Endpoints: []listing.Endpoint{main, {Address: "https://old.elm.example/dstu2", Off: true}},
	}
	want := []listing.Listing{{
		Key: "elm", Name: "Elm Health", Aliases: []string{"Elm", "Elm Health System"}, NPIs: []string{"1234567893"},
		Identifiers: []listing.Identifier{{System: "urn:ietf:rfc:3986", Value: "https://elm.example"}},
		Website:     "https://elm.example",
		LogoURI:     "https://elm.example/logo.svg", LogoLicense: "https://elm.example/terms", Description: "For all of Elm",
		Category:  "clinical",
		Merged:    []string{"0b5e4a86-6f43-4a0e-9a57-6f1f7b1d0002"},
		Locations: []record.Location{{City: "Elmton", State: "OR", PostalCode: "97999", Country: "US"}},
		Portals:   []listing.Portal{chart},
	}, {
		Key: "elm-kids", Name: "Elm Children's", PartOf: "elm", Hidden: true,
		Portals: []listing.Portal{chart, {Endpoints: []listing.Endpoint{main}}},
	}}
	found, report := mustRead(t, listing.YAML, byHand)
	if diff := cmp.Diff(want, found); diff != "" || len(report.Problems) > 0 {
		t.Errorf("%s (-want +got):\n%s", problems(report), diff)
	}
}

func TestReadYAMLReportsProblemsWithLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to, want string }{
		"an unknown word":       {"category: clinical", "colour: green", "unknown 1 true line 17: elm"},
		"an unknown word below": {"{city: Elmton", "{town: Elmton", "unknown 1 true line 19: elm"},
		"a list for a text":     {"    name: Elm Health\n", "    name: [Elm Health]\n", "bad_type 1 true line 9: elm"},
		"a key twice":           {"elm-kids:", "elm:", "duplicate_key 1 true line 21: elm"},
		"a portal that is none": {
			"hidden: true\n    portals: [chart]", "hidden: true\n    portals: [charts]",
			"no_such 1 false line 22: elm-kids",
		},
		"no portal": {
			"portals: [chart]\n  elm-kids", "hidden: true\n  elm-kids",
			"no_endpoint 1 true line 9: elm",
		},
		"an address that is none": {
			"https://old.elm.example/dstu2", "ftp://old.elm.example",
			"bad_address 1 true line 4: old\nno_such 1 false line 6: chart",
		},
		"an id that is no UUID": {"0B5E4A86-6F43-4A0E-9A57-6F1F7B1D0002", "7", "bad_type 1 false line 9: elm"},
	} {
		list := strings.Replace(byHand, c.from, c.to, 1)
		if list == byHand {
			t.Fatalf("%s: changes nothing", name)
		}
		_, report := mustRead(t, listing.YAML, list)
		if got := problems(report); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	for list, want := range map[string]string{
		"brands: [a, b]":                        "list: not_format in line 1",
		"brands:\n\ta: {name: A}\n":             "list: not_format in line 2",
		"\nbrand: {}":                           "list: unknown in line 2",
		"brands: {}\nbrands: {}":                "list: two_values in line 2",
		"brands:\n  a: &a {name: A}\n  b: *a\n": "list: unknown in line 2",
		"# nothing":                             "list: empty",
		"brands: {}":                            "list: empty",
	} {
		_, _, err := read(t, listing.YAML, list)
		if failure, ok := errors.AsType[*listing.Refused](err); !ok || failure.Error() != want {
			t.Errorf("%q: %v, want %s", list, err, want)
		}
	}
}
