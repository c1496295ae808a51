package probe

import (
	"fmt"
	"slices"
	"strings"

	"recordbridge/shared/connect/flow"
	"recordbridge/shared/fhir"
)

// checkCoverage fails if a sign-in would not request the Patient, without which no export succeeds, or a third of the
// US Core types that the server lists. If scopes are chosen at registration, only the health system knows what is
// covered.
func (t *conformance) checkCoverage() {
	asked := fhir.ParseScopes(t.attempt.Scope)
	if !asked.Any() {
		return
	}
	action := "Name them in the scopes: registration set … -scope, or endpoint override … 'authorize: {wildcard: false, " +
		"types: […]}'."
	if !slices.Contains(t.stated.Scopes, "patient/*.rs") && !slices.Contains(t.stated.Scopes, "patient/*.read") &&
		len(t.stated.Scopes) > 0 {
		action = "Ask the health system to offer their scopes to patients' apps and to list them. " + action
	}
	if !asked.Allows("Patient", fhir.Read) {
		t.add(Scopes, Failed, exchange{},
			"Patient is not covered by what would be requested: every export would fail (scope_patient_missing).", action)
		return
	}
	var offered int
	var lacking []string
	for _, name := range fhir.USCoreTypes() {
		if !slices.ContainsFunc(t.capability.Resources, func(r fhir.CapabilityResource) bool { return r.Type == name }) {
			continue
		}
		offered++
		if !asked.Allows(name, fhir.Search) {
			lacking = append(lacking, name)
		}
	}
	if len(lacking) > 0 && 3*len(lacking) >= offered {
		t.add(Scopes, Failed, exchange{}, fmt.Sprintf(
			"What would be requested does not cover %d of the %d US Core types that the server has: %s. Exports would lack "+
				"them (not_requested).",
			len(lacking), offered, listed(lacking)), action)
	}
	t.checkDropped()
	if _, query, _ := strings.Cut(t.address, "?"); len(query) > flow.MaxQuery {
		t.add(Scopes, Warning, exchange{}, fmt.Sprintf(
			"The query of the authorization request has %d bytes; some servers refuse more than %d.", len(query), flow.MaxQuery),
			"Name fewer scopes, or the wildcard: registration set … -scope.")
	}
}

// checkDropped warns if a sign-in would request fewer types than the server lists because the request would be too
// long (flow.MaxQuery). The action has the whole list, since some portals accept a longer request.
func (t *conformance) checkDropped() {
	profile, err := t.Platforms.Profile(t.endpoint, t.authority)
	if err != nil || !profile.Listed || t.used.Registration.Scope != "" {
		return
	}
	requested := strings.Fields(t.attempt.Scope)
	var dropped []string
	for scope := range strings.FieldsSeq(profile.Scope) {
		if !slices.Contains(requested, scope) {
			dropped = append(dropped, scope)
		}
	}
	if len(dropped) > 0 {
		t.add(Scopes, Warning, exchange{}, fmt.Sprintf(
			"These scopes are not requested because the query would be longer than %d bytes: %s. Exports will lack their "+
				"types (not_requested).",
			flow.MaxQuery, listed(dropped)), "If the portal accepts longer requests: registration set … -scope '"+
			profile.Scope+"'.")
	}
}
