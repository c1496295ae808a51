package catalog

import (
	"context"
	"log/slog"
	"strings"

	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

// maxNamed is the maximum length, in bytes, of an origin or issuer in a report.
const maxNamed = 200

// ReportMove reports a rejected discovery to the operator. ReportMove adds the organisation, the endpoint and the
// changed URLs to the log line for the unit of work in ctx. An alarm counts these reports
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

// named makes an origin or issuer safe to log. A portal can use any text as its issuer.
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
