package probe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

// readStatement reads the CapabilityStatement, as an export does before its first search.
func (t *conformance) readStatement(ctx context.Context) {
	document, err := smart.Metadata(ctx, t.web, t.endpoint.FHIRBase)
	seen := t.web.last
	if err == nil {
		t.capability, err = fhir.ParseCapability(document)
	}
	if err != nil {
		found, do, ok := unanswered(err)
		if !ok {
			found, do = "The CapabilityStatement can't be read: "+described(seen)+".", "Ask the health system for its "+
				"CapabilityStatement."
		}
		t.add(CapabilityStatement, Warning, seen, found+" Exports then request every known type, which takes "+
			"longer.", do)
		return
	}
	c, odd := t.capability, []string{}
	if !strings.HasPrefix(c.FHIRVersion, "4.") {
		odd = append(odd, fmt.Sprintf("Its FHIR version is %s, not R4 (4.0.1).", plain(c.FHIRVersion)))
	}
	speaksJSON := slices.ContainsFunc(c.Formats,
		func(format string) bool { return strings.Contains(strings.ToLower(format), "json") })
	if len(c.Formats) > 0 && !speaksJSON {
		odd = append(odd, "It lists the formats "+listed(c.Formats)+", but not JSON.")
	}
	if !slices.ContainsFunc(c.Resources, func(r fhir.CapabilityResource) bool { return r.Type == "Patient" }) {
		odd = append(odd, "It doesn't list Patient, which every export requires.")
	}
	if len(odd) > 0 {
		t.add(CapabilityStatement, Warning, seen, strings.Join(odd, " "),
			"Ask the health system whether this FHIR base URL is for patient-facing apps and for R4.")
		return
	}
	security := "It lists no OAuth endpoints."
	if c.OAuth.Token != "" {
		security = "It also lists OAuth endpoints (rest.security)."
	}
	t.add(CapabilityStatement, OK, seen, fmt.Sprintf("FHIR %s, %d resource types. %s", plain(c.FHIRVersion),
		len(c.Resources), security), "")
}

// findPlatform detects the platform if the endpoint does not specify one.
func (t *client) findPlatform() string {
	if t.endpoint.PlatformType != "" {
		return "Detected platform: " + t.Platforms.Of(t.endpoint).ID + "."
	}
	a := t.authority
	shown, because := t.Platforms.Detect(platform.Seen{
		FHIRBase: t.endpoint.FHIRBase, Addresses: []string{a.AuthorizationEndpoint, a.TokenEndpoint, a.Issuer},
		Software: t.capability.Software,
	})
	t.endpoint.PlatformType = shown.ID
	return "Platform that would be detected: " + shown.ID + ": " + plain(because) + "."
}

// checkPlan reports the requests that an export would make, using the same plan as an export.
func (t *conformance) checkPlan() {
	asking, err := t.Platforms.Asking(t.endpoint)
	if err != nil || len(t.capability.Resources) == 0 {
		t.skip(ResourceTypes, "There is no CapabilityStatement to plan exports from.")
		t.skip(Searches, "There is no CapabilityStatement to plan exports from.")
		return
	}
	facts := plan.Facts{Capability: t.capability, Profile: asking, PatientID: "example"}
	// If the request has no data scopes, the scopes are chosen at registration.
	if strings.Contains(t.attempt.Scope, "patient/") || strings.Contains(t.attempt.Scope, "user/") {
		facts.Granted = t.attempt.Scope
	}
	facts.Attaches, _ = t.known.AttachesProvenance(t.Now())
	made := plan.Build(facts)
	t.checkTypes(made)
	t.checkSearches(made, t.attached(facts))
}

func (t *conformance) checkTypes(made plan.Plan) {
	searched := typesOf(made)
	listedTypes := make([]string, 0, len(t.capability.Resources))
	for _, r := range t.capability.Resources {
		listedTypes = append(listedTypes, r.Type)
	}
	usual := typesOf(plan.Build(plan.Facts{Capability: fhir.Capability{FHIRVersion: t.capability.FHIRVersion}}))
	var missing, unsearched []string
	for _, name := range usual {
		switch {
		case slices.Contains(searched, name) || slices.Contains(made.Denied, name):
		case slices.Contains(listedTypes, name):
			unsearched = append(unsearched, name)
		default:
			missing = append(missing, name)
		}
	}
	found := fmt.Sprintf("An export searches %d types: %s.", len(searched), listed(searched)) +
		leftOut("listed, but without search by patient", unsearched) + leftOut("not listed by the server", missing) +
		t.tried(missing)
	switch {
	case len(searched) == 0:
		t.add(ResourceTypes, Failed, exchange{}, "An export would search no types. "+found,
			"Ask the health system which types a patient-facing app may search.")
	case len(made.Denied) > 0:
		t.add(ResourceTypes, Warning, exchange{},
			found+" Not covered by the requested scopes: "+listed(made.Denied)+".",
			"List them in the scopes: registration set -scope …")
	default:
		t.add(ResourceTypes, OK, exchange{}, found, "")
	}
}

// leftOut describes the omitted types, or returns "" if there are none.
func leftOut(why string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" Omitted, %s: %s.", why, listed(names))
}

// checkSearches reports the search parameters that the plan uses. attached describes Provenance support that exports
// have detected but the statement does not list.
func (t *conformance) checkSearches(made plan.Plan, attached string) {
	by, included, provenance := map[string]int{}, []string{}, 0
	for _, q := range made.Queries {
		values := q.Values()
		for _, name := range [...]string{"patient", "subject", "member", "actor"} {
			if values.Has(name) {
				by[name]++
			}
		}
		included = append(included, values["_include"]...)
		if values.Has("_revinclude") {
			provenance++
		}
	}
	found := fmt.Sprintf("%d searches by patient, %d by subject, %d by another parameter.", by["patient"], by["subject"],
		by["member"]+by["actor"])
	if len(included) > 0 {
		found += " With _include: " + listed(included) + "."
	}
	if provenance > 0 {
		found += fmt.Sprintf(" With Provenance: %d of them.", provenance)
	}
	found += attached
	patient := slices.IndexFunc(t.capability.Resources,
		func(r fhir.CapabilityResource) bool { return r.Type == "Patient" })
	if patient >= 0 {
		params := t.capability.Resources[patient].SearchParams
		if len(params) > 0 && !slices.Contains(params, "_id") {
			t.add(Searches, Warning, exchange{}, found+
				" Patient doesn't support search by _id: if a read by ID is refused, there is no fallback.", "")
			return
		}
	}
	t.add(Searches, OK, exchange{}, found+" Pages are requested with _count, and without it if the server rejects "+
		"it.", "")
}

func typesOf(made plan.Plan) []string {
	var names []string
	for _, q := range made.Queries {
		if q.Type != "" && !slices.Contains(names, q.Type) {
			names = append(names, q.Type)
		}
	}
	return names
}

// placeOf returns the scope of the endpoint's registration: the endpoint itself if it is stored, otherwise its
// platform.
func (t *client) placeOf() catalog.Place {
	if t.subject.Stored {
		return catalog.Place{EndpointID: t.endpoint.ID, Mode: t.endpoint.Mode}
	}
	return catalog.Place{PlatformType: t.endpoint.PlatformType, Mode: t.endpoint.Mode}
}
