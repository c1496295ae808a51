package flow

import (
	"context"

	"recordbridge/shared/catalog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Addresses returns the discovered URLs to compare with an endpoint's pins.
func (a Authority) Addresses() catalog.Addresses {
	return catalog.Addresses{
		Issuer: a.Issuer, Authorization: a.AuthorizationEndpoint, Token: a.TokenEndpoint, Keys: a.KeySet,
		Userinfo:   a.Userinfo,
		Revocation: a.Revocation, Introspection: a.Introspection,
	}
}

// checkOrigins rejects a discovery that contains an origin other than those to which the endpoint is pinned. If the
// endpoint has no pins, checkOrigins rejects any origin that requires approval. checkOrigins also rejects a discovery
// that names Recordbridge itself. Without this check, a code, verifier, secret or token could be sent to the wrong
// origin (RFC 9700 section 4.4). A substitute discovery that omits the issuer counts as a portal failure, not as a
// change of origin.
func (s Preparation) checkOrigins(ctx context.Context, tenant org.Tenant, e catalog.Endpoint, authority Authority,
	known []string,
) error {
	named := authority.Addresses()
	var left []catalog.Departure
	if e.Pins == (catalog.Pins{}) {
		left = named.Untrusted(e.FHIRBase, known)
	} else {
		left = e.Pins.Departures(named)
	}
	left = append(left, catalog.OwnURLs(s.BaseURL, e, named)...)
	if len(left) == 0 {
		return nil
	}
	if authority.Substitute && len(left) == 1 && left[0].Role == "issuer" && left[0].To == "" {
		return unavailable(fault.New(fault.Unavailable, fault.CodeUnavailable,
			"The health system did not respond. Please try again later."))
	}
	catalog.ReportMove(ctx, tenant.OrgID, e.ID, left)
	moved := fault.Spot{Step: fault.StepDiscovery, Host: fault.HostOf(e.FHIRBase), Class: causePortalMoved}
	return failed(causePortalMoved, moved.Failed(errAnswer))
}
