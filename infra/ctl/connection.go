package main

import (
	"context"
	"flag"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

func connectionCommands() []command {
	return []command{
		{
			name: "connection list", help: "Lists an organisation's connections, newest first", needs: []string{"org"},
			declare: listConnections,
			flags:   ofTenant + " [-external-id ID] [-endpoint ID] [-status STATUS] [-after POSITION] [-limit N]",
		},
		{
			name: "connection show", flags: ofTenant + " -id ID", help: "Shows a connection's status and its latest " +
				"exports",
			needs: []string{"org", "id"}, declare: showConnection,
		},
		{
			name: "connection index", flags: ofTenant, needs: []string{"org"}, declare: indexConnections,
			help: "Indexes connections that release 0.1.0 created, so that the dashboard's filters find them quickly",
		},
		{
			name: "connection purge", confirms: true, flags: ofTenant + " -id ID [-apply]", needs: []string{"org", "id"},
			declare: purgeConnection,
			help:    "Erases a connection with all its data and verifies the erasure; run the command again to see the progress",
		},
	}
}

// pagingFlags adds the flags for paging through a list. Call the returned function after parsing the flags.
func pagingFlags(flags *flag.FlagSet) func() (operator.Paging, error) {
	var p operator.Paging
	flags.StringVar(&p.After, "after", "", "continue after this `position`, which is next on the previous page")
	flags.IntVar(&p.Limit, "limit", 0, "page size, 1 to 100 (default 50)")
	return func() (operator.Paging, error) {
		if given(flags, "limit") && p.Limit == 0 {
			return p, misused("-limit must be from 1 to 100")
		}
		return p, nil
	}
}

func listConnections(flags *flag.FlagSet) action {
	var q operator.ConnectionQuery
	flags.StringVar(&q.ExternalID, "external-id", "",
		"only connections whose last authorisation had this external `id`")
	flags.StringVar(&q.EndpointID, "endpoint", "", "only connections to the endpoint with this `id`")
	flags.StringVar((*string)(&q.Status), "status", "", "only connections with this status: `authorized`, revoked or "+
		"rejected")
	paging := pagingFlags(flags)
	return forTenant(flags, seekConnection(new("")), func(ctx context.Context, s session, tenant org.Tenant) (any,
		error,
	) {
		var err error
		if q.Paging, err = paging(); err != nil {
			return nil, err
		}
		page, err := s.Connections.List(ctx, tenant, q)
		rows := make([]map[string]any, 0, len(page.Connections))
		for _, c := range page.Connections {
			rows = append(rows, connectionShown(c))
		}
		return map[string]any{"connections": rows, "next": page.Next}, err
	})
}

func showConnection(flags *flag.FlagSet) action {
	id := flags.String("id", "", "connection `id` (org_connection_id)")
	return forTenant(flags, seekConnection(id), func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		c, err := s.Connections.Show(ctx, tenant, *id)
		if err != nil {
			return nil, err
		}
		exports := make([]map[string]any, 0, len(c.Exports))
		for _, e := range c.Exports {
			exports = append(exports, exportListed(e))
		}
		shown := connectionShown(c)
		shown["exports"] = exports
		return shown, nil
	})
}

func indexConnections(flags *flag.FlagSet) action {
	return forTenant(flags, seekConnection(new("")), func(ctx context.Context, s session, tenant org.Tenant) (any,
		error,
	) {
		count, err := s.Indexes.Index(ctx, tenant)
		return map[string]any{"indexed": count}, err
	})
}

func purgeConnection(flags *flag.FlagSet) action {
	id := flags.String("id", "", "connection `id` (org_connection_id)")
	isMeant := flags.Bool("apply", false, "erase the connection; without this flag, nothing changes and an earlier "+
		"request's status is printed")
	return forTenant(flags, seekConnection(id), func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		ask := s.Erasures.Show
		if *isMeant {
			if err := s.confirmPurge(ctx, tenant, *id); err != nil {
				return nil, err
			}
			ask = s.Erasures.Request
		}
		e, err := ask(ctx, tenant, *id)
		if err != nil {
			return nil, err
		}
		shown := map[string]any{
			"erasure_id": e.ID, "stage": e.Stage, "asked_by": e.Actor, "requested_at": e.RequestedAt,
			"removed": e.Counts,
		}
		if e.Portal != "" {
			shown["portal"] = e.Portal
		}
		addTime(shown, "finished_at", e.FinishedAt)
		return shown, nil
	})
}

// confirmPurge asks before a connection is erased, unless its erasure was already requested.
func (s session) confirmPurge(ctx context.Context, tenant org.Tenant, id string) error {
	if _, err := s.Erasures.Show(ctx, tenant, id); err == nil {
		return nil
	}
	c, err := s.Connections.Show(ctx, tenant, id)
	if err != nil {
		return err
	}
	return s.confirm("This permanently erases connection %s of %s in %s mode at %q, with its tokens and all its exports "+
		"(%d recent).", id, tenant.OrgID, tenant.Mode, c.Endpoint, len(c.Exports))
}

// connectionShown returns a connection's printed form, without encrypted values or patient data.
func connectionShown(c operator.Connection) map[string]any {
	shown := map[string]any{
		"id": c.ID, "org_id": c.Tenant.OrgID, "organisation": c.Organisation, "mode": c.Tenant.Mode, "status": c.Status,
		"endpoint_id": c.EndpointID, "endpoint": c.Endpoint, "platform_type": c.PlatformType,
		"generation": c.Generation, "do": c.Do,
	}
	addTime(shown, "created_at", c.CreatedAt)
	addTime(shown, "consent_expires_at", c.ConsentExpiresAt)
	addDamage(shown, c.Damaged)
	r := c.Refresh
	if c.Status == connection.Revoked {
		shown["ended"] = r.Ended
		addTime(shown, "ended_at", r.EndedAt)
		addTime(shown, "revoking_upstream_until", r.UpstreamUntil)
	}
	if c.Status == connection.Authorized {
		state := map[string]any{"failures": r.Failures}
		addTime(state, "due_at", c.DueAt())
		addTime(state, "renewed_at", r.RenewedAt)
		addTime(state, "refused_at", r.RefusedAt)
		if r.FailureClass != "" {
			state["failure_class"] = r.FailureClass
		}
		if r.Unrenewable {
			addTime(state, "access_expires_at", r.RefreshAt)
		}
		shown["refresh"] = state
	}
	return shown
}

func addTime(into map[string]any, name string, at time.Time) {
	if !at.IsZero() {
		into[name] = at
	}
}

// addDamage adds the names of unreadable attributes to a row's printed form.
func addDamage(into map[string]any, damaged []fault.Spot) {
	rows := make([]map[string]string, 0, len(damaged))
	for _, at := range damaged {
		rows = append(rows, map[string]string{"row": at.Row, "operation": at.Operation, "attribute": at.Attribute})
	}
	if len(rows) > 0 {
		into["damaged"] = rows
	}
}
