package listing_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/record"
)

func read(t *testing.T, format listing.Format, list string) ([]listing.Listing, listing.Report, error) {
	t.Helper()
	var found []listing.Listing
	report, err := listing.Read(t.Context(), format, strings.NewReader(list), func(l listing.Listing) error {
		found = append(found, l)
		return nil
	})
	return found, report, err
}

func mustRead(t *testing.T, format listing.Format, list string) ([]listing.Listing, listing.Report) {
	t.Helper()
	found, report, err := read(t, format, list)
	if err != nil {
		t.Fatal(err)
	}
	return found, report
}

func problems(r listing.Report) string {
	lines := make([]string, 0, len(r.Problems))
	for _, p := range r.Problems {
		lines = append(lines, fmt.Sprintf("%s %d %t %s", p.Reason, p.Count, p.Lost, strings.Join(p.Keys, "|")))
	}
	return strings.Join(lines, "\n")
}

// bundle wraps resources as entries with full URLs.
func bundle(resources ...string) string {
	entries := make([]string, 0, len(resources))
	for _, r := range resources {
		entries = append(entries, `{"resource":`+r+`}`)
	}
	return `{"resourceType":"Bundle","type":"collection","timestamp":"2026-03-04T05:06:07+01:00","entry":[` +
		strings.Join(entries, ",") + `]}`
}

const (
	harborR4 = `{"resourceType":"Endpoint","id":"harbor","status":"active","name":"Harbor R4",` +
		`"address":"https://fhir.harbor.example/r4","connectionType":{"code":"hl7-fhir-rest"},` +
		`"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/endpoint-fhir-version","valueCode":"4.0.1"}]}`
	harborBrand = `{"resourceType":"Organization","id":"harbor-health","active":true,"name":"Harbor Health",
 "alias":["Harbour"],
 "identifier":[{"system":"urn:ietf:rfc: 3986","value":"https://www.harbor.example/"},
  {"system":"http://hl7.org/fhir/sid/us-npi","value":"1234567893"},
  {"system":"http://hl7.org/fhir/sid/us-npi","value":"12"},{"system":"urn:oid:2.999.1","value":"77"}],
 "type":[{"coding":[{"system":"http://hl7.org/fhir/smart-app-launch/CodeSystem/user-access-category",
  "code":"clinical"}]}],
 "telecom":[{"system":"phone","value":"555"},{"system":"url","value":"https://harbor.example/patients"}],
 "address":[{"city":"Portvale","state":"OR","postalCode":"97999"},{"postalCode":"97998"}],
 "endpoint":[{"reference":"Endpoint/harbor"}],
 "extension":[{"url":"http://hl7.org/fhir/StructureDefinition/organization-brand","extension":[
   {"url":"brandLogo","valueUrl":"https://harbor.example/logo.svg"},
   {"url":"brandLogoLicense","valueUrl":"https://harbor.example/logo-terms"},
   {"url":"brandBundle","valueUrl":"https://harbor.example/brands.json"}]},
  {"url":"http://hl7.org/fhir/StructureDefinition/organization-portal","extension":[
   {"url":"portalName","valueString":"MyHarbor"},{"url":"portalUrl","valueUrl":"https://my.harbor.example"},
   {"url":"portalDescription","valueMarkdown":"For\npatients"},
   {"url":"portalLogo","valueUrl":"https://my.harbor.example/logo.png"},
   {"url":"portalEndpoint","valueReference":{"reference":"Endpoint/harbor"}}]}]}`
)

func harborServer() listing.Endpoint {
	return listing.Endpoint{Address: "https://fhir.harbor.example/r4", Name: "Harbor R4", FHIRVersion: "4.0.1"}
}

func myHarbor() []listing.Portal {
	return []listing.Portal{{
		Name: "MyHarbor", Website: "https://my.harbor.example", LogoURI: "https://my.harbor.example/logo.png",
		Description: "For patients",
		Endpoints:   []listing.Endpoint{harborServer()},
	}}
}

