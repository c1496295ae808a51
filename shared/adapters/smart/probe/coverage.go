package probe

import (
	"fmt"
	"slices"
	"strings"

	"recordbridge/shared/connect/flow"
	"recordbridge/shared/fhir"
)

// checkCoverage fails if a sign-in would not request Patient, because no export succeeds without it, or if it would
// request fewer than a third of the US Core types that the server lists. If scopes are chosen at registration, only the
// health system knows which types are covered.
func (t *conformance) checkCoverage() {
	asked := fhir.ParseScopes(t.attempt.Scope)
	if !asked.Any() {
		return
	}
	action := "List the types in the scopes: registration set … -scope, or endpoint set -override … 'authorize: " +
		"{wildcard: false, types: […]}'."
	if !slices.Contains(t.stated.Scopes, "patient/*.rs") && !slices.Contains(t.stated.Scopes, "patient/*.read") &&
		len(t.stated.Scopes) > 0 {
		action = "Ask the health system to offer and list these scopes for patient-facing apps. " + action
	}
	if !asked.Allows("Patient", fhir.Read) {
		t.add(Scopes, Failed, exchange{},
			"The requested scopes don't cover Patient, so every export would fail (scope_patient_missing).", action)
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
			"The requested scopes don't cover %d of the server's %d US Core types: %s. Exports would omit them "+
				"(not_requested).",
			len(lacking), offered, listed(lacking)), action)
	}
	t.checkDropped()
	if _, query, _ := strings.Cut(t.address, "?"); len(query) > flow.MaxQuery {
		t.add(Scopes, Warning, exchange{}, fmt.Sprintf(
			"The authorization request's query string has %d bytes; some servers reject more than "+
				"%d.", len(query), flow.MaxQuery),
			"Request fewer scopes, or use the wildcard: registration set … -scope.")
	}
}

// checkDropped warns if a sign-in would omit some of the server's listed types to keep the request within
// flow.MaxQuery. The recommended action contains the complete list because some portals accept a longer request.
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
			"These scopes are not requested, to keep the query string within %d bytes: %s. Exports will omit their "+
				"types (not_requested).",
			flow.MaxQuery, listed(dropped)), "If the portal accepts longer requests: registration set … -scope '"+
			profile.Scope+"'.")
	}
}
