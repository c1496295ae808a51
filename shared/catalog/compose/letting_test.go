package compose_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/record"
)

func clinicList(source string, priority int, address string) compose.List {
	l := at("Odo Hospital", address)
	l.Key, l.NPIs = source, []string{hospitalNPI}
	return compose.List{Source: source, Priority: priority, Listings: []listing.Listing{l}}
}

func TestComposeReportsReasonForPendingHost(t *testing.T) {
	t.Parallel()
	const known, other = "https://fhir.epic.example/r4", "https://fhir.other.example/r4"
	for name, c := range map[string]struct {
		before, after []compose.List
		want          compose.Why
		reaches       []string
	}{
		"new host of the list itself": {
			[]compose.List{clinicList("a", 70, hospitalURL)},
			[]compose.List{clinicList("a", 70, other)},
			compose.NewHost,
			[]string{hospitalURL},
		},
		"known host of the list itself": {
			[]compose.List{clinicList("a", 70, hospitalURL)},
			[]compose.List{clinicList("a", 70, known)},
			"",
			[]string{known},
		},
		"new host of a better list": {
			[]compose.List{clinicList("a", 70, hospitalURL)},
			[]compose.List{clinicList("a", 70, hospitalURL), clinicList("b", 80, other)},
			compose.NewHost,
			[]string{hospitalURL},
		},
		"known host of an equal list": {
			[]compose.List{clinicList("a", 70, hospitalURL)},
			[]compose.List{clinicList("a", 70, hospitalURL), clinicList("b", 70, known)},
			"",
			[]string{known, hospitalURL},
		},
		"known host of a lesser list": {
			[]compose.List{clinicList("a", 70, hospitalURL)},
			[]compose.List{clinicList("a", 70, hospitalURL), clinicList("b", 10, known)},
			compose.LowerPriority,
			[]string{hospitalURL},
		},
		"the same host of a lesser list": {
			[]compose.List{clinicList("a", 70, hospitalURL)},
			[]compose.List{clinicList("a", 70, hospitalURL), clinicList("b", 10, hospitalURL+"/b")},
			"",
			[]string{hospitalURL, hospitalURL + "/b"},
		},
		"two equal lists, nothing published": {
			nil,
			[]compose.List{clinicList("a", 70, hospitalURL), clinicList("b", 70, other)},
			compose.Rivals, nil,
		},
		"two unequal, nothing published": {
			nil,
			[]compose.List{clinicList("a", 70, hospitalURL), clinicList("b", 10, other)},
			compose.LowerPriority,
			[]string{hospitalURL},
		},
		"a published one, a better known one": {
			[]compose.List{clinicList("a", 10, other)},
			[]compose.List{clinicList("a", 10, other), clinicList("b", 70, known)},
			compose.Apart, nil,
		},
	} {
		before := record.Catalog{}
		if len(c.before) > 0 {
			in := input(c.before...)
			in.Platform = knownHosts
			before, _ = made(t, in)
		}
		in := input(c.after...)
		in.Before, in.Now, in.Platform = before, noon.Add(time.Hour), knownHosts
		after, report := made(t, in)
		var why compose.Why
		if len(report.Waiting) > 0 {
			why = report.Waiting[0].Why
		}
		if why != c.want {
			t.Errorf("%s: waits because %q, want %q: %+v", name, why, c.want, report.Waiting)
		}
		for _, b := range named(after, "Odo Hospital") {
			if got := reached(after, b.ID); c.want != compose.Apart && !slices.Equal(got, c.reaches) {
				t.Errorf("%s: the hospital reaches %v, want %v", name, got, c.reaches)
			}
		}
		if c.want == compose.Apart && (len(named(after, "Odo Hospital")) != 2) {
			t.Errorf("%s: %v", name, named(after, "Odo Hospital"))
		}
	}
}

func TestComposeAcceptsHostApprovedByOperator(t *testing.T) {
	t.Parallel()
	npi := func(l *listing.Listing) { l.NPIs = []string{hospitalNPI} }
	before, _ := made(t, input(hospitalList()))
	id := only(t, before, "Odo Hospital").ID
	for name, c := range map[string]struct {
		word compose.Override
		want []string
	}{
		"for the hospital": {
			compose.Override{Kind: compose.Portal, ID: id, Value: "zz.evil.example"},
			[]string{hospitalURL, evil},
		},
		"for every brand": {
			compose.Override{Kind: compose.Portal, ID: compose.EveryBrand, Value: "zz.evil.example"},
			[]string{hospitalURL, evil},
		},
		"for another brand": {
			compose.Override{Kind: compose.Portal, ID: nobody, Value: "zz.evil.example"},
			[]string{hospitalURL},
		},
		"for another host": {
			compose.Override{Kind: compose.Portal, ID: id, Value: "evil.example"},
			[]string{hospitalURL},
		},
		"for a platform": {
			compose.Override{Kind: compose.Serves, ID: "zz.evil.example", Value: "epic"},
			[]string{hospitalURL},
		},
		"refuses the new host":    {compose.Override{Kind: compose.Refuse, ID: "zz.evil.example"}, []string{hospitalURL}},
		"refuses the first there": {compose.Override{Kind: compose.Refuse, ID: "fhir.hospital.example"}, nil},
	} {
		in := input(hospitalList(), hostile(npi))
		in.Before, in.Now, in.Overrides = before, noon.Add(time.Hour), []compose.Override{c.word}
		after, report := made(t, in)
		if got := reached(after, id); !slices.Equal(got, c.want) {
			t.Errorf("%s: the hospital reaches %v, want %v", name, got, c.want)
		}
		if c.word.Kind == compose.Refuse && slices.ContainsFunc(report.Waiting,
			func(w compose.Wait) bool { return w.Host == c.word.ID }) {
			t.Errorf("%s: %+v", name, report.Waiting)
		}
	}
}