func TestReadBrandsReadsAllSMARTFields(t *testing.T) {
	t.Parallel()
	want := []listing.Listing{{
		Key: "harbor-health", Name: "Harbor Health", Aliases: []string{"Harbour"}, NPIs: []string{"1234567893"},
		Identifiers: []listing.Identifier{
			{System: "urn:ietf:rfc:3986", Value: "https://harbor.example"},
			{System: "urn:oid:2.999.1", Value: "77"},
		},
		Website: "https://harbor.example/patients", LogoURI: "https://harbor.example/logo.svg",
		LogoLicense: "https://harbor.example/logo-terms",
		Category:    "clinical", Locations: []record.Location{
			{City: "Portvale", State: "OR", PostalCode: "97999"},
			{PostalCode: "97998"},
		}, Portals: myHarbor(),
	}}
	for name, list := range map[string]string{
		"the endpoint after it":  bundle(harborBrand, harborR4),
		"the endpoint before it": bundle(harborR4, harborBrand),
	} {
		found, report := mustRead(t, listing.Brands, list)
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got := problems(report); got != "bad_number 1 false harbor-health" {
			t.Errorf("%s: %s", name, got)
		}
		if report.Timestamp.Format("2006-01-02T15:04:05Z") != "2026-03-04T04:06:07Z" || len(report.OwnLists) != 1 ||
			report.OwnLists[0].URL != "https://harbor.example/brands.json" {
			t.Errorf("%s: %+v", name, report)
		}
	}
}

func TestReadBrandsInheritsPortalOfParent(t *testing.T) {
	t.Parallel()
	clinic := `{"resourceType":"Organization","id":"clinic","name":"Harbor Clinic",` +
		`"partOf":{"reference":"Organization/ward"}}`
	ward := `{"resourceType":"Organization","id":"ward","name":"Harbor Ward",` +
		`"partOf":{"reference":"Organization/harbor-health"}}`
	found, _ := mustRead(t, listing.Brands, bundle(clinic, ward, harborBrand, harborR4))
	for i, want := range []string{"ward", "harbor-health", ""} {
		if found[i].PartOf != want || !cmp.Equal(found[i].Portals, myHarbor()) {
			t.Errorf("%s is part of %q and has %+v", found[i].Key, found[i].PartOf, found[i].Portals)
		}
	}
}

