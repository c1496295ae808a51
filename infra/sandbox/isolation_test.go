package sandbox_test

import (
	"net/http"
	"strings"
	"testing"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/persona"
)

func TestAccessTokenIsLimitedToItsPatient(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	attacker := p.connect("rowan-birch")
	own := map[string]bool{}
	for resourceType, ids := range recordOf(t, "rowan-birch") {
		for _, id := range ids {
			own[resourceType+"/"+id] = true
		}
	}
	tried := 0
	for resourceType, ids := range recordOf(t, "alder-maple") {
		for _, id := range ids {
			if own[resourceType+"/"+id] {
				continue // both records have the same clinics, clinicians and drugs
			}
			tried++
			wantOutcome(t, p.read(attacker.Access, resourceType+"/"+id), http.StatusNotFound, "not-found")
			if resourceType == "Binary" {
				wantOutcome(t, p.read(attacker.Access, "Binary/"+id, "Accept", "text/plain"), http.StatusNotFound, "not-found")
			}
		}
	}
	if tried < 60 {
		t.Fatalf("only %d resources tried", tried)
	}
	for _, victim := range []string{
		"patient-alder-maple", "Patient/patient-alder-maple",
		p.fhir + "/Patient/patient-alder-maple", attacker.Patient + ",patient-alder-maple", "nobody",
	} {
		for _, name := range []string{"patient", "subject"} {
			wantOutcome(t, p.read(attacker.Access, "Observation?"+name+"="+victim), http.StatusForbidden, "forbidden")
		}
	}
}

func TestPageCursorIsBoundToPatient(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	victim, attacker := p.connect("cedar-brook"), p.connect("willow-ash")
	next := p.searchset(p.read(victim.Access, "Observation?_count=2")).link("next")
	page := p.searchset(p.get(next, "Authorization", "Bearer "+attacker.Access))
	if len(page.Entry) != 2 {
		t.Errorf("got %d entries, want the attacker's own 2", len(page.Entry))
	}
	for _, e := range page.Entry {
		if !strings.Contains(e.FullURL, "willow-ash") {
			t.Errorf("got %s with the token of willow-ash", e.FullURL)
		}
	}
	withPatient := p.searchset(p.read(victim.Access, "Observation?_count=2&patient="+victim.Patient)).link("next")
	wantOutcome(t, p.get(withPatient, "Authorization", "Bearer "+attacker.Access), http.StatusForbidden, "forbidden")
}

func TestFHIRRequiresBearerToken(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	got := p.connect("alder-maple")
	for _, path := range []string{"Patient/" + got.Patient, "Observation", "Binary/x", "NoSuchType"} {
		for _, authorization := range []string{
			"", "Bearer", "Bearer ", "Bearer made-up", "Basic " + got.Access,
			"Bearer " + got.Refresh,
		} {
			a := p.get(p.fhir+"/"+path, "Authorization", authorization)
			wantOutcome(t, a, http.StatusUnauthorized, "login")
			if !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer ") {
				t.Errorf("%s with %q: WWW-Authenticate = %q", path, authorization, a.header.Get("WWW-Authenticate"))
			}
		}
	}
	if a := p.get(p.fhir + "/Observation?access_token=" + got.Access); a.status != http.StatusUnauthorized {
		t.Errorf("a token in the query: %d, want 401", a.status)
	}
}

func TestScopesRestrictTypesAndInteractions(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	got := p.connect("alder-maple", "scope", "patient/Patient.r patient/Condition.s patient/Immunization.read")
	condition := recordOf(t, "alder-maple")["Condition"][0]
	immunization := recordOf(t, "alder-maple")["Immunization"][0]
	for path, allowed := range map[string]bool{
		"Patient/" + got.Patient:              true,
		"Patient":                             false,
		"Condition":                           true,
		"Condition/" + condition:              false,
		"Immunization":                        true,
		"Immunization/" + immunization:        true,
		"Observation":                         false,
		"Practitioner/practitioner-Heron":     false,
		"Observation?patient=" + got.Patient:  false,
		"Immunization?patient=" + got.Patient: true,
	} {
		a := p.read(got.Access, path)
		if allowed {
			if a.status != http.StatusOK {
				t.Errorf("%s: %d, want 200", path, a.status)
			}

			continue
		}
		wantOutcome(t, a, http.StatusForbidden, "forbidden")
		if !strings.Contains(a.header.Get("WWW-Authenticate"), "insufficient_scope") {
			t.Errorf("%s: WWW-Authenticate = %q", path, a.header.Get("WWW-Authenticate"))
		}
	}
}

func TestAccessTokenIsRejectedAfterPersonaIsRemoved(t *testing.T) {
	t.Parallel()
	var deps sandbox.Deps
	p := newPortal(t, func(d *sandbox.Deps) { deps = *d })
	token := p.connect("alder-maple").Access
	smaller := newPortal(t, func(d *sandbox.Deps) { d.Store = deps.Store; d.Personas = persona.Builtin()[:1] })
	wantOutcome(t, smaller.read(token, "Condition"), http.StatusUnauthorized, "login")
}
