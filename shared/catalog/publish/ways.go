package publish

import (
	"maps"
	"reflect"
	"slices"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/record"
)

// waysOf returns the ways of a version that can't be derived from its endpoints' rows alone, keyed by endpoint ID and
// requested brand ID.
func waysOf(c record.Catalog, rows map[string]catalog.Endpoint) map[[2]string]catalog.Way {
	former := map[string][]string{} // IDs of merged records, by their successor's ID
	for id, successor := range c.Successors {
		former[successor] = append(former[successor], id)
	}
	ways := map[[2]string]catalog.Way{}
	for id, b := range c.Brands {
		if b.Gone() {
			continue
		}
		for endpoint, portals := range leading(c, b, former) {
			row, isOffered := rows[endpoint]
			if !isOffered {
				continue
			}
			for _, asked := range append([]string{id}, former[id]...) {
				if asked != row.BrandID || len(portals) > 1 {
					ways[[2]string{endpoint, asked}] = catalog.Way{EndpointID: endpoint, Asked: asked, BrandID: id, Portals: portals}
				}
			}
		}
	}
	return ways
}

// leading returns a brand's portals, keyed by endpoint, in the form used by Way.Portals.
func leading(c record.Catalog, b record.Brand, former map[string][]string) map[string]map[string]string {
	by := map[string]map[string]string{}
	for _, portal := range b.PortalIDs {
		p := c.Portals[portal]
		if p.Gone() {
			continue
		}
		for _, endpoint := range p.EndpointIDs {
			if by[endpoint] == nil {
				by[endpoint] = map[string]string{}
			}
			by[endpoint][portal] = portal
			for _, id := range former[portal] {
				by[endpoint][id] = portal
			}
		}
	}
	return by
}

// waysBetween compares two versions' ways and returns those that are new or have changed, and those that no longer
// exist.
func waysBetween(was, is map[[2]string]catalog.Way) (offered, ended []change) {
	compare := func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }
	for _, key := range slices.SortedFunc(maps.Keys(is), compare) {
		if way := is[key]; !reflect.DeepEqual(was[key], way) {
			offered = append(offered, change{way: &way})
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(was), compare) {
		if way := was[key]; is[key].EndpointID == "" {
			way.Portals = nil
			ended = append(ended, change{way: &way})
		}
	}
	return offered, ended
}
