package compose_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/record"
)

// anyListing generates listings from a few names, places and servers, so that many listings are equal or nearly equal.
func anyListing(t *rapid.T) listing.Listing {
	pick := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(t, what) }
	name := pick("prefix", "", "", "TX - ", "MA - ") +
		pick("name", "Odo Clinic", "ODO CLINIC LLC", "Family Medical Center", "Zorvath Vein Center", "St. Odo Hosp",
			"Saint Odo Hospital")
	l := listing.Listing{
		Key: pick("key", "a", "b", "c", "d", "e", "f"), Name: name,
		PartOf: pick("part of", "", "", "", "a", "b", "c"),
	}
	if code := pick("zip", "", "02134", "10001", "77001"); code != "" {
		l.Locations = []record.Location{zip(code)}
	}
	for range rapid.IntRange(0, 2).Draw(t, "servers") {
		address := pick("server", shared, "https://odo.example/r4", "https://odo.example/dstu2", "http://vela.example",
			"https://v.example/r4/8842719930021", "https://w.example/r4/8842719930021", "nowhere")
		l.Portals = append(l.Portals, listing.Portal{
			Key:       pick("portal", "", "", "my"),
			Endpoints: []listing.Endpoint{{Address: address, Platform: pick("platform", "", "epic")}},
		})
	}
	if rapid.IntRange(0, 9).Draw(t, "identified") == 0 {
		l.NPIs = []string{"1234567893"}
		l.Identifiers = []listing.Identifier{{System: "urn:odo", Value: pick("identifier", "7", "8")}}
	}
	if rapid.IntRange(0, 9).Draw(t, "chosen") == 0 {
		l.ID = pick("id", chosenA, chosenB, "none")
		l.Merged = []string{pick("merged", chosenA, chosenC)}
	}
	return l
}

func anyLists(t *rapid.T) []compose.List {
	count := rapid.IntRange(1, 4).Draw(t, "lists")
	lists := make([]compose.List, 0, count+1)
	lists = append(lists, crowd())
	for i := range count {
		l := compose.List{Source: fmt.Sprint("source-", i), Priority: rapid.IntRange(0, 2).Draw(t, "priority")}
		if rapid.IntRange(0, 4).Draw(t, "failing") == 0 {
			l.UnconfirmedSince = noon.Add(-time.Duration(i+1) * time.Hour)
		}
		l.Listings = rapid.SliceOfN(rapid.Custom(anyListing), 0, 8).Draw(t, "listings")
		lists = append(lists, l)
	}
	return lists
}

func anyOverrides(t *rapid.T) []compose.Override {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) compose.Override {
		ids := rapid.SampledFrom([]string{chosenA, chosenB, chosenC, nobody})
		return compose.Override{
			Kind: rapid.SampledFrom([]compose.OverrideKind{
				compose.Merge, compose.Hide, compose.Show, compose.Alias,
				compose.Named,
			}).Draw(t, "kind"),
			ID: ids.Draw(t, "id"), Value: ids.Draw(t, "value"),
		}
	}), 0, 4).Draw(t, "overrides")
}

func shuffled(t *rapid.T, lists []compose.List) []compose.List {
	lists = rapid.Permutation(lists).Draw(t, "lists")
	for i := range lists {
		lists[i].Listings = rapid.Permutation(lists[i].Listings).Draw(t, "listings")
	}
	return lists
}

func TestComposeIsOrderIndependentAndIdempotent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := input(anyLists(t)...)
		in.Overrides = anyOverrides(t)
		for step := range 3 { // steps after the first use different lists
			first, report := compose.Compose(in)
			check(t, first)
			in.Lists = shuffled(t, in.Lists)
			slices.Reverse(in.Overrides)
			if other, _ := compose.Compose(in); bytesOf(t, other) != bytesOf(t, first) {
				t.Fatalf("step %d: another order makes it another (-first +other):\n%s", step, cmp.Diff(first, other))
			}
			in.Before, in.Now = first, in.Now.Add(time.Hour)
			again, second := compose.Compose(in)
			if bytesOf(t, again) != bytesOf(t, first) {
				t.Fatalf("step %d: composed again it is another (-first +again):\n%s", step, cmp.Diff(first, again))
			}
			if second.Brands != report.Brands || second.Endpoints != report.Endpoints {
				t.Fatalf("step %d: counts %+v, then %+v", step, report, second)
			}
			in.Lists = anyLists(t)
		}
	})
}

// TestComposeResolvesEveryPublishedID checks that every published ID still resolves, regardless of how the lists
// change.
func TestComposeResolvesEveryPublishedID(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := input(anyLists(t)...)
		seen := map[string]bool{}
		for range 4 {
			in.Overrides = anyOverrides(t)
			c, _ := compose.Compose(in)
			check(t, c)
			for id := range c.Brands {
				seen[id] = true
			}
			for id := range seen {
				if _, known := c.Brands[c.Resolve(id)]; !known {
					t.Fatalf("brand %s answers no more", id)
				}
			}
			for id := range in.Before.Endpoints {
				if _, known := c.Endpoints[id]; !known {
					t.Fatalf("endpoint %s answers no more", id)
				}
			}
			in.Before, in.Now, in.Lists = c, in.Now.Add(time.Hour), anyLists(t)
		}
	})
}

// TestComposeNeverMergesDifferentPlacesByName checks that rows in different places are never joined because of a shared
// name, state, ZIP code or server alone.
func TestComposeNeverMergesDifferentPlacesByName(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lists := anyLists(t)
		for _, l := range lists {
			for i := range l.Listings {
				of := &l.Listings[i]
				of.NPIs, of.Identifiers, of.ID, of.Merged, of.PartOf, of.Key = nil, nil, "", nil, "", strconv.Itoa(i)
				if len(of.Portals) > 0 {
					of.Portals = []listing.Portal{{Endpoints: []listing.Endpoint{{Address: rapid.SampledFrom(
						[]string{shared, "https://odo.example/r4", "http://vela.example"}).Draw(t, "server")}}}}
				}
				if len(of.Locations) > 0 {
					// Remove any state at the beginning of the name, because it may also place the institution in that
					// state.
					of.Name = of.Name[max(0, len(of.Name)-len("Odo Clinic")):]
				}
			}
		}
		c, _ := compose.Compose(input(lists...))
		for _, b := range c.Brands {
			zips, states := map[string]bool{}, map[string]bool{}
			for _, l := range b.Locations {
				states[l.State] = true
				if l.PostalCode != "" {
					zips[l.PostalCode] = true
				}
			}
			if len(zips) > 1 || len(states) > 1 {
				t.Fatalf("%s is at %v", b.Name, b.Locations)
			}
		}
	})
}
