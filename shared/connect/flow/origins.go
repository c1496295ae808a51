package flow

import (
	"context"

	"recordbridge/shared/catalog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Addresses returns the addresses of a discovery that are compared with an endpoint's pins.
func (a Authority) Addresses() catalog.Addresses {
	return catalog.Addresses{
		Issuer: a.Issuer, Authorization: a.AuthorizationEndpoint, Token: a.TokenEndpoint, Keys: a.KeySet,
		Userinfo:   a.Userinfo,
		Revocation: a.Revocation, Introspection: a.Introspection,
	}
}

// checkOrigins refuses a discovery that names other places than the endpoint's pins, or without any others than those
// that nobody needs to approve; and one that names us. Whoever could have a code, a verifier, a secret or a token
// sent elsewhere could use them there (RFC 9700 section 4.4). A substitute that leaves the issuer out is trouble of
// the portal, and no move.
func (s Preparation) checkOrigins(ctx context.Context, tenant org.Tenant, e catalog.Endpoint, authority Authority,
	known []string,
) error {
	named := authority.Addresses()
	var left []catalog.Departure
	if e.Pins == (catalog.Pins{}) {
		left = named.Abroad(e.FHIRBase, known)
	} else {
		left = e.Pins.Departures(named)
	}
	left = append(left, catalog.Ours(s.BaseURL, e, named)...)
	if len(left) == 0 {
		return nil
	}
	if authority.Substitute && len(left) == 1 && left[0].Role == "issuer" && left[0].To == "" {
		return fault.New(fault.Unavailable, fault.CodeUnavailable,
			"The health system did not respond. Please try again later.")
	}
	catalog.ReportMove(ctx, tenant.OrgID, e.ID, left)
	moved := fault.Spot{Step: fault.StepDiscovery, Host: fault.HostOf(e.FHIRBase), Class: causePortalMoved}
	return failed(causePortalMoved, moved.Failed(errAnswer))
}
