package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/shared/catalog/health"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
)

// failingFor defines when doctor reports a failing webhook. Redeploying a receiver can cause several minutes
// of failures.
const failingFor = time.Hour

func checkWebhooks(ctx context.Context, s session) []finding {
	all, err := s.Organisations.List(ctx)
	if err != nil {
		return []finding{amiss("See docs/operate/runbooks/tables.md.", "Organisations can't be listed: %v.", err)}
	}
	var found []finding
	count := 0
	for _, owner := range all {
		webhooks, err := s.Webhooks.List(ctx, owner.Tenant)
		if err != nil {
			found = append(found, amiss("See docs/operate/runbooks/tables.md.", "The webhooks of %s in %s mode can't be "+
				"read: %v.",
				owner.Tenant.OrgID, owner.Tenant.Mode, err))
			continue
		}
		for _, w := range webhooks {
			count++
			of := fmt.Sprintf("-org %s -mode %s -id %s", owner.Tenant.OrgID, owner.Tenant.Mode, w.ID)
			switch {
			case w.Disabled:
				found = append(found, amiss("Notify the organisation, then run ctl webhook enable "+of+".",
					"Webhook %s was disabled at %s: %s.", w.ID, w.DisabledAt.Format(time.RFC3339), w.DisabledFor))
			case w.Health.Failures > 0 && time.Since(w.Health.FailingSince) > failingFor:
				found = append(found, amiss("Run ctl webhook log "+of+".", "Webhook %s has been failing since %s, %d "+
					"times.", w.ID,
					w.Health.FailingSince.Format(time.RFC3339), w.Health.Failures))
			}
		}
	}
	if len(found) == 0 {
		return []finding{fine("No webhook is failing or disabled (%d in total).", count)}
	}
	return found
}

func checkInstitutions(ctx context.Context, s session) []finding {
	var found []finding
	for _, mode := range []string{"test", "live"} {
		report, err := s.EndpointHealth.Report(ctx, mode, operator.HealthQuestion{})
		switch {
		case errors.Is(err, fault.NotFound), err == nil && len(report.States) == 0:
			found = append(found, notInspected("To let patients find institutions, run ctl catalog publish.",
				"No catalogue is published in %s mode.", mode))
		case err != nil:
			found = append(found, amiss("See docs/operate/runbooks/tables.md.",
				"The health of endpoints in %s mode can't be read: %v.", mode, err))
		case report.States[health.Down] > 0:
			found = append(found, amiss("Run ctl catalog health -mode "+mode+" -state down.",
				"%d endpoints in %s mode are down.", report.States[health.Down], mode))
		default:
			found = append(found, fine("No endpoint in %s mode is down.", mode))
		}
	}
	return found
}

// checkAudit verifies every audit chain and reports the chain heads. Operators should store the chain heads in a safe
// place.
func checkAudit(ctx context.Context, s session) []finding {
	all, err := s.Organisations.List(ctx)
	if err != nil {
		return []finding{amiss("See docs/operate/runbooks/tables.md.", "Organisations can't be listed: %v.", err)}
	}
	chains := []string{""}
	for _, owner := range all {
		if !slices.Contains(chains, owner.Tenant.OrgID) {
			chains = append(chains, owner.Tenant.OrgID)
		}
	}
	log, found := wiring.AuditLog(s.stack.Config, s.stack.Outputs), make([]finding, 0, len(chains))
	for _, id := range chains {
		name, flags := "shared resources", ""
		if id != "" {
			name, flags = id, " -org "+id
		}
		report, err := log.Verify(ctx, id)
		switch {
		case err != nil:
			found = append(found, amiss("See docs/operate/runbooks/tables.md.", "The audit rows of %s can't be read: "+
				"%v.", name, err))
		case !report.IsIntact():
			found = append(found, amiss("Run ctl audit verify"+flags+", then see docs/operate/audit.md, Broken chain.",
				"The audit chain of %s is broken at row %d: %s.", name, report.Breaks[0].Seq, report.Breaks[0].What))
		case report.Head.Seq == 0:
			found = append(found, fine("The audit chain of %s has no rows.", name))
		default:
			found = append(found, fine("The audit chain of %s is intact. Save the chain's head %d:%s.", name, report.Head.Seq,
				report.Head.Hash))
		}
	}
	return found
}