func TestComposeShowsHostsIfBrandHasSeveralPortals(t *testing.T) {
	t.Parallel()
	one, _ := made(t, input(hospitalList()))
	b := only(t, one, "Odo Hospital")
	if got := one.Portals[b.PortalIDs[0]].Hosts; got != nil {
		t.Errorf("the only portal shows %v", got)
	}
	in := letting(input(hospitalList(), hostile(func(l *listing.Listing) {
		l.NPIs = []string{hospitalNPI}
		l.Portals[0].Website = "https://fhir.hospital.example"
	})))
	in.Before, in.Now = one, noon.Add(time.Hour)
	several, _ := made(t, in)
	hosts := []string{}
	for _, id := range several.Brands[b.ID].PortalIDs {
		hosts = append(hosts, several.Portals[id].Hosts...)
	}
	slices.Sort(hosts)
	if want := []string{"fhir.hospital.example", "zz.evil.example"}; !slices.Equal(hosts, want) {
		t.Errorf("its portals show %v, want %v", hosts, want)
	}
}

// TestComposeKeepsServersPublishedBefore checks that servers remain published after an upgrade, without waiting for
// approval, if the previous release published them without an operator's decision.
func TestComposeKeepsServersPublishedBefore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := letting(input(anyLists(t)...))
		for _, l := range in.Lists {
			for _, of := range l.Listings {
				for _, p := range of.Portals {
					for _, e := range p.Endpoints {
						if e.Platform != "" {
							in.Overrides = append(in.Overrides, compose.Override{
								Kind: compose.Serves, ID: catalog.Host(e.Address),
								Value: e.Platform,
							})
						}
					}
				}
			}
		}
		first, _ := compose.Compose(in)
		in.Before, in.Now, in.Overrides = first, noon.Add(time.Hour), nil
		after, _ := compose.Compose(in)
		for id, b := range first.Brands {
			if diff := cmp.Diff(reached(first, id), reached(after, id)); diff != "" && !b.Gone() {
				t.Fatalf("%s (-before +after):\n%s", b.Name, diff)
			}
		}
		for id, e := range first.Endpoints {
			if now := after.Endpoints[id]; now.FHIRBase != e.FHIRBase || now.Gone() != e.Gone() {
				t.Fatalf("endpoint %+v became %+v", e, now)
			}
		}
	})
}

// TestComposeRejectsUnknownHostsFromLowerPriorityLists checks that a lower-priority list never adds a server on an
// unapproved host to a higher-ranked list's brand or to a platform. The test tries random sequences of steps.
func TestComposeRejectsUnknownHostsFromLowerPriorityLists(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		honest := rapid.SliceOfN(rapid.Custom(anyListing), 1, 5).Draw(t, "honest")
		for i := range honest {
			honest[i].ID, honest[i].Merged = "", nil
			if slices.ContainsFunc(honest[i].Portals,
				func(p listing.Portal) bool { return p.Endpoints[0].Address != "nowhere" }) {
				honest[i].Description = "honest"
			}
		}
		best := compose.List{Source: "best", Priority: 70, Listings: honest}
		in := input(best)
		in.Platform = knownHosts
		ours, _ := compose.Compose(in)
		in.Before = ours
		for range rapid.IntRange(1, 3).Draw(t, "steps") {
			in.Lists = []compose.List{best}
			for _, source := range []string{"attacker", "zz-attacker"} {
				in.Lists = append(in.Lists, compose.List{
					Source: source, Priority: rapid.IntRange(0, 69).Draw(t, "priority"), Platform: "epic",
					Listings: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) listing.Listing { return anyHostile(t, ours) }), 0,
						4).Draw(t, "hostile"),
				})
			}
			in.Lists, in.Now = shuffled(t, in.Lists), in.Now.Add(time.Hour)
			in.Before, _ = compose.Compose(in)
			for id, b := range in.Before.Brands {
				if _, isOurs := ours.Brands[id]; (isOurs || b.Description == "honest") &&
					slices.ContainsFunc(reached(in.Before, id), isEvil) {
					t.Fatalf("patients of %s %s reach %v", b.Name, id, reached(in.Before, id))
				}
			}
			for _, e := range in.Before.Endpoints {
				if isEvil(e.FHIRBase) && e.PlatformType != compose.Generic {
					t.Fatalf("%s is of platform %s", e.FHIRBase, e.PlatformType)
				}
			}
		}
	})
}

func isEvil(base string) bool {
	host := catalog.Host(base)
	return host == "zz.evil.example" || host == "aa.evil.example"
}

// anyHostile generates a listing on the attacker's servers with attributes copied at random from published brands.
func anyHostile(t *rapid.T, ours record.Catalog) listing.Listing {
	l := anyListing(t)
	ids := []string{"", nobody}
	for id, b := range ours.Brands {
		ids = append(append(ids, id), b.PortalIDs...)
	}
	for id := range ours.Endpoints {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	pick := func(what string) string { return rapid.SampledFrom(ids).Draw(t, what) }
	l.ID, l.Merged = pick("brand"), []string{pick("merged")}
	if l.ID == "" || rapid.Bool().Draw(t, "plain") {
		l.ID, l.Merged = "", nil
	}
	l.Portals = append(l.Portals, listing.Portal{ID: pick("portal id"), Endpoints: []listing.Endpoint{{
		Address: rapid.SampledFrom([]string{"https://zz.evil.example/r4", "https://aa.evil.example/r4"}).Draw(t, "evil"),
		ID:      pick("endpoint"), Platform: "cerner",
	}}})
	return l
}
