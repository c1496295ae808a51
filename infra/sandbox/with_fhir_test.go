package sandbox_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestSearchSwitchesImitatePlatformRejections(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	const html, fhir = "text/html", "application/fhir+json"
	for _, c := range []struct {
		spec, path, scope string
		status            int
		contentType, body string
		fine              string // request to which the same portal responds with 200
	}{
		{"require-category", "Observation", "", 400, fhir, "business-rule", "Observation?category=laboratory"},
		{"require-category", "CarePlan", "", 400, fhir, "business-rule", "Condition"},
		{"careplan-404", "CarePlan", "", 404, fhir, "category", "CarePlan?category=assess-plan"},
		{
			"suppressed-category:laboratory", "Observation?category=http://x%7Claboratory", "", 400, fhir, "suppressed",
			"Observation?category=vital-signs",
		},
		{"reject-count", "CareTeam?_count=100", "", 400, fhir, "does not know how to handle", "CareTeam"},
		{"deny:Observation+Goal", "Goal", "", 403, "", "", "Condition"},
		{"deny:*", "Condition", "", 403, "", "", ""},
		{"deny-user:Goal", "Goal", "", 403, fhir, "Read access to 'Goal' is denied by user", "Condition"},
		{"deny-500:Goal", "Goal", "", 500, fhir, "FHIR API Unexpected Error", "Condition"},
		{
			"unsupported-500", "Condition?onset-date=2020", "", 500, fhir, "FHIR API Unexpected Error",
			"Condition?patient={patient}",
		},
		{"deny-401-html:Goal", "Goal", "", 401, html, "<html>", "Condition"},
		{"deny-403-html:Goal", "Goal", "", 403, html, "<html>", "Condition"},
		{
			"search-by:patient", "Condition?subject=Patient/{patient}", "", 400, fhir, "not supported",
			"Condition?patient={patient}",
		},
		{
			"search-by:subject", "Condition?patient={patient}", "", 400, fhir, "not supported",
			"Condition?subject=Patient/{patient}",
		},
		{"search-by:subject", "Condition?patient={patient}", "", 400, fhir, "not supported", "Claim?patient={patient}"},
		{"scope-401-html", "Goal", "patient/Condition.rs", 401, html, "<html>", "Condition"},
		{"unknown-404-html", "Spaceship", "", 404, html, "<html>", "Condition"},
		{"unknown-404-html", "Spaceship/1", "", 404, html, "<html>", ""},
		{"missing-ref-500", "Practitioner/none", "", 500, fhir, "HAPI-2001", "Condition"},
		{"no-provenance", "Provenance", "", 400, fhir, "not implemented", "Condition"},
		{"require-intent", "MedicationRequest", "", 403, fhir, "[patient, intent]", "MedicationRequest?intent=order"},
		{"id-list:refused", "Practitioner?_id=a,b", "", 400, fhir, "_id accepts only one ID", "Practitioner?_id=a"},
		{"require-date", "Appointment", "", 400, fhir, "date", "Condition"},
		{"patient-by-id", "Patient/{patient}", "", 404, fhir, "_id", "Patient?_id={patient}"},
		{"patient-by-id", "Patient", "", 400, fhir, "_id", ""},
		{"patient-unnamed", "Patient", "", 400, fhir, "_id", ""},
		{"ah-practice", "Condition", "", 403, fhir, "ah-practice", "Condition?ah-practice=Organization/a-1.Practice-7"},
	} {
		t.Run(c.spec+" "+c.path, func(t *testing.T) {
			t.Parallel()
			there := p.with(t, c.spec)
			got := there.connect("alder-maple", "scope", "launch/patient "+cmpOr(c.scope, "patient/*.rs"))
			fill := func(path string) string { return strings.ReplaceAll(path, "{patient}", got.Patient) }
			a := there.read(got.Access, fill(c.path))
			if a.status != c.status || !strings.HasPrefix(a.header.Get("Content-Type"), c.contentType) ||
				!strings.Contains(string(a.body), c.body) || c.contentType == "" && len(a.body) != 0 {
				t.Errorf("got %d %q %.200s", a.status, a.header.Get("Content-Type"), a.body)
			}
			if c.fine != "" {
				if a := there.read(got.Access, fill(c.fine)); a.status != http.StatusOK {
					t.Errorf("%s: got %d %.200s, want 200", c.fine, a.status, a.body)
				}
			}
			wantOutcome(t, there.read("made-up", fill(c.path)), http.StatusUnauthorized, "login")
		})
	}
}

func cmpOr(value, otherwise string) string {
	if value == "" {
		return otherwise
	}

	return value
}

func (p *portal) firstPage(spec, search string) (there *portal, access string, a answer, bundle map[string]any) {
	p.t.Helper()
	there = p.with(p.t, spec)
	access = there.connect("alder-maple").Access
	a = there.read(access, search)
	if a.status != http.StatusOK {
		p.t.Fatalf("%s: %d %.200s", spec, a.status, a.body)
	}
	if json.Unmarshal(a.body, &bundle) != nil {
		bundle = nil
	}

	return there, access, a, bundle
}

