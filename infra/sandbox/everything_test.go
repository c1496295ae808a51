package sandbox_test

import (
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEverythingOperationReturnsCompleteRecordAcrossPages(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there := p.with(t, "everything")
	got := there.connect("alder-maple")
	want := map[string]int{}
	for resourceType, ids := range recordOf(t, "alder-maple") {
		for _, id := range ids {
			want[resourceType+"/"+id] = 1
		}
	}
	seen, first := map[string]int{}, ""
	for i, page := range there.pages(got.Access, "Patient/"+got.Patient+"/$everything?_count=10") {
		if page.Total != len(want) || len(page.Entry) > 10 {
			t.Errorf("page %d: total %d and %d entries, want %d and at most 10", i, page.Total, len(page.Entry), len(want))
		}
		for _, e := range page.Entry {
			key := strings.TrimPrefix(e.FullURL, there.fhir+"/")
			first = cmpOr(first, key)
			seen[key]++
		}
	}
	if diff := cmp.Diff(want, seen); diff != "" || first != "Patient/"+got.Patient {
		t.Errorf("first is %s; resources and how often (-want +got):\n%s", first, diff)
	}
	if operations := there.operations(); !cmp.Equal(operations, []string{"everything"}) {
		t.Errorf("operations of Patient = %v", operations)
	}
}

func (p *portal) operations() (names []string) {
	p.t.Helper()
	for _, r := range p.capability().Rest[0].Resource {
		for _, one := range r.Operation {
			if r.Type == "Patient" {
				names = append(names, one.Name)
			}
		}
	}

	return names
}

func TestEverythingOperationRespectsScopesAndSince(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there := p.with(t, "everything")
	got := there.connect("alder-maple", "scope", "launch/patient patient/Patient.rs patient/Goal.rs")
	path := "Patient/" + got.Patient + "/$everything"
	goals := len(recordOf(t, "alder-maple")["Goal"])
	for query, want := range map[string]int{
		"": 1 + goals, "?_since=2026-03-01T06:00:00Z": 1 + goals,
		"?_since=2026-03-02": 0,
	} {
		if total := there.searchset(there.read(got.Access, path+query)).Total; total != want {
			t.Errorf("%s: total = %d, want %d", query, total, want)
		}
	}
	wantOutcome(t, there.read(got.Access, path+"?_since=soon"), http.StatusBadRequest, "invalid")
	wantOutcome(t, there.read(got.Access, "Patient/patient-willow-ash/$everything"), http.StatusNotFound, "not-found")
	wantOutcome(t, there.read("made-up", path), http.StatusUnauthorized, "login")
	withoutPatient := there.connect("alder-maple", "scope", "launch/patient patient/Goal.rs")
	wantOutcome(t, there.read(withoutPatient.Access, path), http.StatusForbidden, "forbidden")
}

func TestEverythingOperationReturns404UnlessEnabled(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	got := p.connect("alder-maple")
	wantOutcome(t, p.read(got.Access, "Patient/"+got.Patient+"/$everything"), http.StatusNotFound, "not-supported")
	if operations := p.operations(); operations != nil {
		t.Errorf("operations of Patient = %v, want none", operations)
	}
}

func TestEverythingOperationAppliesBundleSwitches(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there := p.with(t, "everything,next-relative,outcome-entry")
	got := there.connect("alder-maple")
	a := there.read(got.Access, "Patient/"+got.Patient+"/$everything?_count=3")
	if next := nextLink(a.json(t)); !strings.HasPrefix(next, "Patient/"+got.Patient+"/$everything?_count=3&page=") {
		t.Errorf("next = %q", next)
	}
	if !strings.Contains(string(a.body), `"mode":"outcome"`) {
		t.Error("there is no outcome")
	}
}

func TestBinaryIsReturnedAsFHIRUnlessItsContentTypeIsAccepted(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	token := p.connect("linden-moss").Access
	id := recordOf(t, "linden-moss")["Binary"][0]
	resource := p.read(token, "Binary/"+id)
	body := resource.json(t)
	data, err := base64.StdEncoding.DecodeString(body["data"].(string))
	if err != nil || len(data) < 1_000_000 || body["contentType"] != "text/plain" {
		t.Fatalf("resource: %v, %d bytes of %v", err, len(data), body["contentType"])
	}
	for accept, wantRaw := range map[string]bool{
		"":                        false,
		"*/*":                     false,
		"application/fhir+json":   false,
		"application/json":        false,
		"text/plain":              true,
		"text/*;q=0.5, image/png": true,
		"image/png":               false,
		"text/plain, application/fhir+json;q=0.9": false,
	} {
		a := p.read(token, "Binary/"+id, "Accept", accept)
		isRaw := a.header.Get("Content-Type") == "text/plain" && string(a.body) == string(data)
		isFHIR := a.header.Get("Content-Type") == "application/fhir+json; charset=utf-8" &&
			string(a.body) == string(resource.body)
		if a.status != http.StatusOK || isRaw != wantRaw || isFHIR == wantRaw {
			t.Errorf("Accept %q: %d %s, want raw %v", accept, a.status, a.header.Get("Content-Type"), wantRaw)
		}
	}
}

func writeFile(t *testing.T, folder, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
