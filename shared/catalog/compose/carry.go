package compose

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/record"
)

type carrier struct{ *round }

// carryOver retains published records that the lists no longer produce. IDs of merged brands continue to point to their
// successors, and the other records become tombstones. If a list is unreadable and has no accepted version, carryOver
// can't determine which records were removed. In that case, it marks the retained records as unconfirmed instead of
// removed.
//
// A published record stays unchanged while its listings await an operator's approval.
func (c *carrier) carryOver(made *draft) {
	blind := c.blindSince()
	stays := map[string]bool{} // IDs of portals and endpoints
	for _, id := range sortedKeys(c.in.Before.Brands) {
		if _, isMade := made.Brands[id]; !isMade && c.brands[id] == "" {
			b := c.in.Before.Brands[id]
			if c.withheld.brands[id] && !b.Gone() {
				c.keep(b, stays)
			} else {
				b.State = c.gone(b.State, blind)
			}
			made.Brands[id] = b
		}
	}
	c.carryParts(made, stays, blind)
	c.succeed(made)
}

func (c *carrier) carryParts(made *draft, stays map[string]bool, blind time.Time) {
	for id, p := range c.in.Before.Portals {
		if _, isMade := made.Portals[id]; !isMade {
			if !stays[id] {
				p.State = c.gone(p.State, blind)
			}
			made.Portals[id] = p
		}
	}
	for id, e := range c.in.Before.Endpoints {
		if _, isMade := made.Endpoints[id]; !isMade && stays[id] {
			made.Endpoints[id] = e
		} else if !isMade {
			e.State = c.gone(e.State, blind)
			if e.RemovedAt != nil {
				e.Status = record.Suspended
			}
			made.Endpoints[id] = e
		}
	}
}

// keep marks a published brand's portals and endpoints so that they are retained unchanged.
func (c *carrier) keep(b record.Brand, stays map[string]bool) {
	for _, portal := range b.PortalIDs {
		stays[portal] = !c.in.Before.Portals[portal].Gone()
		for _, endpoint := range c.in.Before.Portals[portal].EndpointIDs {
			stays[endpoint] = stays[endpoint] || stays[portal] &&
				!c.decisions.refused[catalog.Host(c.in.Before.Endpoints[endpoint].FHIRBase)]
		}
	}
}

// blindSince returns the latest time at which a list without accepted listings became unreadable. It returns the zero
// time if there is no unreadable list without accepted listings.
func (c *carrier) blindSince() time.Time {
	var latest time.Time
	for _, l := range c.in.Lists {
		if len(l.Listings) == 0 && l.UnconfirmedSince.After(latest) {
			latest = l.UnconfirmedSince
		}
	}
	return latest
}

// gone returns the new state of a record that is no longer in any list.
func (c *carrier) gone(before record.State, blind time.Time) record.State {
	switch {
	case before.RemovedAt != nil:
		return before
	case !blind.IsZero():
		if before.UnconfirmedSince == nil {
			at := blind.UTC().Round(0)
			before.UnconfirmedSince = &at
		}
		return before
	}
	return record.State{RemovedAt: &c.now}
}

// succeed adds to each brand the IDs of all brands merged into it, directly or through other merges.
func (c *carrier) succeed(made *draft) {
	next := map[string]string{}
	maps.Copy(next, c.in.Before.Successors)
	maps.Copy(next, c.brands)
	for id := range next {
		if !made.has(id) {
			if last := made.last(next, id); last != "" {
				made.Successors[id] = last
			}
		}
	}
	merged := map[string][]string{}
	for id, into := range made.Successors {
		merged[into] = append(merged[into], id)
	}
	for id, b := range made.Brands {
		b.BrandIDs = sorted(merged[id])
		made.Brands[id] = b
	}
}

func (m *draft) has(id string) bool {
	_, isBrand := m.Brands[id]
	_, isPortal := m.Portals[id]
	_, isEndpoint := m.Endpoints[id]
	return isBrand || isPortal || isEndpoint
}