func nextLink(bundle map[string]any) string {
	links, _ := bundle["link"].([]any)
	for _, one := range links {
		link, _ := one.(map[string]any)
		if link["relation"] == "next" {
			address, _ := link["url"].(string)

			return address
		}
	}

	return ""
}

func TestBundleSwitchesCorruptBundles(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	_, _, _, bundle := p.firstPage("outcome-entry", "Goal")
	entries, _ := bundle["entry"].([]any)
	last, _ := entries[len(entries)-1].(map[string]any)
	mode, _ := last["search"].(map[string]any)
	if resource, _ := last["resource"].(map[string]any); mode["mode"] != "outcome" ||
		resource["resourceType"] != "OperationOutcome" {
		t.Errorf("the last entry is %v, want an outcome", last)
	}
	if _, _, _, bundle = p.firstPage("no-total", "Goal"); bundle["total"] != nil {
		t.Errorf("total = %v, want none", bundle["total"])
	}
	if _, _, _, bundle = p.firstPage("total-page", "Observation?_count=3"); bundle["total"] != 3.0 {
		t.Errorf("total = %v, want that of the page", bundle["total"])
	}
	if _, _, a, bundle := p.firstPage("truncated-json", "Observation"); bundle != nil || len(a.body) < 100 {
		t.Errorf("a bundle of %d bytes can be read", len(a.body))
	}
	if _, _, a, bundle := p.firstPage("broken-json:Goal+Observation", "Observation"); bundle != nil || len(a.body) < 100 {
		t.Errorf("a bundle of %d bytes can be read", len(a.body))
	}
	if _, _, _, bundle := p.firstPage("broken-json:Goal", "Observation"); bundle == nil {
		t.Error("a bundle of another type is broken")
	}
	if _, _, a, _ := p.firstPage("gateway", "Observation?_count=2"); strings.Contains(string(a.body), p.base) ||
		!strings.Contains(string(a.body), `"fullUrl":"http://inside.example:8080/hapi/fhir/Observation/`) ||
		strings.Count(string(a.body), `"url":"http://inside.example:8080/hapi/fhir/Observation?`) != 2 {
		t.Errorf("gateway: %s", a.body)
	}
	for spec, want := range map[string]string{
		"next-internal": "http://10.0.0.7:8080/v1/sandbox/with/next-internal/fhir/Observation?",
		"next-foreign":  "https://foreign.example/r4/Observation?", "next-relative": "Observation?_count=2&page=",
	} {
		if _, _, _, bundle := p.firstPage(spec, "Observation?_count=2"); !strings.HasPrefix(nextLink(bundle), want) {
			t.Errorf("%s: next = %q, want %s…", spec, nextLink(bundle), want)
		}
	}
	if _, _, a, _ := p.firstPage("foreign-ref", "Observation"); !strings.Contains(string(a.body),
		`"reference":"http://foreign.example/fhir/Practitioner/`) ||
		!strings.Contains(string(a.body), `"reference":"Patient/`) {
		t.Error("foreign-ref: want people elsewhere and the patient here")
	}
	if there, _, a, _ := p.firstPage("absolute-ref", "Observation"); !strings.Contains(string(a.body),
		`"reference":"`+there.fhir+`/Patient/`) {
		t.Error("absolute-ref: no absolute reference to the patient")
	}
	_, _, a, _ := p.firstPage("rate-headers", "Goal")
	for _, name := range []string{"RateLimit-Limit", "X-RateLimit-Limit"} {
		if got := a.header.Get(name); got != "500" {
			t.Errorf("%s = %q, want 500", name, got)
		}
	}
}

func TestBundleRewritingKeepsDigitsOfNumbers(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	_, _, plain, _ := p.firstPage("label:a", "Observation?_count=200")
	_, _, spoiled, _ := p.firstPage("no-total", "Observation?_count=200")
	for _, number := range []string{`"value":37.`, `"value":1`} {
		if got, want := strings.Count(string(spoiled.body), number), strings.Count(string(plain.body), number); got != want {
			t.Errorf("%s occurs %d times, want %d", number, got, want)
		}
	}
}

func TestSessionNextLinkIsSingleUse(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there, access, _, bundle := p.firstPage("session-next,require-category", "Observation?_count=3&category=vital-signs")
	next := nextLink(bundle)
	if !strings.HasPrefix(next, there.fhir+"/Observation?sessionID=") {
		t.Fatalf("next = %q", next)
	}
	second := there.searchset(there.get(next, "Authorization", "Bearer "+access))
	if len(second.Entry) != 3 || !strings.Contains(second.link("next"), "sessionID=") || second.link("next") == next {
		t.Errorf("second page: %d entries, next %q", len(second.Entry), second.link("next"))
	}
	wantOutcome(t, there.get(next, "Authorization", "Bearer "+access), http.StatusNotFound, "not-found")
	pages, ids := there.pages(access, "Observation?_count=20"+"&category=vital-signs"), map[string]bool{}
	for _, page := range pages {
		for _, one := range page.Entry {
			ids[one.FullURL] = true
		}
	}
	if len(ids) != pages[0].Total {
		t.Errorf("%d resources over all pages, want %d", len(ids), pages[0].Total)
	}
}

