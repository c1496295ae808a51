package compose_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/adapters/suffix"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/record"
)

func hospitalAt(urls ...string) listing.Listing {
	l := at("Odo Hospital", urls[0], zip("02134"))
	for _, url := range urls[1:] {
		l.Portals = append(l.Portals, listing.Portal{Endpoints: []listing.Endpoint{{Address: url}}})
	}
	return l
}

func choices(c record.Catalog) map[string]string {
	all := map[string]string{}
	for _, p := range c.Portals {
		for _, e := range p.EndpointIDs {
			all[c.Endpoints[e].FHIRBase] = p.Choice
		}
	}
	return all
}

func TestComposeMarksPortalsThatLookAlike(t *testing.T) {
	t.Parallel()
	l := hospitalAt("https://api.odo.co.uk/uscore/R4", "https://old.odo.co.uk/argonaut/v1", "https://odo.velamar.co.uk/r4",
		"https://kids.odo.co.uk/r4", "https://odo.azurewebsites.net/r4", "https://odo2.azurewebsites.net/r4",
		"https://192.0.2.7/r4", "https://192.0.2.8/r4")
	l.Portals[3].Name = "MyOdo Kids"
	in := input(list("one", l))
	in.Domain = suffix.Domain
	c, _ := made(t, in)
	got := choices(c)
	alike := got["https://api.odo.co.uk/uscore/R4"]
	if alike == "" || got["https://old.odo.co.uk/argonaut/v1"] != alike {
		t.Errorf("portals at one domain have the choices %v", got)
	}
	for url, choice := range got {
		if url != "https://api.odo.co.uk/uscore/R4" && url != "https://old.odo.co.uk/argonaut/v1" && choice != "" {
			t.Errorf("%s has the choice %s", url, choice)
		}
	}
	if len(got) != len(l.Portals) {
		t.Errorf("%d portals of %d", len(got), len(l.Portals))
	}
}

// TestComposeKeepsPortalIDsAndOmitsChoiceOfSinglePortal checks that a portal keeps its ID when another is added or
// removed. It also checks that a brand with a single portal has no Choice.
func TestComposeKeepsPortalIDsAndOmitsChoiceOfSinglePortal(t *testing.T) {
	t.Parallel()
	const first, second = "https://api.odo.example/r4", "https://old.odo.example/fhir"
	one, _ := made(t, input(list("one", hospitalAt(first))))
	in := letting(input(list("one", hospitalAt(first, second))))
	in.Domain = suffix.Domain
	in.Before, in.Now = one, noon.Add(time.Hour)
	two, _ := made(t, in)
	if got := choices(two); got[first] == "" || got[first] != got[second] {
		t.Errorf("two portals have the choices %v", got)
	}
	for id := range one.Portals {
		if _, ok := two.Portals[id]; !ok {
			t.Errorf("portal %s is missing", id)
		}
	}
	in = input(list("one", hospitalAt(first)))
	in.Before, in.Now = two, noon.Add(2*time.Hour)
	again, _ := made(t, in)
	if got := slices.Collect(maps.Values(choices(again))); strings.Join(got, "") != "" {
		t.Errorf("a single portal has a choice: %v", got)
	}
}

func TestComposeShowsHostsIfBrandsHaveSameName(t *testing.T) {
	t.Parallel()
	c, _ := made(t, input(list("one", at("Odo Hospital", "https://a.odo.example/r4", zip("02134")),
		at("Odo Hospital", "https://b.velamar.example/r4", zip("89501")), at("Crane Clinic", "https://c.crane.example/r4"))))
	var hosts []string
	for _, b := range c.Brands {
		for _, id := range b.PortalIDs {
			hosts = append(hosts, c.Portals[id].Hosts...)
		}
	}
	slices.Sort(hosts)
	if len(named(c, "Odo Hospital")) != 2 || !slices.Equal(hosts, []string{"a.odo.example", "b.velamar.example"}) {
		t.Errorf("portals show %v", hosts)
	}
}
