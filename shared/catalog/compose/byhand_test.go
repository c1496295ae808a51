package compose_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/record"
)

const (
	chosenA = "0a000000-0000-4000-8000-000000000001"
	chosenB = "0b000000-0000-4000-8000-000000000002"
	chosenC = "0c000000-0000-4000-8000-000000000003"
	nobody  = "0f000000-0000-4000-8000-00000000000f"
)

func chosen(id, name, address string) listing.Listing {
	l := at(name, address)
	l.ID = id
	return l
}

func trio() compose.List {
	return list("hand", chosen(chosenA, "Odo Clinic", "https://odo.example/r4"),
		chosen(chosenB, "Vela Clinic", "https://vela.example/r4"),
		chosen(chosenC, "Crane Clinic", "https://crane.example/r4"))
}

func TestComposeKeepsOperatorDecisionsAcrossImports(t *testing.T) {
	t.Parallel()
	in := input(trio())
	in.Overrides = []compose.Override{
		{Kind: compose.Hide, ID: chosenA},
		{Kind: compose.Alias, ID: chosenA, Value: "Old Odo"},
		{Kind: compose.Named, ID: chosenB, Value: "Vela Health"},
		{Kind: compose.Show, ID: nobody},
	}
	c, report := made(t, in)
	odo, vela := c.Brands[chosenA], c.Brands[chosenB]
	if !odo.Hidden || !slices.Equal(odo.Aliases, []string{"Old Odo"}) || vela.Name != "Vela Health" ||
		vela.SortName != "vela health" || !slices.Equal(vela.Aliases, []string{"Vela Clinic"}) {
		t.Errorf("%+v\n%+v", odo, vela)
	}
	if report.Conflicts["override"].Count != 1 {
		t.Errorf("conflicts %v", report.Conflicts)
	}
	in.Before = c
	if again, _ := made(t, in); bytesOf(t, again) != bytesOf(t, c) {
		t.Error("composed again it is another")
	}
	in.Lists[0].Listings[0].Hidden = true
	in.Overrides = []compose.Override{{Kind: compose.Show, ID: chosenA}}
	if c, _ = made(t, in); c.Brands[chosenA].Hidden {
		t.Error("a hidden brand that is shown is hidden")
	}
}

func TestComposeAppliesManualBrandMerges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		overrides []compose.Override
		merged    []string
		leads     map[string]string
		conflicts int
	}{
		"one into another": {
			overrides: []compose.Override{{compose.Merge, chosenA, chosenB}},
			leads:     map[string]string{chosenA: chosenB},
		},
		"a chain": {
			overrides: []compose.Override{{compose.Merge, chosenB, chosenC}, {compose.Merge, chosenA, chosenB}},
			leads:     map[string]string{chosenA: chosenC, chosenB: chosenC},
		},
		"a circle": {
			overrides: []compose.Override{{compose.Merge, chosenA, chosenB}, {compose.Merge, chosenB, chosenA}},
			leads:     map[string]string{chosenA: chosenB}, conflicts: 1,
		},
		"into itself": {
			overrides: []compose.Override{{compose.Merge, chosenA, chosenA}}, leads: map[string]string{},
			conflicts: 1,
		},
		"into nobody": {
			overrides: []compose.Override{{compose.Merge, chosenA, nobody}, {compose.Merge, nobody, chosenA}},
			leads:     map[string]string{}, conflicts: 2,
		},
		"by its list": {merged: []string{chosenA}, leads: map[string]string{chosenA: chosenC}},
		"in both ways": {
			overrides: []compose.Override{{compose.Merge, chosenA, chosenC}}, merged: []string{chosenA},
			leads: map[string]string{chosenA: chosenC},
		},
	} {
		hand := trio()
		hand.Listings[2].Merged = test.merged
		in := input(hand)
		in.Overrides = test.overrides
		c, report := made(t, in)
		if diff := cmp.Diff(test.leads, c.Successors); diff != "" || report.Conflicts["override"].Count != test.conflicts ||
			len(c.Brands) != 3-len(test.leads) {
			t.Errorf("%s: %d conflicts, %d brands; leads (-want +got):\n%s", name, report.Conflicts["override"].Count,
				len(c.Brands), diff)
		}
		for _, into := range test.leads {
			if got := len(c.Brands[into].PortalIDs); got != 1+len(test.leads) {
				t.Errorf("%s: %d portals", name, got)
			}
		}
		in.Before = c
		again, _ := made(t, in)
		if diff := cmp.Diff(bytesOf(t, c), bytesOf(t, again)); diff != "" {
			t.Errorf("%s: composed again (-want +got):\n%s", name, diff)
		}
		in.Overrides, in.Before = nil, again
		hand.Listings[2].Merged = nil
		if back, _ := made(t, in); len(back.Brands) != 3 || len(back.Successors) != 0 {
			t.Errorf("%s: taken back it is %d brands, %v", name, len(back.Brands), back.Successors)
		}
	}
}