func TestReadBundleReportsBadEntriesAndKeepsOthers(t *testing.T) {
	t.Parallel()
	reaching := func(id, more string) string {
		return `{"resourceType":"Organization","id":"` + id + `","name":"` + id +
			`","endpoint":[{"reference":"Endpoint/harbor"}]` + more + `}`
	}
	server := func(id, address string) string {
		return `{"resourceType":"Endpoint","id":"` + id + `","address":"` + address + `"}`
	}
	for name, c := range map[string]struct {
		entry  string
		format listing.Format
		want   string // expected problem
		names  string // names of all listings except Harbor Health
	}{
		"part of itself": {
			reaching("a", `,"partOf":{"reference":"Organization/a"}`), listing.Brands,
			"circle 1 false a", "a",
		},
		"part of its own part": {reaching("a", `,"partOf":{"reference":"Organization/b"}`) + `},{"resource":` +
			reaching("b", `,"partOf":{"reference":"Organization/a"}`), listing.Brands, "circle 2 false a|b", "a b"},
		"part of nothing there": {
			reaching("a", `,"partOf":{"reference":"Organization/x"}`), listing.Brands,
			"no_such 1 false a", "a",
		},
		"an endpoint that is not there": {reaching("a",
			`,"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/organization-portal",`+
				`"extension":[{"url":"portalEndpoint","valueReference":{"reference":"Endpoint/x"}}]}]`,
		), listing.Brands, "no_such 1 false a", "a"},
		"no endpoint at all": {
			`{"resourceType":"Organization","id":"a","name":"A"}`, listing.Brands,
			"no_endpoint 1 true a", "",
		},
		"one known not to be there": {`{"resourceType":"Organization","id":"a","name":"A",
			"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/organization-portal","extension":[
			{"url":"portalEndpoint","valueReference":{"extension":[
			{"url":"http://hl7.org/fhir/StructureDefinition/data-absent-reason",
			"valueCode":"asked-declined"}]}}]}]}`, listing.Brands, "", "A"},
		"a website known not to be there": {reaching("a",
			`,"telecom":[{"system":"url","_value":{"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/`+
				`data-absent-reason","valueCode":"asked-unknown"}]}}]`), listing.Brands, "", "a"},
		"an id twice": {
			reaching("a", "") + `},{"resource":` + reaching("a", ""), listing.Brands,
			"duplicate_key 1 true a", "a",
		},
		"an endpoint's id twice": {
			server("harbor", "https://other.example/r4"), listing.Brands,
			"duplicate_key 1 true harbor", "",
		},
		"a member twice": {
			`{"resourceType":"Organization","id":"a","name":"A","name":"B"}`, listing.Brands,
			"two_values 1 true entry 3", "",
		},
		"no name": {
			`{"resourceType":"Organization","id":"a","name":" \t"}`, listing.Brands,
			"no_name 1 true a", "",
		},
		"a name of 1 MB": {`{"resourceType":"Organization","id":"a","name":"` +
			strings.Repeat("a", 900_000) + `"}`, listing.Brands, "too_long 1 false a\nno_name 1 true a", ""},
		"an entry of 2 MB": {`{"resourceType":"Organization","id":"a","name":"` + strings.Repeat("a", 2<<20) +
			`"}`, listing.Brands, "too_large 1 true entry 3", ""},
		"nested too deep": {
			strings.Repeat(`{"contained":[`, 5000) + strings.Repeat(`]}`, 5000),
			listing.Brands, "too_deep 1 true entry 3", "",
		},
		"no UTF-8": {
			"{\"resourceType\":\"Organization\",\"id\":\"a\",\"name\":\"Cl\xednica\"}",
			listing.Brands, "bad_text 1 true entry 3", "",
		},
		"control characters": {
			reaching("a", `,"alias":["b\u0000c\u202ed"]`), listing.Brands,
			"bad_text 1 false a", "a",
		},
		"an array for a name": {
			`{"resourceType":"Organization","id":"a","name":["A"]}`, listing.Brands,
			"bad_type 1 false a\nno_name 1 true a", "",
		},
		"a broken entry": {
			`{"resourceType":"Organization","id":a}`, listing.Brands,
			"not_format 1 true entry 3", "",
		},
		"an entry that is a number": {`1`, listing.Brands, "bad_type 1 false entry 3\nnot_format 1 true entry 3", ""},
		"an address with a password": {
			server("a", "https://u:p@a.example/r4"), listing.Brands,
			"bad_address 1 true a", "",
		},
		"an address that is a program": {server("a", "javascript:alert(1)"), listing.Brands, "bad_address 1 true a", ""},
		"a website that is a program": {
			reaching("a", `,"telecom":[{"system":"url","value":"javascript:alert(1)"}]`),
			listing.Brands, "bad_link 1 false a", "a",
		},
		"a picture in the list itself": {reaching("a",
			`,"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/organization-brand",`+
				`"extension":[{"url":"brandLogo","valueUrl":"data:image/png;base64,AA"}]}]`), listing.Brands, "", "a"},
		"a brand's endpoint of nobody": {server("a", "https://a.example/r4"), listing.Brands, "no_name 1 true a", ""},
		"a direct address": {`{"resourceType":"Endpoint","id":"a","name":"A","address":"https://a.example",` +
			`"connectionType":{"code":"direct-project"}}`, listing.Endpoints, "not_rest 1 true a", ""},
		"a closed institution":     {reaching("a", `,"active":false`), listing.Brands, "", ""},
		"another kind of resource": {`{"resourceType":"Location","id":"a"}`, listing.Brands, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sound := strings.Replace(harborBrand, `{"system":"http://hl7.org/fhir/sid/us-npi","value":"12"},`, "", 1)
			found, report := mustRead(t, c.format, bundle(harborR4, sound, c.entry))
			names := make([]string, 0, len(found))
			for _, l := range found[1:] {
				names = append(names, l.Name)
			}
			if got := problems(report); got != c.want || found[0].Name != "Harbor Health" ||
				strings.Join(names, " ") != c.names {
				t.Errorf("got %q and %q", got, names)
			}
		})
	}
}

