package main

import (
	"context"
	"fmt"

	"recordbridge/infra/ctl/explain"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// names looks up the names of organisations and endpoints in the stack. The stack is opened on the first lookup,
// because it may still be starting. Each name is looked up only once.
type names struct {
	session session
	isTried bool
	known   map[string]string // names by ID; "" if the stack has no name for the ID
}

// add adds the names of the objects whose IDs an explanation contains. If a lookup fails, add omits the name and
// reports the failure.
func (n *names) add(ctx context.Context, told explain.Explanation) {
	orgID, isTenant := ids.ParseUUID(told.Whose["org_id"])
	mode, isMode := org.ParseMode(told.Whose["mode"])
	tenant := org.Tenant{Mode: mode, OrgID: orgID}
	endpoint, isEndpoint := ids.ParseUUID(told.Where["endpoint_id"])
	if isTenant = isTenant && isMode; !isTenant && !isEndpoint || !n.openStack(ctx) {
		return
	}
	if isTenant {
		n.put(told.Whose, "organisation", tenant.OrgID, func() (string, error) {
			found, err := n.session.Organisations.Show(ctx, tenant)
			return found.Name, err
		})
	}
	if isEndpoint {
		n.put(told.Where, "endpoint", endpoint, func() (string, error) {
			found, err := n.session.Endpoints.Show(ctx, endpoint)
			return found.Name, err
		})
	}
}

// openStack opens the stack on first use and reports whether it is available.
func (n *names) openStack(ctx context.Context) bool {
	if n.isTried {
		return n.session.Operator != nil
	}
	n.isTried = true
	opened, err := n.session.open(ctx)
	if err != nil {
		fmt.Fprintf(n.session.said, "ctl: names are omitted: %v\n", err)
		return false
	}
	n.session = opened
	return true
}

func (n *names) put(beside map[string]string, kind, id string, ask func() (string, error)) {
	name, isKnown := n.known[id]
	if !isKnown {
		var err error
		if name, err = ask(); err != nil {
			fmt.Fprintf(n.session.said, "ctl: the name of %s %s is omitted: %v\n", kind, id, err)
		}
		n.known[id] = name
	}
	if name != "" {
		beside[kind] = name
	}
}
