package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/persona"
)

type searchset struct {
	Type  string `json:"type"`
	Total int    `json:"total"`
	Link  []struct {
		Relation string `json:"relation"`
		URL      string `json:"url"`
	} `json:"link"`
	Entry []struct {
		FullURL  string          `json:"fullUrl"`
		Resource json.RawMessage `json:"resource"`
		Search   struct {
			Mode string `json:"mode"`
		} `json:"search"`
	} `json:"entry"`
}

func (s searchset) link(relation string) string {
	for _, l := range s.Link {
		if l.Relation == relation {
			return l.URL
		}
	}

	return ""
}

func (p *portal) searchset(a answer) searchset {
	p.t.Helper()
	var got searchset
	if err := json.Unmarshal(a.body, &got); err != nil || a.status != http.StatusOK || got.Type != "searchset" {
		p.t.Fatalf("no searchset: %d %v\n%.300s", a.status, err, a.body)
	}

	return got
}

func (p *portal) pages(token, search string) []searchset {
	p.t.Helper()
	var all []searchset
	for next := p.fhir + "/" + search; next != ""; {
		page := p.searchset(p.get(next, "Authorization", "Bearer "+token))
		all = append(all, page)
		next = page.link("next")
		if len(all) > 1000 {
			p.t.Fatalf("%s: the pages do not end", search)
		}
	}

	return all
}

func recordOf(t *testing.T, personaID string) map[string][]string {
	t.Helper()
	ids := map[string][]string{}
	for _, person := range persona.Builtin() {
		if person.ID != personaID {
			continue
		}
		resources, err := person.Load()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range resources {
			ids[r.Type] = append(ids[r.Type], r.ID)
		}
	}

	return ids
}

func TestSearchPagesReturnEachResourceOnce(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	got := p.connect("cedar-brook")
	want := recordOf(t, "cedar-brook")["Observation"]
	for count, limit := range map[string]int{"": 50, "&_count=1000": 200, "&_count=200": 200, "&_count=37": 37} {
		var ids []string
		for _, page := range p.pages(got.Access, "Observation?patient="+got.Patient+count) {
			if page.Total != len(want) {
				t.Errorf("%s: total = %d, want %d", count, page.Total, len(want))
			}
			if len(page.Entry) > limit || len(page.Entry) < limit && page.link("next") != "" {
				t.Errorf("%s: a page of %d entries", count, len(page.Entry))
			}
			for _, e := range page.Entry {
				id, ok := strings.CutPrefix(e.FullURL, p.fhir+"/Observation/")
				if !ok {
					t.Fatalf("fullUrl = %q", e.FullURL)
				}
				ids = append(ids, id)
			}
		}
		if diff := cmp.Diff(want, ids); diff != "" {
			t.Errorf("%s (-want +got):\n%s", count, diff)
		}
	}
}

func TestSearchSelfLinkReturnsSamePage(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	got := p.connect("willow-ash")
	pages := p.pages(got.Access, "Observation?category=laboratory&_count=7")
	second := p.searchset(p.get(pages[1].link("self"), "Authorization", "Bearer "+got.Access))
	if diff := cmp.Diff(pages[1], second); diff != "" {
		t.Errorf("self link (-want +got):\n%s", diff)
	}
}

func TestSearchReturnsTotalWhenCountIsZero(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	got := p.connect("alder-maple")
	page := p.searchset(p.read(got.Access, "Observation?_count=0"))
	if page.Total != len(recordOf(t, "alder-maple")["Observation"]) || len(page.Entry) != 0 || page.link("next") != "" {
		t.Errorf("got total %d, %d entries, next %q", page.Total, len(page.Entry), page.link("next"))
	}
}

func TestSearchPageStaysBelowLambdaResponseLimit(t *testing.T) {
	t.Parallel()
	const (
		size      = 700 << 10
		resources = 8
	)
	folder := t.TempDir()
	entries := make([]string, 0, resources)
	for i := range resources {
		entries = append(entries, fmt.Sprintf(`{"resource":{"resourceType":"Observation","id":"o%d","status":"final",`+
			`"subject":{"reference":"Patient/p"},"note":[{"text":"%s"}]}}`, i, strings.Repeat("x", size)))
	}
	writeFile(t, folder, "big.json", `{"resourceType":"Bundle","entry":[{"resource":{"resourceType":"Patient","id":"p"}},`+
		strings.Join(entries, ",")+`]}`)
	people, err := persona.LoadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	p := newPortal(t, func(d *sandbox.Deps) { d.Personas = people })
	token := p.connect("p").Access
	seen := 0
	for next := p.fhir + "/Observation?_count=200"; next != ""; {
		a := p.get(next, "Authorization", "Bearer "+token)
		if len(a.body) > 5<<20 {
			t.Errorf("a page of %d bytes, want at most 5 MB", len(a.body))
		}
		page := p.searchset(a)
		seen += len(page.Entry)
		next = page.link("next")
	}
	if seen != resources {
		t.Errorf("got %d resources over all pages, want %d", seen, resources)
	}
}

