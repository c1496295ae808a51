package compose_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/connect/platform"
)

// TestComposeAcceptsMostHostsInPublicData counts the servers in the public data that must wait for approval, and their
// hosts. The test covers a first publication, and a collector's list combined with vendors' lists.
func TestComposeAcceptsMostHostsInPublicData(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("much of one thing, in one goroutine")
	}
	in, _ := sampled(t)
	all := in.Lists[0].Listings
	_, report := compose.Compose(in)
	counts(t, "first publication", report)
	if len(report.Waiting) > 0 {
		t.Errorf("%d of a list that is published first wait", len(report.Waiting))
	}
	vendors := ofVendors(t, all)
	in.Lists = vendors
	in.Before, report = compose.Compose(in)
	counts(t, "first publication of vendors' lists alone", report)
	in.Lists, in.Now = slices.Concat(vendors, []compose.List{{Source: "lantern", Priority: 10, Listings: all}}),
		noon.Add(time.Hour)
	_, report = compose.Compose(in)
	counts(t, "a collector's list over vendors' lists", report)
	if hosts := hostsOf(report); hosts == 0 || hosts > 50 {
		t.Errorf("%d servers wait at %d hosts", len(report.Waiting), hosts)
	}
}

// ofVendors splits the listings into one list per platform. Each list contains the rows whose hosts are in its
// platform's profile.
func ofVendors(t *testing.T, all []listing.Listing) []compose.List {
	t.Helper()
	platforms, err := platform.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string][]listing.Listing{}
	for _, l := range all {
		if id := platforms.AtHost(l.Portals[0].Endpoints[0].Address); id != "" {
			by[id] = append(by[id], l)
		}
	}
	lists := make([]compose.List, 0, len(by))
	for id, listings := range by {
		lists = append(lists, compose.List{Source: id, Platform: id, Priority: 70, Listings: listings})
	}
	slices.SortFunc(lists, func(a, b compose.List) int { return cmp.Compare(a.Source, b.Source) })
	return lists
}

func hostsOf(r compose.Report) int {
	hosts := map[string]bool{}
	for _, w := range r.Waiting {
		hosts[w.Host] = true
	}
	return len(hosts)
}

// counts logs the numbers of waiting servers and hosts, and the hosts with the most waiting servers.
func counts(t *testing.T, what string, r compose.Report) {
	t.Helper()
	why, by := make(map[compose.Why]int), map[string]int{}
	for _, w := range r.Waiting {
		why[w.Why]++
		by[w.Host]++
	}
	top := make([]string, 0, len(by))
	for host := range by {
		top = append(top, host)
	}
	slices.SortFunc(top, func(a, b string) int { return cmp.Or(cmp.Compare(by[b], by[a]), strings.Compare(a, b)) })
	t.Logf("%s: %d brands of %d listings; %d servers wait at %d hosts: %v, most at %v", what, r.Brands.Live, r.Listings,
		len(r.Waiting), len(by), why, top[:min(5, len(top))])
	if _, isURL := by[catalog.Origin("")]; isURL {
		t.Errorf("%s: something waits at no host", what)
	}
}
