package flow

import (
	"context"
	"net/url"
	"path"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/fault"
	"recordbridge/shared/org"
)

// sandboxPath is where the sandbox EHR is, behind the base URL: the only part of our own origin that is a health system.
const sandboxPath = "/sandbox"

// Addresses are what of a discovery is compared with an endpoint's pins.
func (a Authority) Addresses() catalog.Addresses {
	return catalog.Addresses{
		Issuer: a.Issuer, Authorization: a.AuthorizationEndpoint, Token: a.TokenEndpoint, Keys: a.KeySet, Userinfo: a.Userinfo,
		Revocation: a.Revocation, Introspection: a.Introspection,
	}
}

// checkOrigins refuses a discovery that names other places than the endpoint's pins, or without any others than those that
// nobody needs to approve; and one that names us. Whoever could have a code, a verifier, a secret or a token sent elsewhere
// could use them there (RFC 9700 section 4.4). A substitute that leaves the issuer out is trouble of the portal, and no move.
func (s Starter) checkOrigins(ctx context.Context, tenant org.Tenant, e catalog.Endpoint, authority Authority, known []string) error {
	named := authority.Addresses()
	var left []catalog.Departure
	if e.Pins == (catalog.Pins{}) {
		left = named.Abroad(e.FHIRBase, known)
	} else {
		left = e.Pins.Departures(named)
	}
	left = append(left, s.ours(e, named)...)
	if len(left) == 0 {
		return nil
	}
	if authority.Substitute && len(left) == 1 && left[0].Role == "issuer" && left[0].To == "" {
		return fault.New(fault.Unavailable, fault.CodeUnavailable, "The health system did not answer. Please try again later.")
	}
	catalog.ReportMove(ctx, tenant.OrgID, e.ID, left)
	return failed(causePortalMoved, nil)
}

// ours lists what of an endpoint and its discovery is at our own host. A portal that sends browsers to us opens addresses
// of ours as if we had (docs/threat-model.md, "The start address of an attempt"). Only the sandbox is there, for test mode.
func (s Starter) ours(e catalog.Endpoint, named catalog.Addresses) []catalog.Departure {
	sandbox := e.Mode == string(org.Test) && isBelow(e.FHIRBase, s.BaseURL+sandboxPath)
	var found []catalog.Departure
	for _, place := range []catalog.Departure{
		{Role: "FHIR base", To: e.FHIRBase},
		{Role: "issuer", To: named.Issuer},
		{Role: "authorization", To: named.Authorization},
		{Role: "token", To: named.Token},
		{Role: "keys", To: named.Keys},
		{Role: "userinfo", To: named.Userinfo},
		{Role: "revocation", To: named.Revocation},
		{Role: "introspection", To: named.Introspection},
	} {
		ofSandbox := sandbox && isBelow(place.To, s.BaseURL+sandboxPath)
		if sameHost(place.To, s.BaseURL) && !ofSandbox {
			place.To = catalog.Origin(place.To)
			found = append(found, place)
		}
	}
	return found
}

// sameHost reports whether two addresses lead to one server, whatever their schemes and however the host is written.
func sameHost(one, other string) bool {
	a, errA := url.Parse(one)
	b, errB := url.Parse(other)
	return errA == nil && errB == nil && a.Host != "" && hostOf(a) == hostOf(b)
}

func hostOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".") + ":" + port
}

// isBelow reports whether an address is root, or one that is below it in whichever way its path is read.
func isBelow(address, root string) bool {
	a, errA := url.Parse(address)
	r, errR := url.Parse(root)
	if errA != nil || errR != nil || catalog.Origin(address) != catalog.Origin(root) || a.EscapedPath() != a.Path || strings.Contains(a.Path, `\`) {
		return false
	}
	return path.Clean(a.Path) == strings.TrimSuffix(a.Path, "/") && strings.HasPrefix(a.Path+"/", r.Path+"/")
}