func TestReadBundleResolvesAllReferenceForms(t *testing.T) {
	t.Parallel()
	list := func(fullURL, reference string) string {
		return `{"resourceType":"Bundle","entry":[{"fullUrl":"https://ehr.example/fhir/Organization/a",` +
			`"resource":{"resourceType":"Organization","id":"a","name":"A","endpoint":[{"reference":"` +
			reference + `"}]}},{"fullUrl":"` + fullURL +
			`","resource":{"resourceType":"Endpoint","id":"e","address":"https://right.example/r4"}},
			{"fullUrl":"https://other.example/fhir/Endpoint/f",
				"resource":{"resourceType":"Endpoint","id":"f","address":"https://wrong.example/r4"}}]}`
	}
	for name, c := range map[string][2]string{
		"relative": {"https://ehr.example/fhir/Endpoint/e", "Endpoint/e"},
		"absolute": {"https://ehr.example/fhir/Endpoint/e", "https://ehr.example/fhir/Endpoint/e"},
		"urn": {
			"urn:uuid:2f5c0a52-8c4e-4f7b-9d11-0e6c1b2a3d4e",
			"urn:uuid:2f5c0a52-8c4e-4f7b-9d11-0e6c1b2a3d4e",
		},
		"without full URL": {"", "https://ehr.example/fhir/Endpoint/e"},
	} {
		found, _ := mustRead(t, listing.Brands, list(c[0], c[1]))
		if len(found) != 1 || len(found[0].Portals) != 1 ||
			found[0].Portals[0].Endpoints[0].Address != "https://right.example/r4" {
			t.Errorf("%s: %+v", name, found)
		}
	}
	twins := `{"resourceType":"Bundle","entry":[{"fullUrl":"https://one.example/Organization/1",
		"resource":{"resourceType":"Organization","id":"1","name":"One","endpoint":[{"reference":"Endpoint/1"}]}},
		{"fullUrl":"https://two.example/Organization/1",
			"resource":{"resourceType":"Organization","id":"1","name":"Two","endpoint":[{"reference":"Endpoint/1"}]}},
		{"fullUrl":"https://one.example/Endpoint/1",
			"resource":{"resourceType":"Endpoint","id":"1","address":"https://fhir.one.example"}},
		{"fullUrl":"https://two.example/Endpoint/1",
			"resource":{"resourceType":"Endpoint","id":"1","address":"https://fhir.two.example"}}]}`
	found, _ := mustRead(t, listing.Brands, twins)
	for _, l := range found {
		if l.Portals[0].Endpoints[0].Address != "https://fhir."+strings.ToLower(l.Name)+".example" {
			t.Errorf("%s of two servers' ids has the server %s", l.Name, l.Portals[0].Endpoints[0].Address)
		}
	}
	if len(found) != 2 || found[0].Key == found[1].Key {
		t.Errorf("ids of two servers became one: %+v", found)
	}
}

