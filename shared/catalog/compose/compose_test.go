package compose_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/manage/operator"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// shared is the base URL of a server shared by many institutions.
const shared = "https://api.ehr.example/fhir/r4"

func at(name, address string, places ...record.Location) listing.Listing {
	return listing.Listing{
		Key: name + address + fmt.Sprint(places), Name: name, Locations: places,
		Portals: []listing.Portal{{Endpoints: []listing.Endpoint{{Address: address}}}},
	}
}

func zip(code string) record.Location { return record.Location{PostalCode: code} }

func list(source string, listings ...listing.Listing) compose.List {
	return compose.List{Source: source, Listings: listings}
}

// crowd returns institutions with different names at the shared server, so that compose doesn't treat it as a single
// institution's server.
func crowd() compose.List {
	const names = 9 // more names than a single institution's server can have
	others := make([]listing.Listing, 0, names)
	for i := range names {
		others = append(others, at(fmt.Sprintf("Marrow%c Clinic", 'a'+i), shared))
	}
	return list("crowd", others...)
}

func input(lists ...compose.List) compose.Input {
	return compose.Input{Mode: "live", Lists: lists, Now: noon}
}

// letting adds an operator's permission for every brand to have servers at all hosts in the lists.
func letting(in compose.Input) compose.Input {
	for _, l := range in.Lists {
		for _, of := range l.Listings {
			for _, p := range of.Portals {
				for _, e := range p.Endpoints {
					in.Overrides = append(in.Overrides, compose.Override{
						Kind: compose.Portal, ID: compose.EveryBrand,
						Value: catalog.Host(e.Address),
					})
				}
			}
		}
	}
	return in
}

// made composes a catalogue and checks the invariants that apply to every catalogue.
func made(t *testing.T, in compose.Input) (record.Catalog, compose.Report) {
	t.Helper()
	c, report := compose.Compose(in)
	check(t, c)
	return c, report
}

// failing is implemented by *testing.T and *rapid.T.
type failing interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// check reports missing portals and endpoints, and merged IDs that don't point directly to a brand.
func check(tb failing, c record.Catalog) {
	tb.Helper()
	for id, b := range c.Brands {
		for _, p := range b.PortalIDs {
			if _, ok := c.Portals[p]; !ok {
				tb.Errorf("brand %s has portal %s, which is not there", b.Name, p)
			}
		}
		for _, merged := range b.BrandIDs {
			if c.Successors[merged] != id {
				tb.Errorf("%s was merged into %s, and leads to %q", merged, id, c.Successors[merged])
			}
		}
	}
	for _, p := range c.Portals {
		for _, e := range p.EndpointIDs {
			if _, ok := c.Endpoints[e]; !ok {
				tb.Errorf("portal %s has endpoint %s, which is not there", p.Name, e)
			}
		}
	}
	for id, into := range c.Successors {
		_, isRecord := c.Brands[id]
		_, leads := c.Brands[into]
		if _, further := c.Successors[into]; further || isRecord || !leads {
			tb.Errorf("%s leads to %s (further: %v, a record itself: %v, to a record: %v)", id, into, further, isRecord, leads)
		}
	}
}

// named returns the brands with the given name, ordered by ID. It omits tombstones.
func named(c record.Catalog, name string) []record.Brand {
	var found []record.Brand
	for _, b := range c.Brands {
		if b.Name == name && b.RemovedAt == nil {
			found = append(found, b)
		}
	}
	slices.SortFunc(found, func(a, b record.Brand) int { return cmpText(a.ID, b.ID) })
	return found
}

func cmpText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func only(t *testing.T, c record.Catalog, name string) record.Brand {
	t.Helper()
	found := named(c, name)
	if len(found) != 1 {
		t.Fatalf("%d brands are named %s", len(found), name)
	}
	return found[0]
}

func endpointsOf(c record.Catalog, b record.Brand) []record.Endpoint {
	var all []record.Endpoint
	for _, p := range b.PortalIDs {
		for _, e := range c.Portals[p].EndpointIDs {
			all = append(all, c.Endpoints[e])
		}
	}
	return all
}

