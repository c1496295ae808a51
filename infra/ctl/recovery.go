package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/org"
)

func restoreCommands() []command {
	return []command{{
		name: "restore tokens", confirms: true, flags: ofTenant + " -table TABLE -moment TIME [-apply]",
		help:  "Restores lost token sets from a restored table, except token sets that may have been used since",
		needs: []string{"org", "table", "moment"}, declare: restoreTokens,
	}}
}

func restoreTokens(flags *flag.FlagSet) action {
	table := flags.String("table", "", "`name` of the table that DynamoDB restored")
	moment := timeFlag(flags, "moment", "`time` to which the table was restored")
	isMeant := flags.Bool("apply", false, "restore the token sets; without this flag, nothing changes and the plan is "+
		"printed")
	return forTenant(flags, seekConnection(new("")), func(ctx context.Context, s session, tenant org.Tenant) (any,
		error,
	) {
		rows, err := wiring.Restore(ctx, s.stack.Config, s.stack.Outputs, *table)
		if err != nil {
			return nil, fmt.Errorf("-table: %w", err)
		}
		if *isMeant {
			if err = s.confirmRestore(ctx, rows, tenant, *moment); err != nil {
				return nil, err
			}
		}
		done, err := s.Restores.Tokens(ctx, rows, tenant, *moment, *isMeant)
		shown := restoredShown(done, *isMeant)
		if err != nil {
			return nil, &unfinishedError{result: shown, cause: err}
		}
		return shown, nil
	})
}

// confirmRestore asks whether to restore token sets, and states the plan.
func (s session) confirmRestore(
	ctx context.Context, rows operator.TokenRows, tenant org.Tenant, moment time.Time,
) error {
	if s.yes {
		return nil
	}
	plan, err := s.Restores.Tokens(ctx, rows, tenant, moment, false)
	if err != nil {
		return err
	}
	return s.confirm("This restores the token sets of %d connections of %s in %s mode, and permanently ends %d "+
		"connections whose patients must reconnect.", len(plan.Restored), tenant.OrgID, tenant.Mode, len(plan.Ended))
}

func restoredShown(done operator.Restored, isMeant bool) map[string]any {
	return map[string]any{
		"applied": isMeant, "kept": done.Kept, "restored": append([]string{}, done.Restored...),
		"ended": append([]string{}, done.Ended...),
	}
}

func resealCommands() []command {
	return []command{{
		name: "reseal", flags: "[-apply]", declare: reseal,
		help: "Re-encrypts webhooks' secrets, keys and headers, and client secrets, with the current version of " +
			"SecretsKey",
	}}
}

func reseal(flags *flag.FlagSet) action {
	isMeant := flags.Bool("apply", false, "make the changes; without this flag, nothing changes")
	return func(ctx context.Context, s session) (any, error) {
		if !*isMeant {
			return nil, misused("reseal changes every webhook and client that has a secret; to confirm, use -apply")
		}
		done, err := s.Reseals.All(ctx)
		if err != nil {
			return nil, &unfinishedError{result: done, cause: err}
		}
		return done, nil
	}
}
