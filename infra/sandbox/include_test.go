package sandbox_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/persona"
)

// includeBundle is a record with every kind of reference that _include and _revinclude can follow.
const includeBundle = `{"resourceType":"Bundle","entry":[
 {"resource":{"resourceType":"Patient","id":"p"}},
 {"resource":{"resourceType":"Medication","id":"m1"}},
 {"resource":{"resourceType":"Medication","id":"m2"}},
 {"resource":{"resourceType":"Practitioner","id":"d1"}},
 {"resource":{"resourceType":"Organization","id":"o1"}},
 {"resource":{"resourceType":"MedicationRequest","id":"r1","meta":{"lastUpdated":"2026-01-10T08:00:00Z"},
  "subject":{"reference":"Patient/p"},"medicationReference":{"reference":"Medication/m1"}}},
 {"resource":{"resourceType":"MedicationRequest","id":"r2","meta":{"lastUpdated":"2026-02-10T08:00:00.5+02:00"},
  "subject":{"reference":"Patient/p"},"medicationReference":{"reference":"Medication/m1"}}},
 {"resource":{"resourceType":"MedicationRequest","id":"r3","subject":{"reference":"Patient/p"},
  "medicationReference":{"reference":"Medication/none"}}},
 {"resource":{"resourceType":"MedicationDispense","id":"x1","subject":{"reference":"Patient/p"},
  "medicationReference":{"reference":"Medication/m2"}}},
 {"resource":{"resourceType":"CareTeam","id":"t1","subject":{"reference":"Patient/p"},
  "participant":[{"member":{"reference":"Practitioner/d1"}},{"member":{"reference":"Organization/o1"}},
   {"member":{"reference":"Practitioner/d1"}}]}},
 {"resource":{"resourceType":"Provenance","id":"v1",
  "target":[{"reference":"MedicationRequest/r1"},{"reference":"MedicationRequest/r2"},
   {"reference":"MedicationRequest/r1"},{"reference":"Patient/p"}]}},
 {"resource":{"resourceType":"Provenance","id":"v2","target":[{"reference":"Provenance/v1"}]}}
]}`

func newIncludePortal(t *testing.T) *portal {
	t.Helper()
	folder := t.TempDir()
	writeFile(t, folder, "p.json", includeBundle)
	people, err := persona.LoadDir(folder)
	if err != nil {
		t.Fatal(err)
	}

	return newPortal(t, func(d *sandbox.Deps) { d.Personas = people })
}

// entriesOf returns a page's entries in the form "Type/id mode", where mode is the search mode.
func (p *portal) entriesOf(page searchset) []string {
	p.t.Helper()
	found := make([]string, 0, len(page.Entry))
	for _, e := range page.Entry {
		found = append(found, strings.TrimPrefix(e.FullURL, p.fhir+"/")+" "+e.Search.Mode)
	}

	return found
}

func TestIncludesAddRelatedResources(t *testing.T) {
	t.Parallel()
	p := newIncludePortal(t)
	for search, c := range map[string]struct {
		scope string
		want  []string
	}{
		"MedicationRequest?_include=MedicationRequest:medication": {
			want: []string{
				"MedicationRequest/r1 match", "MedicationRequest/r2 match", "MedicationRequest/r3 match",
				"Medication/m1 include",
			},
		},
		"MedicationDispense?_include=MedicationDispense:medication": {want: []string{
			"MedicationDispense/x1 match",
			"Medication/m2 include",
		}},
		"CareTeam?_include=CareTeam:participant": {want: []string{
			"CareTeam/t1 match",
			"Practitioner/d1 include", "Organization/o1 include",
		}},
		"MedicationRequest?_id=r1&_revinclude=Provenance:target&_include=MedicationRequest:medication": {
			want: []string{"MedicationRequest/r1 match", "Medication/m1 include", "Provenance/v1 include"},
		},
		"Patient?_revinclude=Provenance:target":    {want: []string{"Patient/p match", "Provenance/v1 include"}},
		"Provenance?_revinclude=Provenance:target": {want: []string{"Provenance/v1 match", "Provenance/v2 match"}},
		"CareTeam?_include=MedicationRequest:medication&_revinclude=CareTeam:participant&" +
			"_include:iterate=CareTeam:participant": {
			want: []string{"CareTeam/t1 match"},
		},
		"MedicationRequest?_id=r2&_include=MedicationRequest:medication&_revinclude=Provenance:target": {
			scope: "launch/patient patient/MedicationRequest.rs patient/Provenance.rs",
			want:  []string{"MedicationRequest/r2 match", "Provenance/v1 include"},
		},
	} {
		got := p.connect("p", "scope", cmpOr(c.scope, allScopes))
		page := p.searchset(p.read(got.Access, search))
		if diff := cmp.Diff(c.want, p.entriesOf(page)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", search, diff)
		}
		again := p.searchset(p.get(page.link("self"), "Authorization", "Bearer "+got.Access))
		if diff := cmp.Diff(page, again); diff != "" {
			t.Errorf("%s: self link (-want +got):\n%s", search, diff)
		}
	}
}