func TestComposeAssignsDuplicateIDToFirstBrand(t *testing.T) {
	t.Parallel()
	c, report := made(t,
		input(list("hand", chosen(chosenA, "Odo Clinic", "https://odo.example/r4"),
			chosen(chosenA, "Vela Clinic", "https://vela.example/r4"),
			chosen("seven", "Crane Clinic", "https://crane.example/r4"))))
	if len(c.Brands) != 3 || c.Brands[chosenA].Name != "Odo Clinic" || report.Conflicts["id"].Count != 2 {
		t.Errorf("%+v, %v", c.Brands, report.Conflicts)
	}
}

func TestComposeKeepsEqualListingsWithDifferentKeys(t *testing.T) {
	t.Parallel()
	same, other := at("Odo Clinic", "https://odo.example/r4"), at("Vela Clinic", "https://vela.example/r4")
	other.Key = same.Key
	c, report := made(t, input(list("one", same, other, same)))
	if len(c.Brands) != 2 || report.Conflicts["key"].Count != 1 || report.Dropped["copy"].Count != 1 ||
		report.Listings != 2 {
		t.Errorf("%d brands, %+v", len(c.Brands), report)
	}
}

func TestComposeInheritsPortalOfParentBrand(t *testing.T) {
	t.Parallel()
	above := at("Odo Health", "https://odo.example/r4")
	above.Key = "odo"
	site := listing.Listing{Key: "site", Name: "Odo Harbor Hospital", PartOf: "odo"}
	ward := listing.Listing{Key: "ward", Name: "Odo Harbor Maternity", PartOf: "site"}
	orphan := listing.Listing{Key: "orphan", Name: "Vela Hospital", PartOf: "nowhere"}
	one, two := listing.Listing{Key: "a", Name: "Crane One", PartOf: "b"},
		listing.Listing{Key: "b", Name: "Crane Two", PartOf: "a"}
	c, report := made(t, input(list("one", ward, site, above, orphan, one, two)))
	if len(c.Brands) != 6 || len(c.Portals) != 1 || report.Conflicts["part_of"].Count != 3 {
		t.Errorf("%d brands, %d portals, %v", len(c.Brands), len(c.Portals), report.Conflicts)
	}
	for name, portals := range map[string]int{
		"Odo Health": 1, "Odo Harbor Hospital": 1, "Odo Harbor Maternity": 1,
		"Vela Hospital": 0, "Crane One": 0,
	} {
		if got := len(only(t, c, name).PortalIDs); got != portals {
			t.Errorf("%s has %d portals", name, got)
		}
	}
}

func TestComposeMergesPortalsWithSameKey(t *testing.T) {
	t.Parallel()
	of := func(name, key, address string) listing.Listing {
		l := at(name, address)
		l.Portals[0].Key, l.Portals[0].Name = key, "MyOdo"
		return l
	}
	off := at("Crane Clinic", "https://crane.example/r4")
	off.Portals[0].Endpoints[0].Off = true
	web := listing.Listing{Key: "web", Name: "Lone Clinic", Portals: []listing.Portal{{Website: "https://lone.example"}}}
	c, _ := made(t,
		letting(input(list("one", of("Odo North", "my", "https://a.example/r4")),
			list("two", of("Odo South", "my", "https://b.example/r4"), off, web))))
	north, south := only(t, c, "Odo North"), only(t, c, "Odo South")
	if !slices.Equal(north.PortalIDs, south.PortalIDs) || len(endpointsOf(c, north)) != 2 ||
		c.Portals[north.PortalIDs[0]].Name != "MyOdo" {
		t.Errorf("%v and %v: %+v", north.PortalIDs, south.PortalIDs, c.Portals)
	}
	if e := endpointsOf(c, only(t, c, "Crane Clinic"))[0]; e.Status != record.Suspended {
		t.Errorf("an endpoint that its list says is off is %s", e.Status)
	}
	if p := c.Portals[only(t, c, "Lone Clinic").PortalIDs[0]]; p.PortalWebsite != "https://lone.example" ||
		len(p.EndpointIDs) != 0 {
		t.Errorf("a portal without a server is %+v", p)
	}
}
