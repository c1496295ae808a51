package publish

import (
	"maps"
	"slices"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/record"
)

// change is the difference between two versions of an endpoint's row or of a catalog.Way. A row contains only the
// fields that publishing determines, and no pins or overrides.
type change struct {
	from *catalog.Endpoint // previous row; nil if the previous version had none
	to   catalog.Endpoint
	way  *catalog.Way // the new catalog.Way; nil for a row
}

// rowPlan holds a publication's changes. The changes in offered are written before the pointer moves, and those in gone
// after it has moved. Each catalog.Way is written before the rows, so that an endpoint is never shared before its Ways
// exist.
type rowPlan struct{ offered, gone []change }

// planOf returns the rows that differ between two versions. Repeated calls return the same plan, so a run can continue
// an interrupted publication.
func planOf(mode string, before, next record.Catalog) rowPlan {
	var plan rowPlan
	was, is := rowsOf(mode, before), rowsOf(mode, next)
	plan.offered, plan.gone = waysBetween(waysOf(before, was), waysOf(next, is))
	for _, id := range slices.Sorted(maps.Keys(is)) {
		switch old, had := was[id]; {
		case !had:
			plan.offered = append(plan.offered, change{to: is[id]})
		case old != is[id]:
			plan.offered = append(plan.offered, change{from: &old, to: is[id]})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(was)) {
		if _, has := is[id]; !has {
			old := was[id]
			suspended := old
			suspended.Status = catalog.EndpointSuspended
			plan.gone = append(plan.gone, change{from: &old, to: suspended})
		}
	}
	return plan
}

// rowsOf returns a version's rows, one per endpoint to which patients may be sent. Endpoints to which patients can't be
// sent need no row.
func rowsOf(mode string, c record.Catalog) map[string]catalog.Endpoint {
	rows := make(map[string]catalog.Endpoint, len(c.Endpoints))
	for id, e := range c.Endpoints {
		if e.Gone() || e.Status != record.Active {
			continue
		}
		rows[id] = catalog.Endpoint{
			ID: id, Name: e.Name, FHIRBase: e.FHIRBase, PlatformType: e.PlatformType, FHIRVersion: e.FHIRVersion, Mode: mode,
			Status: catalog.EndpointActive, Published: true, OwnRegistration: strings.EqualFold(e.PlatformType, compose.Generic),
		}
	}
	brands, portals := map[string]string{}, map[string]string{}
	for id, b := range c.Brands {
		if b.Gone() {
			continue
		}
		for _, portal := range b.PortalIDs {
			if c.Portals[portal].Gone() {
				continue
			}
			for _, endpoint := range c.Portals[portal].EndpointIDs {
				note(brands, endpoint, id)
				note(portals, endpoint, portal)
			}
		}
	}
	for id, row := range rows {
		if brands[id] != several && portals[id] != several {
			row.BrandID, row.PortalID = brands[id], portals[id]
		}
		rows[id] = row
	}
	return rows
}

// several stands for more than one institution.
const several = "*"

func note(by map[string]string, endpoint, id string) {
	if known, isKnown := by[endpoint]; isKnown && known != id {
		id = several
	}
	by[endpoint] = id
}

// merged applies the changes between the two versions to a row and keeps any changes that an operator has made since
// the previous version.
func (c change) merged(row catalog.Endpoint) catalog.Endpoint {
	from := c.from
	if from == nil {
		// The row already exists. Publishing determines all of its fields except an operator's suspension.
		from = &row
	}
	take(&row.BrandID, from.BrandID, c.to.BrandID)
	take(&row.PortalID, from.PortalID, c.to.PortalID)
	take(&row.Name, from.Name, c.to.Name)
	take(&row.FHIRBase, from.FHIRBase, c.to.FHIRBase)
	take(&row.PlatformType, from.PlatformType, c.to.PlatformType)
	take(&row.FHIRVersion, from.FHIRVersion, c.to.FHIRVersion)
	take(&row.OwnRegistration, from.OwnRegistration, c.to.OwnRegistration)
	switch {
	case c.to.Status == catalog.EndpointSuspended && row.Status == catalog.EndpointActive:
		row.Status, row.Withdrawn = catalog.EndpointSuspended, true
	case c.to.Status == catalog.EndpointActive && row.Withdrawn:
		row.Status, row.Withdrawn = catalog.EndpointActive, false
	}
	return row
}

func take[V comparable](field *V, from, to V) {
	if *field == from {
		*field = to
	}
}
