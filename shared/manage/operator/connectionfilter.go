package operator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// filterBatch is the number of connections read at once when few of them may match.
const filterBatch = 100

func (q ConnectionQuery) checked() (Paging, error) {
	switch q.Status {
	case "", connection.Authorized, connection.Revoked, connection.Rejected:
	default:
		return Paging{}, fault.BadRequest("The status must be authorized, revoked or rejected.").About("status")
	}
	if _, ok := connection.ParseCause(string(q.Cause)); q.Cause != "" && !ok {
		return Paging{}, fault.BadRequest("The cause must be a known cause.").About("cause")
	}
	return q.Paging.checked()
}

// matches reports whether a connection has the query's properties, apart from the external ID.
func (q ConnectionQuery) matches(c connection.Connection) bool {
	return (q.BrandID == "" || c.BrandID == q.BrandID) && (q.PortalID == "" || c.PortalID == q.PortalID) &&
		(q.EndpointID == "" || c.EndpointID == q.EndpointID) && (q.Status == "" || c.Status == q.Status) &&
		(q.Cause == "" || c.Cause() == q.Cause) && !c.CreatedAt.Before(q.From) &&
		(q.To.IsZero() || c.CreatedAt.Before(q.To))
}

// filters returns the properties that the query requires. Properties of few connections come first. Most connections
// are authorized.
func (q ConnectionQuery) filters() []connection.Property {
	all := []connection.Property{
		{By: connection.ByCause, Value: string(q.Cause)},
		{By: connection.ByPortal, Value: q.PortalID},
		{By: connection.ByBrand, Value: q.BrandID},
		{By: connection.ByEndpoint, Value: q.EndpointID},
	}
	at := 0
	if q.Status == connection.Authorized {
		at = len(all)
	}
	all = slices.Insert(all, at, connection.Property{By: connection.ByStatus, Value: string(q.Status)})
	return slices.DeleteFunc(all, func(p connection.Property) bool { return p.Value == "" })
}

// listed returns the shortest list that contains the query's connections. That list contains all of the tenant's
// connections if the query has no filter, or if some connections aren't indexed because release 0.1.0 created them.
func (o Connections) listed(ctx context.Context, tenant org.Tenant, q ConnectionQuery) (places, error) {
	if q.ExternalID != "" {
		return q.within(o.listedExternally(ctx, tenant, q.ExternalID)), nil
	}
	filters := q.filters()
	isIndexed := false
	if len(filters) > 0 {
		var err error
		if isIndexed, err = o.rows.AreConnectionsIndexed(ctx, tenant); err != nil {
			return nil, fmt.Errorf("look for unindexed connections: %w", err)
		}
	}
	return q.within(func(after string, limit int) ([]string, bool, error) {
		switch {
		case !isIndexed && len(filters) > 0:
			return o.rows.ConnectionsBefore(ctx, tenant, after, filterBatch)
		case !isIndexed:
			return o.rows.ConnectionsBefore(ctx, tenant, after, limit)
		case len(filters) > 1:
			limit = filterBatch
		}
		return o.rows.ConnectionsWith(ctx, tenant, filters[0], after, limit)
	}), nil
}

// within limits a list to the query's creation times.
func (q ConnectionQuery) within(list places) places {
	// A cursor's time may be less precise than To. A cursor without ID precedes all connections of that time.
	end := placeOf(q.To.Add(time.Microsecond-1), "")
	return func(after string, limit int) ([]string, bool, error) {
		if !q.To.IsZero() && (after == "" || after > end) {
			after = end
		}
		found, more, err := list(after, limit)
		since := slices.IndexFunc(found, func(place string) bool { return place < placeOf(q.From, "") })
		if since < 0 || q.From.IsZero() {
			return found, more, err
		}
		return found[:since], false, err
	}
}

// listedExternally returns the cursors of a tenant's connections with the given external ID. The ID is looked up under
// every version of the hash key.
func (o Connections) listedExternally(ctx context.Context, tenant org.Tenant, externalID string) places {
	return func(after string, limit int) (found []string, more bool, err error) {
		for version := o.hashing.Current(); version > 0; version-- {
			mark, ok := o.hashing.SignAs(version, connection.ExternalText(tenant, externalID))
			if !ok {
				continue
			}
			part, isCut, failure := o.rows.ConnectionsOfBefore(ctx, tenant, mark, after, limit)
			if failure != nil {
				return nil, false, failure
			}
			found, more = append(found, part...), more || isCut
		}
		slices.Sort(found)
		slices.Reverse(found)
		found = slices.Compact(found) // A connection whose hash was just recomputed may be in both lists.
		return found[:min(limit, len(found))], more || len(found) > limit, nil
	}
}
