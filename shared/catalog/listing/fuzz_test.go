package listing_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"recordbridge/shared/catalog/listing"
)

// fuzz checks that arbitrary bytes are either parsed or rejected, and that the parsed values are safe to display and
// process.
func fuzz(f *testing.F, format listing.Format, seeds ...string) {
	f.Helper()
	for _, seed := range append(seeds, "", "<html>", "\x1f\x8b", "null", `{"a":{}}`, "[[", "\xff\xfe") {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, list []byte) {
		given, keys := 0, map[string]bool{}
		report, err := listing.Read(t.Context(), format, bytes.NewReader(list), func(l listing.Listing) error {
			given++
			if keys[l.Key] || l.Key == "" {
				t.Errorf("the key %q stands for two listings, or is none", l.Key)
			}
			keys[l.Key] = true
			for _, text := range append([]string{l.Name, l.Description}, l.Aliases...) {
				if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) || utf8.RuneCountInString(text) > 4000 {
					t.Errorf("took the text %q", text)
				}
			}
			if l.Name == "" {
				t.Error("took an institution without a name")
			}
			for _, p := range l.Portals {
				for _, e := range p.Endpoints {
					if lower := strings.ToLower(e.Address); !strings.HasPrefix(lower, "http://") &&
						!strings.HasPrefix(lower, "https://") || strings.Contains(e.Address, "@") &&
						!strings.Contains(e.Address[8:], "/") {
						t.Errorf("took the address %q", e.Address)
					}
				}
			}
			return nil
		})
		if _, isRefused := errors.AsType[*listing.Refused](err); err != nil && !isRefused {
			t.Errorf("an error that is not the list's: %v", err)
		}
		if report.Listings != given {
			t.Errorf("told %d listings and gave %d", report.Listings, given)
		}
	})
}

func FuzzBrands(f *testing.F) {
	fuzz(f, listing.Brands, bundle(harborBrand, harborR4),
		bundle(`{"resourceType":"Organization","id":"a","name":"A","partOf":{"reference":"Organization/a"}}`))
}

func FuzzEndpoints(f *testing.F) {
	fuzz(f, listing.Endpoints, bundle(harborR4),
		bundle(
			`{"resourceType":"Endpoint","id":"e","address":"https://a.example",`+
				`"contained":[{"resourceType":"Organization","id":"o","name":"O"}],`+
				`"managingOrganization":{"reference":"#o"}}`))
}

func FuzzLanternCSV(f *testing.F) {
	fuzz(f, listing.LanternCSV, "url,name,npi,zip\nhttps://a.example,Elm,1234567893,97999\n",
		"url,name\n\"https://a.example\",\"El\"\"m\"\n\"")
}

func FuzzLanternJSON(f *testing.F) {
	fuzz(f, listing.LanternJSON, `[{"url":"https://a.example","name":"Elm"}]`,
		`{"Endpoints":[{"URL":"https://a.example","OrganizationName":"Elm"}]}`)
}

func FuzzLanternNDJSON(f *testing.F) {
	fuzz(f, listing.LanternNDJSON, `{"url":"https://a.example","name":"Elm"}`+"\n{}\n")
}

func FuzzYAML(f *testing.F) { fuzz(f, listing.YAML, byHand) }
