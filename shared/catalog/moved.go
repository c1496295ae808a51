package catalog

import (
	"context"
	"log/slog"
	"strings"

	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

// maxNamed is how much of an origin or an issuer is told, in bytes.
const maxNamed = 200

// ReportMove tells the operator, on the log line of the unit of work that ctx belongs to, that a discovery was refused:
// for which organisation, at which endpoint, and what of it has left where. An alarm counts them
// (docs/operate/runbooks/portal-moved.md).
func ReportMove(ctx context.Context, orgID, endpointID string, left []Departure) {
	told := make([]string, 0, len(left))
	for _, d := range left {
		told = append(told, d.Role+" from "+named(d.From)+" to "+named(d.To))
	}
	logx.Add(ctx, slog.String("event", "portal_moved"), slog.String("org_id", orgID),
		slog.String("endpoint_id", endpointID),
		slog.String("departures", strings.Join(told, ", ")))
	logx.Measure(ctx, metric.Count(metric.PortalsMoved, ""))
}

// named is an origin or an issuer as it may be told: an issuer is any text that a portal likes.
func named(place string) string {
	place, _, _ = strings.Cut(place, "?")
	place, _, _ = strings.Cut(place, "#")
	place = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || r == ',' {
			return '_'
		}
		return r
	}, place[:min(len(place), maxNamed)])
	if place == "" {
		return "none"
	}
	return place
}