func TestSearchFiltersByParameter(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	got := p.connect("willow-ash")
	record := recordOf(t, "willow-ash")
	observations := len(record["Observation"])
	labs := p.searchset(p.read(got.Access, "Observation?_count=0&category=laboratory")).Total
	vitals := p.searchset(p.read(got.Access, "Observation?_count=0&category=vital-signs")).Total
	if labs == 0 || vitals == 0 || labs+vitals+1 != observations { // the other one is in category social-history
		t.Errorf("laboratory %d + vital signs %d + 1, want all %d", labs, vitals, observations)
	}
	system := "http://terminology.hl7.org/CodeSystem/observation-category"
	for search, want := range map[string]int{
		"Observation?patient=" + got.Patient:                                          observations,
		"Observation?patient=Patient/" + got.Patient:                                  observations,
		"Observation?patient=" + p.fhir + "/Patient/" + got.Patient:                   observations,
		"Observation?subject=Patient/" + got.Patient:                                  observations,
		"Observation?subject=" + got.Patient:                                          observations,
		"Observation":                                                                 observations,
		"Observation?category=" + url.QueryEscape(system+"|laboratory"):               labs,
		"Observation?category=" + url.QueryEscape("|laboratory"):                      0,
		"Observation?category=laboratory,vital-signs":                                 labs + vitals,
		"Observation?category=laboratory&category=vital-signs":                        0,
		"Observation?_id=" + record["Observation"][3]:                                 1,
		"Observation?_unknown=1&_format=json":                                         observations,
		"Coverage?beneficiary=" + got.Patient:                                         len(record["Coverage"]),
		"Provenance?target=Patient/" + got.Patient:                                    len(record["Provenance"]),
		"Provenance?patient=" + got.Patient:                                           len(record["Provenance"]),
		"Provenance?target=" + record["DocumentReference"][0]:                         1,
		"Practitioner?_id=" + strings.Join(record["Practitioner"][:2], ",") + ",none": 2,
		"Patient":                         1,
		"Patient?_id=" + got.Patient:      1,
		"Patient?_id=patient-alder-maple": 0,
		"AllergyIntolerance?category=food,medication,environment,biologic": len(record["AllergyIntolerance"]),
	} {
		if total := p.searchset(p.read(got.Access, search)).Total; total != want {
			t.Errorf("%s: total = %d, want %d", search, total, want)
		}
	}
}

func TestSearchRejectsInvalidParameters(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	got := p.connect("alder-maple")
	for search, want := range map[string]string{
		"Observation?_count=many":             "invalid",
		"Observation?_count=-1":               "invalid",
		"Observation?page=2":                  "invalid",
		"Observation?page=ZnJvbTotMQ":         "invalid",
		"Observation?patient=":                "invalid",
		"Observation?patient:missing=true":    "invalid",
		"Observation?patient.name=x":          "invalid",
		"Binary?_id=alder-maple-binary-00001": "not-supported",
	} {
		wantOutcome(t, p.read(got.Access, search), http.StatusBadRequest, want)
	}
	wantOutcome(t, p.read(got.Access, "Observation?code=8867-4", "Prefer", "handling=strict"),
		http.StatusBadRequest, "invalid")
	if a := p.read(got.Access, "Observation?page=ZnJvbTo5OTk5OTk"); a.status != http.StatusOK {
		t.Errorf("a page behind the end: %d, want an empty 200", a.status)
	}
}

func TestSearchReturns503ForNthRequestWhenSwitchIsSet(t *testing.T) {
	t.Parallel()
	p := newPortal(t).with(t, "search-503:3")
	token := p.connect("alder-maple").Access
	for i := 1; i <= 6; i++ {
		a := p.read(token, "Condition")
		if i%3 != 0 {
			if a.status != http.StatusOK {
				t.Errorf("search %d: %d, want 200", i, a.status)
			}

			continue
		}
		wantOutcome(t, a, http.StatusServiceUnavailable, "transient")
		if got := a.header.Get("Retry-After"); got != "1" {
			t.Errorf("search %d: Retry-After = %q, want 1", i, got)
		}
	}
}
