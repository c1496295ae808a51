package main

import (
	"context"
	"flag"
	"slices"

	"recordbridge/shared/export"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

func exportCommands() []command {
	return []command{
		{
			name: "export list", help: "Lists an organisation's exports, newest first", needs: []string{"org"},
			declare: listExports,
			flags:   ofTenant + " [-connection ID] [-status STATUS] [-after POSITION] [-limit N]",
		},
		{
			name: "export show", flags: ofTenant + " -id TASK", help: "Shows an export's result and the delivery of " +
				"its event",
			needs: []string{"org", "id"}, declare: showExport,
		},
	}
}

func listExports(flags *flag.FlagSet) action {
	var q operator.ExportQuery
	flags.StringVar(&q.ConnectionID, "connection", "", "only exports of the connection with this `id`")
	flags.StringVar((*string)(&q.Status), "status", "", "only exports with this status: `pending`, success or failed")
	paging := pagingFlags(flags)
	return forTenant(flags, seekExport(new("")), func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		var err error
		if q.Paging, err = paging(); err != nil {
			return nil, err
		}
		page, err := s.Exports.List(ctx, tenant, q)
		rows := make([]map[string]any, 0, len(page.Exports))
		for _, e := range page.Exports {
			rows = append(rows, exportListed(e))
		}
		return map[string]any{"exports": rows, "next": page.Next}, err
	})
}

func showExport(flags *flag.FlagSet) action {
	id := flags.String("id", "", "export `task` (task_id)")
	return forTenant(flags, seekExport(id), func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		e, err := s.Exports.Show(ctx, tenant, *id)
		if err != nil {
			return nil, err
		}
		return exportShown(e), nil
	})
}

func exportListed(e operator.Export) map[string]any {
	listed := map[string]any{"task_id": e.ID, "connection_id": e.ConnectionID, "status": e.Status}
	if e.FailureReason != "" {
		listed["reason"] = e.FailureReason
	}
	addTime(listed, "created_at", e.CreatedAt)
	addTime(listed, "ended_at", e.FinishedAt)
	addTime(listed, "next_at", e.NextAt)
	addTime(listed, "waiting_since", e.WaitingSince)
	addDamage(listed, e.Damaged)
	return listed
}

// exportShown returns the complete text printed for an export. The printed form includes counts, but never contents,
// links or file locations.
func exportShown(e operator.Export) map[string]any {
	shown := exportListed(e)
	shown["org_id"], shown["mode"], shown["do"] = e.Tenant.OrgID, e.Tenant.Mode, e.Do
	if e.Blame != "" {
		shown["caused_by"] = e.Blame
	}
	if e.Scope != (export.Scope{}) {
		shown["scope"] = e.Scope
	}
	shown["generation"], shown["failures"], shown["resends"] = e.Generation, e.Failures, e.Resends
	shown["progress"], shown["stats"] = e.Progress, e.Stats
	if len(e.Outcome) > 0 {
		shown["outcome"] = e.Outcome
	}
	isKnown := !slices.ContainsFunc(e.Damaged, func(at fault.Spot) bool { return at.Attribute == "outcome" })
	if loss := e.Shortfall(); isKnown && e.Status != export.Pending {
		shown["complete"] = e.Status == export.Success && loss.Complete == nil
		shown["missing"] = loss.Missing
	}
	files := make([]map[string]any, 0, len(e.Files))
	for _, f := range e.Files {
		files = append(files, map[string]any{"file_name": f.Name, "bytes": f.Bytes, "until": e.FilesUntil})
	}
	shown["files"] = files
	if e.EventID != "" {
		deliveries := make([]map[string]any, 0, len(e.Deliveries))
		for _, d := range e.Deliveries {
			deliveries = append(deliveries, deliveryShown(d))
		}
		shown["event_id"], shown["deliveries"] = e.EventID, deliveries
	}
	return shown
}
