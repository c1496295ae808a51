package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/org"
)

// mostInspected bounds the connections that are read of each organisation and mode: each is a read of its own.
const mostInspected = 5000

// checkPatients counts connections whose portal named no patient, by endpoint. Such a sign-in fails by now, so that
// there are no new ones.
func checkPatients(ctx context.Context, s session) []finding {
	all, err := s.Organisations.List(ctx)
	if err != nil {
		return []finding{amiss("docs/runbooks/tables.md.", "Organisations cannot be listed: %v.", err)}
	}
	var found []finding
	total := 0
	for _, owner := range all {
		unnamed, count, isCut, err := unnamedOf(ctx, s, owner.Tenant)
		total += count
		if err != nil {
			found = append(found, amiss("docs/runbooks/tables.md.", "The connections of %s in %s mode cannot be read: %v.",
				owner.Tenant.OrgID, owner.Tenant.Mode, err))
			continue
		}
		of := fmt.Sprintf("-org %s -mode %s", owner.Tenant.OrgID, owner.Tenant.Mode)
		for _, endpoint := range slices.Sorted(maps.Keys(unnamed)) {
			one := unnamed[endpoint]
			found = append(found, amiss("ctl connection show "+of+" -id "+one[0]+".",
				"%d connections of %s in %s mode at endpoint %s have no patient, the latest is %s: no export of them can succeed.",
				len(one), owner.Tenant.OrgID, owner.Tenant.Mode, endpoint, one[0]))
		}
		if isCut {
			found = append(found, unseen("ctl connection list "+of+".", "Connections of %s in %s mode beyond the latest %d.",
				owner.Tenant.OrgID, owner.Tenant.Mode, mostInspected))
		}
	}
	if len(found) == 0 {
		return []finding{fine("%d authorized connections, each with a patient.", total)}
	}
	return found
}

// unnamedOf lists the ids of a tenant's authorized connections without a patient, newest first, by endpoint.
func unnamedOf(ctx context.Context, s session,
	tenant org.Tenant,
) (unnamed map[string][]string, count int, isCut bool, err error) {
	unnamed = map[string][]string{}
	query := operator.ConnectionQuery{Status: connection.Authorized, Paging: operator.Paging{Limit: 100}}
	for count < mostInspected {
		page, err := s.Connections.List(ctx, tenant, query)
		if err != nil {
			return nil, count, false, fmt.Errorf("list connections: %w", err)
		}
		for _, c := range page.Connections {
			count++
			if c.IsUnnamed() {
				unnamed[c.EndpointID] = append(unnamed[c.EndpointID], c.ID)
			}
		}
		if page.Next == "" {
			return unnamed, count, false, nil
		}
		query.After = page.Next
	}
	return unnamed, count, true, nil
}
