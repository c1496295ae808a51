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
			name: "organisation live", confirms: true, needs: []string{"org"}, declare: decideLive,
			flags: "-org ID -approve [-compared]\n-org ID (-refuse | -withdraw) -reason TEXT",
			help:  "Approves or refuses an organisation's request for live mode, or withdraws live mode",
		},
	}
}

// liveRequests returns the requests for live mode, each with its checklist and with similar organisations.
func liveRequests(ctx context.Context, s session) (any, error) {
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

func decideLive(flags *flag.FlagSet) action {
	approves := flags.Bool("approve", false, "grant live mode")
	compared := flags.Bool("compared", false, "approve the request despite similar organisations; compare the "+
		"organisations first (organisation list -requests)")
	refuses := flags.Bool("refuse", false, "refuse the request for live mode")
	withdraws := flags.Bool("withdraw", false, "withdraw live mode")
	reason := flags.String("reason", "", "`text` that the organisation's members see in the dashboard")
	return forOrganisation(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		switch {
		case countGiven(flags, "approve", "refuse", "withdraw") != 1:
			return nil, misused("set one of -approve, -refuse and -withdraw")
		case *approves == (*reason != ""):
			return nil, misused("-refuse and -withdraw require -reason, which can't be combined with -approve")
		case *compared && !*approves:
			return nil, misused("-compared can be used only with -approve")
		case *approves:
			return decidedShown(s.LiveReviews.Approve(ctx, tenant, *compared))
		case *refuses:
			return decidedShown(s.LiveReviews.Refuse(ctx, tenant, *reason))
		case *withdraws:
			if err := s.confirmOrganisation(ctx, tenant, "Within 30 seconds, this ends live mode of organisation %s (%q). It "+
				"has %d credentials and %d webhooks in both modes; the live ones stop working."); err != nil {
				return nil, err
			}
			return decidedShown(s.LiveReviews.Withdraw(ctx, tenant, *reason))
		}
		return nil, misused("set one of -approve, -refuse and -withdraw")
	})
}

func decidedShown(o org.Organisation, err error) (any, error) {
	return map[string]any{"org": o.ID, "name": o.Name, "live_access": o.LiveAccess}, err
}