func TestGetPagesNextLinkCanBeRequestedRepeatedly(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there, access, _, bundle := p.firstPage("get-pages", "Observation?_count=3")
	next := nextLink(bundle)
	if !strings.HasPrefix(next, there.fhir+"?_bundletype=searchset&_getpages=") {
		t.Fatalf("next = %q", next)
	}
	ids := map[string]bool{}
	for range 2 { // requesting the link again must succeed
		second := there.searchset(there.get(next, "Authorization", "Bearer "+access))
		if len(second.Entry) != 3 || !strings.HasPrefix(second.link("next"), there.fhir+"?") {
			t.Errorf("second page: %d entries, next %q", len(second.Entry), second.link("next"))
		}
		for _, one := range second.Entry {
			ids[one.FullURL] = true
		}
	}
	if len(ids) != 3 {
		t.Errorf("asked for twice, the page has %d resources", len(ids))
	}
	wantOutcome(t, there.get(next), http.StatusUnauthorized, "login")
	wantOutcome(t, there.get(there.fhir+"?_getpages=none", "Authorization", "Bearer "+access),
		http.StatusNotFound, "not-found")
}

func TestPatientIsTruncatedWhenSwitchIsSet(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there := p.with(t, "patient-broken")
	got := there.connect("alder-maple")
	for _, path := range []string{"Patient/" + got.Patient, "Patient?_id=" + got.Patient} {
		if a := there.read(got.Access, path); a.status != http.StatusOK || json.Valid(a.body) || len(a.body) < 100 {
			t.Errorf("%s: %d, %d bytes", path, a.status, len(a.body))
		}
	}
	if a := there.read(got.Access, "Condition"); !json.Valid(a.body) {
		t.Error("another type is broken")
	}
}

func TestLimitSwitchesThrottleEveryNthRequest(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for spec, retry := range map[string]string{
		"limit-seconds:3": "2", "limit-date:3": "Sun, 01 Mar 2026 12:00:02 GMT", "search-503:3": "1",
	} {
		there := p.with(t, spec)
		access := there.connect("alder-maple").Access
		for i := 1; i <= 6; i++ {
			a := there.read(access, "Goal")
			if refused := a.status == http.StatusTooManyRequests ||
				a.status == http.StatusServiceUnavailable; refused != (i%3 == 0) ||
				refused && a.header.Get("Retry-After") != retry {
				t.Errorf("%s, request %d: %d Retry-After %q", spec, i, a.status, a.header.Get("Retry-After"))
			}
		}
	}
}

func TestRateLimitSwitchRejectsRequestsUntilClientPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		there := newInProcess(t).with(t, "leave-alone:20m")
		got := there.connect("alder-maple")
		check := func(path string, isRefused bool) {
			t.Helper()
			a := there.read(got.Access, path)
			refused := a.status == http.StatusTooManyRequests && a.header.Get("Retry-After") == "1200"
			if refused != isRefused || !refused && a.status != http.StatusOK {
				t.Errorf("%s: %d, Retry-After %q", path, a.status, a.header.Get("Retry-After"))
			}
		}
		check("Patient/"+got.Patient, false)
		check("Goal", true)
		<-time.After(20*time.Minute - time.Second)
		check("Patient/"+got.Patient, true) // a premature request restarts the waiting period
		<-time.After(20*time.Minute - time.Second)
		check("Goal", true)
		<-time.After(20 * time.Minute)
		check("Goal", false)
		check("Condition", false)
	})
}

func TestBinaryIsReturnedRawWhenSwitchIsSet(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there, access, _, bundle := p.firstPage("binary-not-json", "DocumentReference?_count=1")
	raw, err := json.Marshal(bundle)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), `"url":"Binary/`)
	id, _, _ := strings.Cut(rest, `"`)
	a := there.read(access, "Binary/"+id, "Accept", "application/fhir+json")
	if a.status != http.StatusOK || strings.Contains(a.header.Get("Content-Type"), "json") || json.Valid(a.body) {
		t.Errorf("got %d %q %.80s", a.status, a.header.Get("Content-Type"), a.body)
	}
}

func TestSlowSwitchDelaysResponses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		there := newInProcess(t).with(t, "slow:7s")
		access := there.connect("juniper-vale").Access
		started := time.Now()
		if got := there.read(access, "Goal").status; got != http.StatusOK {
			t.Errorf("status = %d, want 200", got)
		}
		if got, want := time.Since(started), 7*time.Second; got != want {
			t.Errorf("the answer took %s, want %s", got, want)
		}
	})
}
