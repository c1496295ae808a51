package compose_test

import (
	"slices"
	"strings"
	"testing"

	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/record"
)

const (
	evil        = "https://zz.evil.example/r4"
	hospitalNPI = "1234567893"
	hospitalURL = "https://fhir.hospital.example/r4"
)

func hospitalList() compose.List {
	l := at("Odo Hospital", hospitalURL, zip("02134"))
	l.Key, l.NPIs = "hospital", []string{hospitalNPI}
	l.Portals[0].Key = "my-odo"
	return compose.List{Source: "vendor", Priority: 70, Listings: []listing.Listing{l}}
}

// hostile returns a list of priority 0 with one institution on the attacker's server.
func hostile(change func(*listing.Listing)) compose.List {
	l := at("Evil Clinic", evil)
	l.Key = "evil"
	change(&l)
	return compose.List{Source: "hostile", Listings: []listing.Listing{l}}
}

func reached(c record.Catalog, brand string) []string {
	b := c.Brands[c.Resolve(brand)]
	var bases []string
	for _, p := range b.PortalIDs {
		if b.Gone() || c.Portals[p].Gone() {
			continue
		}
		for _, e := range c.Portals[p].EndpointIDs {
			if found := c.Endpoints[e]; !found.Gone() {
				bases = append(bases, found.FHIRBase)
			}
		}
	}
	slices.Sort(bases)
	return slices.Compact(bases)
}

// joinings returns every method by which a list's row can try to join the hospital.
func joinings(hospital record.Brand, endpoint record.Endpoint) map[string]func(*listing.Listing) {
	return map[string]func(*listing.Listing){
		"by its NPI":          func(l *listing.Listing) { l.NPIs = []string{hospitalNPI} },
		"by its NPI and name": func(l *listing.Listing) { l.Name, l.NPIs = "Odo Hospital", []string{hospitalNPI} },
		"by its name and ZIP": func(l *listing.Listing) {
			l.Name, l.Locations = "Odo Hospital",
				[]record.Location{zip("02134")}
		},
		"by its portal's key":     func(l *listing.Listing) { l.Portals[0].Key = "my-odo" },
		"by its portal's id":      func(l *listing.Listing) { l.Portals[0].ID = hospital.PortalIDs[0] },
		"by its brand's id":       func(l *listing.Listing) { l.ID = hospital.ID },
		"by its endpoint's id":    func(l *listing.Listing) { l.Portals[0].Endpoints[0].ID = endpoint.ID },
		"by merging it":           func(l *listing.Listing) { l.Merged = []string{hospital.ID} },
		"with its server as well": func(l *listing.Listing) { withServer(l, hospitalURL); l.NPIs = []string{hospitalNPI} },
	}
}

func withServer(l *listing.Listing, address string) {
	l.Portals[0].Endpoints = append(l.Portals[0].Endpoints, listing.Endpoint{Address: address})
}

func TestComposeRejectsUnknownHostForHospital(t *testing.T) {
	t.Parallel()
	honest, _ := made(t, input(hospitalList()))
	hospital := only(t, honest, "Odo Hospital")
	for name, change := range joinings(hospital, endpointsOf(honest, hospital)[0]) {
		for when, before := range map[string]record.Catalog{"published": honest, "new": {}} {
			for order, lists := range map[string][]compose.List{
				"last": {hospitalList(), hostile(change)}, "first": {hostile(change), hospitalList()},
			} {
				c, _ := next(t, before, lists...)
				if got := reached(c, hospital.ID); !slices.Equal(got, []string{hospitalURL}) {
					t.Errorf("%s, hospital %s, hostile list %s: patients of the hospital reach %v", name, when, order, got)
				}
				if got := c.Endpoints[endpointsOf(honest, hospital)[0].ID]; got.FHIRBase != hospitalURL ||
					got.Status != record.Active {
					t.Errorf("%s, hospital %s: its endpoint is %+v", name, when, got)
				}
			}
		}
	}
}