// last follows a chain of merges and returns the first ID that has a record. last returns "" if no ID in the chain has
// a record.
func (m *draft) last(next map[string]string, id string) string {
	for range next {
		into, merged := next[id]
		if !merged {
			return ""
		}
		if m.has(into) {
			return into
		}
		id = into
	}
	return ""
}

// date sets each record's last-changed time. An unchanged record keeps its previous time. A new or changed record gets
// the current time.
func (c *carrier) date(made *draft) {
	for id, b := range made.Brands {
		before, known := c.in.Before.Brands[id]
		b.LastUpdated = before.LastUpdated
		if !known || !isSame(b, before) {
			b.LastUpdated = c.now
		}
		made.Brands[id] = b
	}
	for id, p := range made.Portals {
		before, known := c.in.Before.Portals[id]
		p.LastUpdated = before.LastUpdated
		if !known || !isSame(p, before) {
			p.LastUpdated = c.now
		}
		made.Portals[id] = p
	}
	for id, e := range made.Endpoints {
		before, known := c.in.Before.Endpoints[id]
		e.LastUpdated = before.LastUpdated
		if !known || !isSame(e, before) || e.FHIRBase != before.FHIRBase {
			e.LastUpdated = c.now
		}
		made.Endpoints[id] = e
	}
}

// redate restores the modification and removal times from before for records that haven't changed.
func redate(made, before record.Catalog) {
	for id, b := range made.Brands {
		was := before.Brands[id]
		b.State = goneSince(b.State, was.State)
		same := b
		same.LastUpdated = was.LastUpdated
		if isSame(same, was) {
			b = same
		}
		made.Brands[id] = b
	}
	for id, p := range made.Portals {
		was := before.Portals[id]
		p.State = goneSince(p.State, was.State)
		same := p
		same.LastUpdated = was.LastUpdated
		if isSame(same, was) {
			p = same
		}
		made.Portals[id] = p
	}
	for id, e := range made.Endpoints {
		was := before.Endpoints[id]
		e.State = goneSince(e.State, was.State)
		same := e
		same.LastUpdated = was.LastUpdated
		if isSame(same, was) && e.FHIRBase == was.FHIRBase {
			e = same
		}
		made.Endpoints[id] = e
	}
}

// undated encodes a catalogue without its records' modification and removal times.
func undated(of record.Catalog) string {
	plain := record.Catalog{
		Brands: map[string]record.Brand{}, Portals: map[string]record.Portal{},
		Endpoints: map[string]record.Endpoint{}, Successors: of.Successors,
	}
	bases := map[string]string{}
	for id, b := range of.Brands {
		b.LastUpdated, b.State = time.Time{}, undatedState(b.State)
		plain.Brands[id] = b
	}
	for id, p := range of.Portals {
		p.LastUpdated, p.State = time.Time{}, undatedState(p.State)
		plain.Portals[id] = p
	}
	for id, e := range of.Endpoints {
		e.LastUpdated, e.State = time.Time{}, undatedState(e.State)
		plain.Endpoints[id], bases[id] = e, e.FHIRBase
	}
	written, err := json.Marshal([]any{plain, bases})
	if err != nil { // can't happen, because every value can be encoded as JSON
		return ""
	}
	return string(written)
}

func undatedState(s record.State) record.State {
	if s.RemovedAt != nil {
		s.RemovedAt = &time.Time{}
	}
	return s
}

// goneSince returns s with before's removal time if both states are removed.
func goneSince(s, before record.State) record.State {
	if s.RemovedAt != nil && before.RemovedAt != nil {
		s.RemovedAt = before.RemovedAt
	}
	return s
}

// isSame reports whether two records have the same JSON encoding.
func isSame(a, b any) bool {
	one, errOne := json.Marshal(a)
	other, errOther := json.Marshal(b)
	return errOne == nil && errOther == nil && slices.Equal(one, other)
}
