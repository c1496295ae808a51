package main

import (
	"context"
	"flag"

	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/manage/operator"
)

func catalogHealthCommands() []command {
	return []command{{
		name: "catalog health", flags: "-mode test|live [-state ok|degraded|down|unknown] [-abroad] [-bundles] [-limit N]",
		declare: showEndpointHealth,
		help: "Shows the health of the catalogue's endpoints by state and cause; lists endpoints in one state, " +
			"endpoints whose discovery names unapproved origins, and bundles that endpoints name but no source fetches",
	}}
}

// healthShown and mostHealthShown are the default and maximum number of endpoints to print.
const (
	healthShown     = 50
	mostHealthShown = 100
)

func showEndpointHealth(flags *flag.FlagSet) action {
	moded := modeFlag(flags)
	state := flags.String("state", "", "list the endpoints in this `state`: ok, degraded, down or unknown")
	abroad := flags.Bool("abroad", false, "list the endpoints whose discovery names unapproved origins")
	bundles := flags.Bool("bundles", false,
		"list the bundles that endpoints publish about their institutions and that are not yet a source")
	limit := flags.Int("limit", healthShown, "maximum number of endpoints to list, longest in their state first")
	return func(ctx context.Context, s session) (any, error) {
		if *limit < 1 || *limit > mostHealthShown {
			return nil, misused("-limit must be from 1 to %d", mostHealthShown)
		}
		mode, err := moded(ctx, s)
		if err != nil {
			return nil, err
		}
		report, err := s.EndpointHealth.Report(ctx, mode,
			operator.HealthQuestion{State: health.State(*state), Departures: *abroad, Bundles: *bundles})
		shown := map[string]any{
			"mode": mode, "states": report.States, "causes": report.Causes,
			"summary": report.Summary.Version,
		}
		addTime(shown, "summary_made_at", report.Summary.MadeAt)
		if *state != "" {
			shown["endpoints"] = endpointHealthShown(report.Endpoints, *limit)
		}
		if *abroad {
			shown["abroad"] = departuresShown(report.Departures, *limit)
		}
		if *bundles {
			shown["bundles"] = bundlesShown(mode, report.Bundles, *limit)
		}
		return shown, err
	}
}

func endpointHealthShown(all []operator.EndpointHealthRow, limit int) []map[string]any {
	rows := make([]map[string]any, 0, min(len(all), limit))
	for _, f := range all[:min(len(all), limit)] {
		row := endpointNamed(f.Endpoint)
		row["state"], row["class"], row["failures"] = f.Record.State, f.Record.Cause, f.Record.Failures
		addTime(row, "since", f.Record.Since)
		addTime(row, "checked_at", f.Record.CheckedAt)
		addTime(row, "next_at", f.Record.NextAt)
		rows = append(rows, row)
	}
	return rows
}

func departuresShown(all []operator.EndpointDepartures, limit int) []map[string]any {
	rows := make([]map[string]any, 0, min(len(all), limit))
	for _, s := range all[:min(len(all), limit)] {
		row, to := endpointNamed(s.Endpoint), map[string]string{}
		for _, d := range s.To {
			to[d.Role] = d.To
		}
		row["abroad"], row["approve"] = to, "endpoint approve -id "+s.Endpoint.ID
		rows = append(rows, row)
	}
	return rows
}

// bundlesShown returns the printed form of bundles, each with its first endpoint. The service doesn't fetch a bundle
// until an operator creates a source for it.
func bundlesShown(mode string, all []operator.Bundle, limit int) []map[string]any {
	rows := make([]map[string]any, 0, min(len(all), limit))
	for _, b := range all[:min(len(all), limit)] {
		row := endpointNamed(b.Endpoints[0])
		row["bundle"], row["endpoints"] = b.Address, len(b.Endpoints)
		row["do"] = "check the bundle, then: catalog source set -id ID -mode " + mode +
			" -format brands -url URL -brand-system URI -brand VALUE"
		rows = append(rows, row)
	}
	return rows
}

func endpointNamed(e record.Endpoint) map[string]any {
	return map[string]any{"endpoint_id": e.ID, "name": e.Name, "fhir_base": e.FHIRBase, "platform_type": e.PlatformType}
}