// TestComposeKeepsPublishedHospitalWhenRowChanges covers edits to published rows of the hospital and of the attacker.
func TestComposeKeepsPublishedHospitalWhenRowChanges(t *testing.T) {
	t.Parallel()
	edited, added := hospitalList(), hospitalList()
	edited.Listings[0].Portals[0].Endpoints[0].Address = evil
	withServer(&added.Listings[0], evil)
	plain := hostile(func(*listing.Listing) {})
	npi := func(l *listing.Listing) { l.NPIs = []string{hospitalNPI} }
	for name, c := range map[string]struct{ before, after []compose.List }{
		"its row names another host":  {[]compose.List{hospitalList()}, []compose.List{edited}},
		"its row names one host more": {[]compose.List{hospitalList()}, []compose.List{added}},
		"a published row takes its NPI": {
			[]compose.List{hospitalList(), plain},
			[]compose.List{hospitalList(), hostile(npi)},
		},
		"a published row merges it": {
			[]compose.List{hospitalList(), plain},
			[]compose.List{hospitalList(), hostile(func(l *listing.Listing) { l.Merged = []string{"hospital"} })},
		},
		"a published row had its NPI before": {[]compose.List{hostile(npi)}, []compose.List{hostile(npi), hospitalList()}},
	} {
		before, _ := made(t, input(c.before...))
		for _, l := range c.after {
			for i, merged := range l.Listings[0].Merged {
				if merged == "hospital" {
					l.Listings[0].Merged[i] = only(t, before, "Odo Hospital").ID
				}
			}
		}
		after, _ := next(t, before, c.after...)
		for _, b := range after.Brands {
			got := reached(after, b.ID)
			if slices.Contains(got, evil) && (len(got) > 1 || strings.Contains(b.Name, "Odo")) {
				t.Errorf("%s: patients of %s reach %v", name, b.Name, got)
			}
		}
		for id, b := range before.Brands {
			if now := after.Brands[after.Resolve(id)]; now.Gone() || !slices.Equal(reached(before, id), reached(after, id)) {
				t.Errorf("%s: %s reached %v and reaches %v", name, b.Name, reached(before, id), reached(after, id))
			}
		}
	}
}

// TestComposeIgnoresIDChosenByLowerPriorityList covers a row in a lower-priority list that joins the hospital and
// chooses an ID for it.
func TestComposeIgnoresIDChosenByLowerPriorityList(t *testing.T) {
	t.Parallel()
	chosen := hostile(func(l *listing.Listing) { l.ID = nobody })
	joined := hostile(func(l *listing.Listing) {
		l.ID, l.NPIs = nobody, []string{hospitalNPI}
		withServer(l, hospitalURL)
	})
	before, _ := made(t, input(hospitalList(), chosen))
	hospital := only(t, before, "Odo Hospital")
	for name, was := range map[string]record.Catalog{"both published": before, "nothing published": {}} {
		after, _ := next(t, was, hospitalList(), joined)
		if got := only(t, after, "Odo Hospital"); got.ID != hospital.ID ||
			!slices.Equal(reached(after, got.ID), []string{hospitalURL}) {
			t.Errorf("%s: the hospital is %s, not %s, and reaches %v", name, got.ID, hospital.ID, reached(after, got.ID))
		}
	}
}

// TestComposeRejectsOlderBrandsHostWhenItJoinsHospital covers a row that was published on its own host and the
// hospital's, and that later adopts the hospital's NPI.
func TestComposeRejectsOlderBrandsHostWhenItJoinsHospital(t *testing.T) {
	t.Parallel()
	both := func(l *listing.Listing) { withServer(l, hospitalURL) }
	first, _ := made(t, input(hostile(both)))
	second, _ := next(t, first, hospitalList(), hostile(both))
	after, _ := next(t, second, hospitalList(), hostile(func(l *listing.Listing) {
		both(l)
		l.NPIs = []string{hospitalNPI}
	}))
	hospital := only(t, second, "Odo Hospital")
	if got := reached(after, hospital.ID); !slices.Equal(got, []string{hospitalURL}) {
		t.Errorf("patients of the hospital reach %v", got)
	}
	if got := only(t, after, "Odo Hospital"); got.ID != hospital.ID {
		t.Errorf("the hospital is %s, not %s", got.ID, hospital.ID)
	}
}

func TestComposeTrustsPlatformOnlyForKnownHost(t *testing.T) {
	t.Parallel()
	said := at("Said Clinic", evil)
	said.Portals[0].Endpoints[0].Platform = "epic"
	in := input(
		compose.List{
			Source: "list", Platform: "epic",
			Listings: []listing.Listing{
				at("Known Clinic", "https://fhir.epic.example/r4"),
				at("Unknown Clinic", "https://fhir.evil2.example/r4"),
			},
		},
		list("row", said),
	)
	in.Platform = knownHosts
	c, _ := made(t, in)
	for name, want := range map[string]string{
		"Known Clinic": "epic", "Unknown Clinic": compose.Generic,
		"Said Clinic": compose.Generic,
	} {
		b := only(t, c, name)
		if got := endpointsOf(c, b)[0].PlatformType; got != want || b.PlatformType != want {
			t.Errorf("%s is of platform %s (its brand of %s), want %s", name, got, b.PlatformType, want)
		}
	}
}

func knownHosts(base string) string {
	for host, platform := range map[string]string{
		"https://fhir.epic.example/":   "epic",
		"https://fhir.cerner.example/": "cerner",
	} {
		if strings.HasPrefix(base, host) {
			return platform
		}
	}
	return ""
}
