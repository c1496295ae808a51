package operator

import (
	"context"
	"slices"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/words/org"
)

// Approve repeats discovery on an endpoint's server. If the operator has named every change, it pins the current URLs.
// If an endpoint has never been pinned, URLs at the vendor's origins or the FHIR base URL's origin need not be named.
// Approve returns the changes, if any. The error is fault.NotFound, fault.Conflict or a fault.Invalid that lists the
// unnamed changes. If the server misbehaves, it is fault.Upstream or fault.Unavailable.
func (o Endpoints) Approve(ctx context.Context, id string, approved Approval) ([]catalog.Departure, error) {
	if err := approved.check(); err != nil {
		return nil, err
	}
	e, err := findEndpoint(ctx, o.rows, id)
	if err != nil {
		return nil, err
	}
	seen, err := look(ctx, o.servers, e.FHIRBase)
	if err != nil {
		return nil, err
	}
	if err := o.checkForeign(e, seen.Addresses); err != nil {
		return nil, err
	}
	moved := e.Pins.Departures(seen.Addresses)
	toName := moved
	if e.Pins == (catalog.Pins{}) {
		platforms, err := platform.NewRegistry()
		if err != nil {
			return nil, err
		}
		toName = seen.Addresses.Untrusted(e.FHIRBase, platforms.Of(e).Origins(e.FHIRBase))
	}
	if unnamed := approved.unnamed(toName); len(unnamed) > 0 {
		return nil, unapproved(unnamed)
	}
	now := catalog.PinsOf(seen.Addresses)
	if now == e.Pins {
		return nil, nil
	}
	changes := slices.Concat(moved, dropped(e.Pins, now, moved))
	e.Pins = now
	if err := o.rows.SaveEndpoint(ctx, e); err != nil {
		return nil, changed("endpoint", err)
	}
	for _, change := range changes {
		if err := o.by.record(ctx, org.Tenant{}, "endpoint.approved", id+" "+change.Role+" "+change.To); err != nil {
			return nil, err
		}
	}
	return changes, nil
}

// Pinned returns the pinned URLs of an endpoint, by role.
func Pinned(p catalog.Pins) []catalog.Departure {
	return []catalog.Departure{
		{Role: "issuer", From: p.Issuer},
		{Role: "authorization", From: p.Authorization},
		{Role: "token", From: p.Token},
		{Role: "keys", From: p.Keys},
		{Role: "revocation", From: p.Revocation},
		{Role: "introspection", From: p.Introspection},
	}
}

// dropped returns the roles that the server no longer has, excluding roles whose URL changed.
func dropped(before, now catalog.Pins, moved []catalog.Departure) []catalog.Departure {
	kept := Pinned(now)
	var gone []catalog.Departure
	for i, was := range Pinned(before) {
		listed := slices.ContainsFunc(moved, func(d catalog.Departure) bool { return d.Role == was.Role })
		if was.From != "" && kept[i].From == "" && !listed {
			gone = append(gone, was)
		}
	}
	return gone
}