func TestComposeDropsDSTU2EndpointWhenServerHasR4(t *testing.T) {
	t.Parallel()
	c, report := made(t, input(
		list("one", at("St. Odo Hospital", "https://fhir.odo.example/arr/api/FHIR/DSTU2/"),
			at("Crane Clinic", "https://old.crane.example/fhir/dstu2")),
		list("two", at("Saint Odo Hosp", "https://FHIR.odo.example:443/arr//api/FHIR/R4/"),
			at("Lone Vela Clinic", "http://fhir.vela.example/r4")),
	))
	odo := only(t, c, "Saint Odo Hosp")
	all := endpointsOf(c, odo)
	if len(c.Brands) != 3 || len(odo.PortalIDs) != 1 || len(all) != 1 || all[0].Status != record.Active ||
		all[0].FHIRVersion != "4.0.1" {
		t.Errorf("%d brands; St. Odo has %+v", len(c.Brands), all)
	}
	if want, _ := operator.EndpointID("live", "https://fhir.odo.example/arr/api/FHIR/R4"); all[0].ID != want ||
		all[0].FHIRBase != "https://fhir.odo.example/arr/api/FHIR/R4" {
		t.Errorf("its endpoint is %s at %s, want %s", all[0].ID, all[0].FHIRBase, want)
	}
	if diff := cmp.Diff([]string{"St. Odo Hospital"}, odo.Aliases); diff != "" {
		t.Errorf("aliases (-want +got):\n%s", diff)
	}
	for name, release := range map[string]string{"Crane Clinic": "1.0.2", "Lone Vela Clinic": "4.0.1"} {
		if all := endpointsOf(c, only(t, c, name)); len(all) != 1 || all[0].Status != record.Suspended ||
			all[0].FHIRVersion != release {
			t.Errorf("%s has %+v", name, all)
		}
	}
	if report.Dropped["old"].Count != 1 || report.Joined[compose.RuleNameTenant] != 1 || report.Suspended != 2 ||
		report.Duplicates != 1 || report.Extra != 1 {
		t.Errorf("report %+v", report)
	}
}

func TestComposeDeactivatesNonPublicServers(t *testing.T) {
	t.Parallel()
	for address, live := range map[string]string{
		"https://fhir.odo.example/r4": record.Active, "http://fhir.odo.example/r4": record.Suspended,
		"https://10.0.0.7/fhir": record.Suspended, "https://odo/fhir": record.Suspended,
		"https://fhir.odo.local/r4": record.Suspended, "https://fhir.odo.example/stu3": record.Suspended, "api/odo/R4": "",
		"https://fhir.odo.example/r4?site=7": "",
		"https://key@fhir.odo.example/r4":    "", "javascript:alert(7)": "", "": "",
	} {
		in := input(list("one", at("Odo Clinic", address)))
		c, report := made(t, in)
		all := endpointsOf(c, only(t, c, "Odo Clinic"))
		if live == "" && (len(all) != 0 || report.Dropped["address"].Count != 1) || live != "" &&
			(len(all) != 1 || all[0].Status != live) {
			t.Errorf("%q: %+v", address, all)
		}
		in.Mode = "test"
		if c, _ = made(t, in); live == record.Suspended && address != "https://fhir.odo.example/stu3" &&
			endpointsOf(c, only(t, c, "Odo Clinic"))[0].Status != record.Active {
			t.Errorf("%q is not active in test mode", address)
		}
	}
}

func TestComposeDoesNotMergeSameNameInDifferentPlaces(t *testing.T) {
	t.Parallel()
	c, _ := made(t, input(crowd(),
		list("one", at("Family Medical Center", "https://one.ehr.example/t/4711", zip("02134")),
			at("Family Medical Center", "https://one.ehr.example/t/4712", zip("10001"))),
		list("two", at("TX - Family Medical Center", shared), at("FL - Family Medical Center", shared),
			at("Family Medical Center", shared)),
		list("far", at("Harrow Eye Care", "https://api2.ehr.example/OKDIAB", zip("75201")),
			at("Harrow Eye Care", "https://api3.ehr.example/OKDIAB", zip("79901"))),
		list("six", at("Harrow Vein Care", "https://api2.ehr.example/a/88127", zip("02134")),
			at("Harrow Vein Care", "https://api3.ehr.example/a/99127", zip("10001"))),
	))
	// Want one brand for each place, and one brand whose place is unknown.
	if found := named(c, "Family Medical Center"); len(found) != 5 {
		t.Errorf("%d are named Family Medical Center: %+v", len(found), found)
	}
	for _, name := range []string{"Harrow Vein Care", "Harrow Eye Care"} {
		if found := named(c, name); len(found) != 2 {
			t.Errorf("%d are named %s", len(found), name)
		}
	}
	portals := map[string]bool{}
	for _, b := range named(c, "Family Medical Center") {
		for _, p := range b.PortalIDs {
			portals[c.Portals[p].Name] = true
		}
	}
	if len(portals) != 2 || !portals["Patient portal"] || portals[""] { // endpoints at shared and separate servers
		t.Errorf("portals %v", portals)
	}
}