func TestIncludedResourcesDoNotCountAsMatches(t *testing.T) {
	t.Parallel()
	p := newIncludePortal(t)
	pages := p.pages(p.connect("p").Access, "MedicationRequest?_count=1&_include=MedicationRequest:medication")
	got := make([]string, 0, len(pages))
	for _, page := range pages {
		got = append(got, strings.Join(p.entriesOf(page), ", "))
		if page.Total != 3 {
			t.Errorf("total = %d, want 3", page.Total)
		}
	}
	want := []string{
		"MedicationRequest/r1 match, Medication/m1 include", "MedicationRequest/r2 match, Medication/m1 include",
		"MedicationRequest/r3 match",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

func TestUnknownIncludesAreRejectedWithStrictHandling(t *testing.T) {
	t.Parallel()
	p := newIncludePortal(t)
	access := p.connect("p").Access
	for _, asked := range []string{
		"_include=CareTeam:encounter", "_include=Provenance:target",
		"_revinclude=CareTeam:participant", "_include=*",
	} {
		wantOutcome(t, p.read(access, "CareTeam?"+asked, "Prefer", "handling=strict"), http.StatusBadRequest, "invalid")
	}
}

func TestCapabilityStatementListsIncludes(t *testing.T) {
	t.Parallel()
	p := newIncludePortal(t)
	include := map[string][]string{}
	for _, r := range p.capability().Rest[0].Resource {
		if len(r.Include) > 0 {
			include[r.Type] = r.Include
		}
		if searchable := len(r.SearchParam) > 0; searchable != slices.Equal(r.RevInclude, []string{"Provenance:target"}) {
			t.Errorf("%s: searchRevInclude = %v", r.Type, r.RevInclude)
		}
	}
	want := map[string][]string{
		"MedicationRequest": {"MedicationRequest:medication"}, "MedicationDispense": {"MedicationDispense:medication"},
		"CareTeam": {"CareTeam:participant"},
	}
	if diff := cmp.Diff(want, include); diff != "" {
		t.Errorf("searchInclude (-want +got):\n%s", diff)
	}
}

func TestSearchFiltersByLastUpdated(t *testing.T) {
	t.Parallel()
	p := newIncludePortal(t)
	access := p.connect("p").Access
	for value, want := range map[string]int{ // resource r3 matches every date, because it has no meta.lastUpdated
		"ge2026-01-10T08:00:00Z": 3, "gt2026-01-10T08:00:00Z": 2, "ge2026-01-10": 3, "gt2026-01-10": 2,
		"ge2026-02-10T06:00:00Z": 2, "ge2026-02-10T06:00:01Z": 1, "lt2026-02-10": 2, "le2026-02-10": 3, "le2025": 1,
		"2026-01": 2, "eq2026": 3, "2026-01-11": 1, "2026-01-10,2026-02-10": 3,
	} {
		if got := p.searchset(p.read(access, "MedicationRequest?_lastUpdated="+url.QueryEscape(value))).Total; got != want {
			t.Errorf("_lastUpdated=%s: total = %d, want %d", value, got, want)
		}
	}
	for _, value := range []string{"soon", "ge", "sa2026", "2026-13", ""} {
		wantOutcome(t, p.read(access, "MedicationRequest?_lastUpdated="+value), http.StatusBadRequest, "invalid")
	}
}