func TestReadEndpointsAcceptsBundleWithoutOrganizations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		list string
		want []string // expected key, name and URL, and whether the endpoint is off
	}{
		"contained": {bundle(
			`{"resourceType":"Endpoint","id":"e1","status":"active","name":"R4 of A","address":"https://a.example/r4",
			"managingOrganization":{"reference":"#o"},
			"contained":[{"resourceType":"Organization","id":"o","name":"Hospital A"}]}`,
		), []string{"e1, Hospital A, https://a.example/r4, false"}},
		"displayed": {
			bundle(
				`{"resourceType":"Endpoint","id":"e1","status":"off","name":"R4 of A","address":"https://a.example/r4",` +
					`"managingOrganization":{"display":"Hospital A"}}`),
			[]string{"e1, Hospital A, https://a.example/r4, true"},
		},
		"only named": {
			bundle(`{"resourceType":"Endpoint","name":"Hospital A","address":"https://a.example/r4"}`),
			[]string{"entry 1, Hospital A, https://a.example/r4, false"},
		},
		"an organization that refers": {bundle(
			`{"resourceType":"Organization","id":"o","name":"Hospital A","endpoint":[{"reference":"Endpoint/e1"}]}`,
			`{"resourceType":"Endpoint","id":"e1","name":"x","address":"https://a.example/r4",`+
				`"managingOrganization":{"reference":"Organization/o"}}`), []string{"o, Hospital A, https://a.example/r4, false"}},
		"an organization that is referred to": {
			bundle(
				`{"resourceType":"Endpoint","id":"e1","address":"https://a.example/r4",`+
					`"managingOrganization":{"reference":"Organization/o"}}`,
				`{"resourceType":"Organization","id":"o","name":"Hospital A"}`),
			[]string{"o, Hospital A, https://a.example/r4, false"},
		},
		"some of each": {
			bundle(`{"resourceType":"Organization","id":"o","name":"Hospital A","endpoint":[{"reference":"Endpoint/e1"}]}`,
				`{"resourceType":"Endpoint","id":"e1","address":"https://a.example/r4"}`,
				`{"resourceType":"Endpoint","id":"e2","name":"Hospital B","address":"https://b.example/r4"}`),
			[]string{"o, Hospital A, https://a.example/r4, false", "e2, Hospital B, https://b.example/r4, false"},
		},
	} {
		found, report := mustRead(t, listing.Endpoints, c.list)
		var got []string
		for _, l := range found {
			for _, e := range l.Portals[0].Endpoints {
				got = append(got, fmt.Sprintf("%s, %s, %s, %t", l.Key, l.Name, e.Address, e.Off))
			}
		}
		if !cmp.Equal(got, c.want) || len(report.Problems) > 0 {
			t.Errorf("%s: %q, %s", name, got, problems(report))
		}
	}
}

func TestReadRejectsUnusableLists(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]listing.Reason{
		"": listing.Empty, "  \n": listing.Empty, "<!DOCTYPE html><p>Down": listing.IsPage, "\n<HTML>": listing.IsPage,
		"[]": listing.NotFormat, "7": listing.NotFormat,
		`{"resourceType":"Bundle","entry":[]}`:                            listing.Empty,
		`{"resourceType":"Bundle","entry":[{"resource":{"resourceType":"`: listing.Cut,
		`{"resourceType":"Bundle","entry":[{}`:                            listing.Cut,
		`{"resourceType":"OperationOutcome"}`:                             listing.NotFormat,
		`{"resourceType":"Bundle","entry":[{}],"entry":[{}]}`:             listing.TwoValues,
		`{"resourceType":"Bundle","entry":[{}]} tail`:                     listing.NotFormat,
		`{"resourceType":"Bundle" "entry":[{}]}`:                          listing.NotFormat,
		"\x1f\x8bnot gzip":                                                listing.NotFormat,
	} {
		_, _, err := read(t, listing.Brands, list)
		if failure, ok := errors.AsType[*listing.Refused](err); !ok || failure.Reason != want {
			t.Errorf("%q: %v, want %s", list, err, want)
		}
	}
}