// TestComposeDoesNotMergeListingWithVagueLocation checks that a listing with a vague location is merged neither into a
// brand with a common name nor into one of two candidates.
func TestComposeDoesNotMergeListingWithVagueLocation(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		brand    string
		listings []listing.Listing
	}{
		"a common name in one state": {"Family Medical Center", []listing.Listing{
			at("MA - Family Medical Center", shared), at("Family Medical Center", "https://b.example/r4", zip("02134")),
		}},
		"a common name at one server": {
			"Family Medical Center",
			[]listing.Listing{at("Family Medical Center", shared), at("MA - Family Medical Center", shared)},
		},
		"a rare name of two places": {"Zorvath Vein Clinic", []listing.Listing{
			at("MA - Zorvath Vein Clinic", shared), at("Zorvath Vein Clinic", "https://b.example/r4", zip("02134")),
			at("Zorvath Vein Clinic", "https://c.example/r4", zip("01001")),
		}},
		"a rare name without a place at two servers": {
			"Zorvath Vein Clinic",
			[]listing.Listing{
				at("Zorvath Vein Clinic", "https://b.example/r4"),
				at("Zorvath Vein Clinic", "https://c.example/r4"),
			},
		},
	} {
		c, _ := made(t, input(crowd(), list("one", test.listings...)))
		if found := named(c, test.brand); len(found) != len(test.listings) {
			t.Errorf("%s: %d brands of %d listings", name, len(found), len(test.listings))
		}
	}
}

func TestComposeJoinsInstitutionAcrossLists(t *testing.T) {
	t.Parallel()
	id := []listing.Identifier{{System: "urn:ietf:rfc:3986", Value: "https://odo.example"}}
	withID := func(l listing.Listing) listing.Listing { l.Identifiers = id; return l }
	withNPI := func(l listing.Listing, npi string) listing.Listing { l.NPIs = []string{npi}; return l }
	for name, test := range map[string]struct {
		lists []compose.List
		rule  compose.Rule
	}{
		"by an identifier": {[]compose.List{
			list("one", withID(at("Odo Health", "https://a.example/r4", zip("02134")))),
			list("two", withID(at("Odo Health North", "https://b.example/r4", zip("10001")))),
		}, compose.RuleIdentifier},
		"by its NPI": {[]compose.List{
			list("one", withNPI(at("Odo Health", "https://a.example/r4"), "1234567893")),
			list("two", withNPI(at("Odo Medical Center", "https://b.example/r4"), "1234567893")),
		}, compose.RuleNPI},
		"by name and ZIP code": {[]compose.List{
			list("one", at("ODO MED. CTR, LLC", "https://a.example/r4", zip("02134"))),
			list("two", at("Odo Medical Center", "https://b.example/r4", zip("02134-1234"))),
		}, compose.RuleNameZIP},
		"by name and a customer's number": {[]compose.List{
			list("one", at("Odo Clinic", "https://api.one.example/fhir/r4/v1/OKDIAB")),
			list("two", at("The Odo Clinic", "https://api.two.example/r4/OKDIAB")),
		}, compose.RuleNameTenant},
		"by a customer's number, near each other": {[]compose.List{
			list("one", at("Family Clinic", "https://api.one.example/fhir/r4/OKDIAB", zip("02134"))),
			list("two", at("Family Clinic", "https://api.two.example/r4/OKDIAB", zip("01801"))),
		}, compose.RuleNameTenant},
		"at a server that many share": {[]compose.List{
			crowd(), list("one", at("Zorvath Clinic", shared)), list("two", at("Zorvath Clinic", shared, zip("02134"))),
		}, compose.RuleNameServer},
		"by a rare name and its state": {[]compose.List{
			crowd(), list("one", at("MA - Zorvath Vein Clinic", shared)),
			list("two", at("Zorvath Vein Clinic", "https://b.example/r4", zip("02134"))),
		}, compose.RuleNameState},
	} {
		c, report := made(t, letting(input(test.lists...)))
		wanted := 1
		for _, l := range test.lists {
			if l.Source == "crowd" {
				wanted += len(l.Listings)
			}
		}
		if len(c.Brands) != wanted || report.Joined[test.rule] != 1 || len(report.Joined) != 1 {
			t.Errorf("%s: %d brands, want %d; joined %v", name, len(c.Brands), wanted, report.Joined)
		}
	}
}

