package main

import (
	"context"
	"flag"

	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/org"
)

func liveAccessCommands() []command {
	return []command{
		{
			name: "organisation requests", declare: listLiveRequests,
			help: "Lists requests for live mode, with similar organisations",
		},
		{
			name: "organisation approve", flags: "-org ID [-compared]", needs: []string{"org"}, declare: approveLive,
			help: "Grants an organisation live mode",
		},
		{
			name: "organisation refuse", flags: "-org ID -reason TEXT", needs: []string{"org", "reason"}, declare: refuseLive,
			help: "Refuses an organisation's request for live mode",
		},
		{
			name: "organisation withdraw", flags: "-org ID -reason TEXT", needs: []string{"org", "reason"},
			declare: withdrawLive,
			help:    "Withdraws an organisation's live mode",
		},
	}
}

func listLiveRequests(*flag.FlagSet) action {
	return func(ctx context.Context, s session) (any, error) {
		waiting, err := s.LiveReviews.List(ctx)
		rows := make([]map[string]any, 0, len(waiting))
		for _, w := range waiting {
			row := organisationShown(w.Organisation)
			checks := map[string]bool{}
			for _, c := range w.Checks {
				checks[string(c.Step)] = c.Done
			}
			row["checklist"], row["looks_like"] = checks, alikeShown(w.Alike)
			rows = append(rows, row)
		}
		return rows, err
	}
}

func alikeShown(all []operator.Alike) []map[string]any {
	rows := make([]map[string]any, 0, len(all))
	for _, a := range all {
		row := map[string]any{"name": a.Name, "by": a.Ways}
		if a.BrandID == "" {
			row["organisation"] = a.OrgID
		} else {
			row["brand"], row["mode"] = a.BrandID, a.Mode
		}
		rows = append(rows, row)
	}
	return rows
}

func approveLive(flags *flag.FlagSet) action {
	compared := flags.Bool("compared", false,
		"approve the request despite similar organisations; compare the organisations first (organisation requests)")
	return forOrganisation(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		return decidedShown(s.LiveReviews.Approve(ctx, tenant, *compared))
	})
}

func refuseLive(flags *flag.FlagSet) action {
	reason := flags.String("reason", "", "`text` that the organisation's members see in the dashboard")
	return forOrganisation(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		return decidedShown(s.LiveReviews.Refuse(ctx, tenant, *reason))
	})
}

func withdrawLive(flags *flag.FlagSet) action {
	reason := flags.String("reason", "", "`text` that the organisation's members see in the dashboard")
	return forOrganisation(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		return decidedShown(s.LiveReviews.Withdraw(ctx, tenant, *reason))
	})
}

func decidedShown(o org.Organisation, err error) (any, error) {
	return map[string]any{"org": o.ID, "name": o.Name, "live_access": o.LiveAccess}, err
}