func TestComposeIgnoresNPISharedByDifferentNames(t *testing.T) {
	t.Parallel()
	of := func(name, address string) listing.Listing {
		l := at(name, address)
		l.NPIs = []string{"1234567893"}
		return l
	}
	c, _ := made(t, input(list("one", of("Odo North", "https://a.example/r4"), of("Odo South", "https://b.example/r4")),
		list("two", of("Odo Health", "https://c.example/r4"))))
	if len(c.Brands) != 3 {
		t.Errorf("%d brands", len(c.Brands))
	}
}

func TestComposePrefersBetterSource(t *testing.T) {
	t.Parallel()
	vendor := at("ODO HOSPITAL", "https://fhir.odo.example/r4", zip("02134"))
	vendor.Website, vendor.Description, vendor.Aliases = "https://vendor.example/odo", "as the vendor says",
		[]string{"Odo General"}
	own := at("Odo Hospital", "https://fhir.odo.example/r4", record.Location{City: "Boston", PostalCode: "02134"},
		zip("02139"))
	own.Website, own.LogoURI, own.LogoLicense, own.Aliases = "https://odo.example", "https://odo.example/logo.svg",
		"https://odo.example/licence", []string{"Old Odo"}
	own.Portals[0].Name, own.Portals[0].Endpoints[0].Platform = "MyOdo", "Epic"
	lists := []compose.List{
		{Source: "vendor", Platform: "cerner", Listings: []listing.Listing{vendor}},
		{Source: "zz-own", Priority: 7, Listings: []listing.Listing{own}},
	}
	in := input(lists...)
	in.Overrides = []compose.Override{{Kind: compose.Serves, ID: "fhir.odo.example", Value: "epic"}}
	c, report := made(t, in)
	b := only(t, c, "Odo Hospital")
	want := record.Brand{
		ID: b.ID, LastUpdated: noon, Name: "Odo Hospital", BrandWebsite: "https://odo.example",
		LogoURI: "https://odo.example/logo.svg", LogoLicense: "https://odo.example/licence",
		Aliases: []string{"Odo General", "Old Odo"}, Description: "as the vendor says", PortalIDs: b.PortalIDs,
		BrandIDs: []string{}, NPIs: []string{}, SortName: "odo hospital", PlatformType: "epic",
		Locations: []record.Location{
			{State: "MA", PostalCode: "02139", Country: "US"},
			{City: "Boston", State: "MA", PostalCode: "02134", Country: "US"},
		},
	}
	if diff := cmp.Diff(want, b); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	e := endpointsOf(c, b)[0]
	if p := c.Portals[b.PortalIDs[0]]; p.Name != "MyOdo" || e.PlatformType != "epic" ||
		report.Conflicts["platform"].Count != 1 {
		t.Errorf("portal %+v, endpoint %+v, conflicts %v", p, e, report.Conflicts)
	}
}

func bytesOf(tb failing, c record.Catalog) string {
	tb.Helper()
	bases := map[string]string{}
	for id, e := range c.Endpoints {
		bases[id] = e.FHIRBase
	}
	written, err := json.Marshal([]any{c, bases})
	if err != nil {
		tb.Fatal(err)
	}
	return string(written)
}
