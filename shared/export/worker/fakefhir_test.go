package worker_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/shared/platform/safehttp"
)

const (
	base      = "https://ehr.example/fhir/r4"
	patientID = "p1"
)

// fakeFHIR is a FHIR server that implements smart.Doer. It uses no sockets, so tests can run in virtual time.
type fakeFHIR struct {
	version string // FHIR version
	// CapabilityStatement entries of the form "Type:param:param"; the first parameter searches by patient
	types     []string
	resources map[string]string   // resource bodies by "Type/id"
	pages     map[string][]string // pages of results, by type; each page lists its ids, as in "c1 c2"
	latency   time.Duration
	down      func() bool
	remaining string // value of RateLimit-Remaining; empty if there is no rate limit
	own       string // base URL in the links of a server behind a gateway; base if empty
	selfless  bool   // whether pages lack a self link
	getPages  bool   // whether next links have the form base?_getpages=
	// result of a search by ids: "all", "half", "one" page of two, or "ignored" for all resources of the type; empty if
	// such searches are not supported
	lists string

	mu      sync.Mutex
	scripts map[string][]answer // scripted responses by request, sent before the normal response
	asked   []string            // requests received: path and query, relative to the base
	late    []string            // requests sent during a pause demanded by the server
	silent  time.Time           // time at which the demanded pause began; zero if there is no pause
	bearers map[string]bool     // Authorization headers received
	busy    int
	most    int
}

// answer is a scripted response. If the status is 0, the connection fails.
type answer struct {
	status     int
	retryAfter int
	takes      time.Duration // response time in addition to the server's latency
	body       string
	always     bool // whether to repeat the response for all further requests
	normal     bool // whether to send the unscripted response instead
}

func (h *fakeFHIR) Do(r *http.Request) (*http.Response, error) {
	h.begin()
	defer h.end()
	name, begun := name(r), time.Now()
	select {
	case <-time.After(h.latency + h.takes(name)):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	w := httptest.NewRecorder()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, name)
	if !h.silent.IsZero() && !begun.Before(h.silent) {
		h.late = append(h.late, name)
	}
	h.bearers[r.Header.Get("Authorization")] = true
	if h.down != nil && h.down() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return w.Result(), nil
	}
	if scripted, ok := h.next(name); ok && !scripted.normal {
		if scripted.status == 0 {
			return nil, &safehttp.Error{Class: safehttp.Connect}
		}
		if scripted.retryAfter > 0 {
			h.silent = time.Now()
			w.Header().Set("Retry-After", strconv.Itoa(scripted.retryAfter))
		}
		w.WriteHeader(scripted.status)
		_, _ = w.WriteString(scripted.body)
		return w.Result(), nil
	}
	if h.remaining != "" {
		w.Header().Set("RateLimit-Limit", "100")
		w.Header().Set("RateLimit-Remaining", h.remaining)
		w.Header().Set("RateLimit-Reset", "1")
	}
	h.serve(w, r, name)
	return w.Result(), nil
}

// name returns a request's path and query, relative to the base URL. If the request goes to another server, name
// returns the host.
func name(r *http.Request) string {
	if r.URL.Host != "ehr.example" {
		return r.URL.Host
	}
	return strings.TrimPrefix(r.URL.RequestURI(), "/fhir/r4/")
}

func (h *fakeFHIR) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy++
	h.most = max(h.most, h.busy)
}

func (h *fakeFHIR) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy--
}

// takes returns the duration of the next scripted response to the named request, or 0 if no response is scripted.
func (h *fakeFHIR) takes(name string) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	for scripted, script := range h.scripts {
		if len(script) > 0 && matches(name, scripted) {
			return script[0].takes
		}
	}
	return 0
}

func (h *fakeFHIR) next(name string) (answer, bool) {
	for scripted, script := range h.scripts {
		if len(script) == 0 || !matches(name, scripted) {
			continue
		}
		if !script[0].always {
			h.scripts[scripted] = script[1:]
		}
		return script[0], true
	}
	return answer{}, false
}

func matches(request, name string) bool {
	start, open := strings.CutSuffix(name, "*")
	return request == name || open && strings.HasPrefix(request, start)
}

func (h *fakeFHIR) serve(w http.ResponseWriter, r *http.Request, name string) {
	path, _, _ := strings.Cut(name, "?")
	body, known := h.resources[path]
	ids := r.URL.Query().Get("_id")
	switch {
	case h.lists != "" && ids != "":
		body = h.listed(path, strings.Split(ids, ","))
	case path == "metadata":
		body = h.statement()
	case path == "/fhir/r4" && h.pages[r.URL.Query().Get("_getpages")] != nil:
		body = h.bundle(r.URL.Query().Get("_getpages"), r)
	case known:
	case h.pages[path] != nil && r.URL.Query().Get(h.param(path)) != "":
		body = h.bundle(path, r)
	default:
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = w.Write([]byte(strings.ReplaceAll(body, base, cmp.Or(h.own, base))))
}

func (h *fakeFHIR) param(resourceType string) string {
	for _, t := range h.types {
		if names := strings.Split(t, ":"); names[0] == resourceType {
			return names[1]
		}
	}
	return ""
}

func (h *fakeFHIR) statement() string {
	resources := make([]string, 0, len(h.types))
	for _, t := range h.types {
		names := strings.Split(t, ":")
		if h.lists != "" {
			names = append(names, "_id")
		}
		params := strings.Join(names[1:], `"},{"name":"`)
		resources = append(resources, fmt.Sprintf(`{"type":%q,"searchParam":[{"name":"%s"}]}`, names[0], params))
	}
	return `{"resourceType":"CapabilityStatement","fhirVersion":"` + h.version +
		`","rest":[{"mode":"server","resource":[` +
		strings.Join(resources, ",") + `]}]}`
}

// listed returns the response to a search by a list of ids, as configured in lists.
func (h *fakeFHIR) listed(resourceType string, ids []string) string {
	links := ""
	switch h.lists {
	case "half":
		ids = ids[:len(ids)/2]
	case "one":
		links = `{"relation":"next","url":"` + base + `/` + resourceType + `?more=1"}`
		ids = ids[:min(2, len(ids))]
	case "ignored":
		ids = nil
		for _, name := range slices.Sorted(maps.Keys(h.resources)) {
			if id, ok := strings.CutPrefix(name, resourceType+"/"); ok {
				ids = append(ids, id)
			}
		}
	}
	var entries []string
	for _, id := range ids {
		if body, known := h.resources[resourceType+"/"+id]; known {
			entries = append(entries, `{"resource":`+body+`,"search":{"mode":"match"}}`)
		}
	}
	return `{"resourceType":"Bundle","type":"searchset","entry":[` + strings.Join(entries, ",") +
		`],"link":[` + links + `]}`
}

func (h *fakeFHIR) bundle(resourceType string, r *http.Request) string {
	number, _ := strconv.Atoi(r.URL.Query().Get("page"))
	pages := h.pages[resourceType]
	var entries []string
	for id := range strings.FieldsSeq(pages[number]) {
		name := id
		if !strings.Contains(id, "/") {
			name = resourceType + "/" + id
		}
		entries = append(entries, `{"fullUrl":"`+base+"/"+name+`","resource":`+h.resources[name]+
			`,"search":{"mode":"match"}}`)
	}
	var links []string
	if !h.selfless {
		links = append(links, `{"relation":"self","url":"`+base+"/"+name(r)+`"}`)
	}
	if number+1 < len(pages) {
		query, path := r.URL.Query(), "/"+resourceType
		query.Set("page", strconv.Itoa(number+1))
		if h.getPages {
			query.Set("_getpages", resourceType)
			path = ""
		}
		links = append(links, `{"relation":"next","url":"`+base+path+"?"+query.Encode()+`"}`)
	}
	return `{"resourceType":"Bundle","type":"searchset","entry":[` + strings.Join(entries, ",") + `],"link":[` +
		strings.Join(links, ",") + `]}`
}

// script sets the responses that a request receives before the normal response.
func (h *fakeFHIR) script(name string, answers ...answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.scripts[name] = answers
}

func (h *fakeFHIR) unscript() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.scripts)
}

// synchronize acquires and releases the server's mutex so that reading the server's fields after abandoned requests is
// not a data race.
func (h *fakeFHIR) synchronize() {
	h.mu.Lock()
	defer h.mu.Unlock()
}

func (h *fakeFHIR) times(name string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	count := 0
	for _, asked := range h.asked {
		if matches(asked, name) {
			count++
		}
	}
	return count
}

func (h *fakeFHIR) add(t *testing.T, resources ...string) {
	t.Helper()
	for _, text := range resources {
		var head struct {
			ResourceType string
			ID           string
		}
		if err := json.Unmarshal([]byte(text), &head); err != nil {
			t.Fatal(err, text)
		}
		h.resources[head.ResourceType+"/"+head.ID] = text
	}
}

// Requests for newFakeFHIR's record that tests make fail.
const (
	findConditions   = "Condition?_count=100&patient=p1"
	findObservations = "Observation?_count=100&patient=p1"
	observations2    = "Observation?_count=100&page=1&patient=p1"
	findNotes        = "DocumentReference?_count=100&subject=Patient%2Fp1"
	anyObservations  = "Observation?*"
	readPatient      = "Patient/p1"
)

// newFakeFHIR returns a server with a single patient's record. The record contains every kind of reference. One search
// also returns another patient's resource.
func newFakeFHIR(t *testing.T) *fakeFHIR {
	t.Helper()
	h := &fakeFHIR{
		version: "4.0.1",
		types: []string{
			"Patient:_id", "Condition:patient", "Observation:patient", "DocumentReference:subject", "Goal:patient",
			"MedicationRequest:patient", "Practitioner:name",
		},
		resources: map[string]string{}, scripts: map[string][]answer{}, bearers: map[string]bool{},
		pages: map[string][]string{
			"Condition":         {"c1 c2", "c2 c3 c4 Patient/p1"},
			"Observation":       {"o1 o2", "o2", "o3 o1 o4"},
			"DocumentReference": {"n1"},
			"Goal":              {""},
			"MedicationRequest": {"r1 Medication/m1"},
		},
	}
	h.add(t,
		`{"resourceType":"Patient","id":"p1","link":[{"other":{"reference":"Patient/p0"},`+
			`"type":"replaces"}],"generalPractitioner":[{"reference":"Practitioner/d1"}],`+
			`"managingOrganization":{"reference":"Organization/g1"}}`,
		`{"resourceType":"Patient","id":"p2"}`,
		`{"resourceType":"Condition","id":"c1","subject":{"reference":"Patient/p1"},"asserter":{"reference":"`+base+
			`/Practitioner/d1"}}`,
		`{"resourceType":"Condition","id":"c2","subject":{"reference":"Patient/p1"},`+
			`"recorder":{"reference":"Practitioner/d2/_history/3"}}`,
		`{"resourceType":"Condition","id":"c3","subject":{"reference":"Patient/p0"}}`, // an earlier record of the same person
		`{"resourceType":"Condition","id":"c4","subject":{"reference":"Patient/p2"},`+
			`"recorder":{"reference":"Practitioner/d9"}}`,
		`{"resourceType":"Observation","id":"o1","contained":[{"resourceType":"Practitioner","id":"in"}],`+
			`"performer":[{"reference":"#in"}]}`,
		`{"resourceType":"Observation","id":"o2","performer":[{"reference":"urn:uuid:1b4e28ba-2fa1-41d2-883f-0016d3cca4`+
			`27"}]}`,
		`{"resourceType":"Observation","id":"o3","performer":[{"reference":"https://elsewhere.example/fhir/r4/`+
			`Practitioner/x1"}]}`,
		`{"resourceType":"Observation","id":"o4","specimen":{"reference":"Specimen/s1"},`+
			`"device":{"reference":"Practitioner?name=any"}}`,
		`{"resourceType":"DocumentReference","id":"n1","content":[{"attachment":{"url":"Binary/b1"}},{"attachment":{"url":"`+
			base+`/Binary/b1"}},`+
			`{"attachment":{"url":"https://elsewhere.example/Binary/b2"}}],"custodian":{"reference":"Organization/g1"}}`,
		`{"resourceType":"MedicationRequest","id":"r1","medicationReference":{"reference":"Medication/m1"}}`,
		`{"resourceType":"Medication","id":"m1","manufacturer":{"reference":"Organization/g2"}}`,
		`{"resourceType":"Specimen","id":"s1"}`,
		`{"resourceType":"Practitioner","id":"d1"}`,
		`{"resourceType":"Practitioner","id":"d9"}`,
		`{"resourceType":"Practitioner","id":"d2","qualification":[{"issuer":{"reference":"Organization/g1"}}]}`,
		`{"resourceType":"Organization","id":"g1"}`,
		`{"resourceType":"Organization","id":"g2","partOf":{"reference":"Organization/g3"}}`,
		`{"resourceType":"Organization","id":"g3","partOf":{"reference":"Organization/g2"}}`,
		`{"resourceType":"Binary","id":"b1","contentType":"text/plain","data":"YQ=="}`,
	)
	return h
}

// wholeRecord lists the resources in a complete export from newFakeFHIR, in order.
func wholeRecord() []string {
	return []string{
		"Patient/p1", "Condition/c1", "Condition/c2", "Condition/c3", "MedicationRequest/r1", "Medication/m1",
		"Observation/o1", "Observation/o2", "Observation/o3", "Observation/o4", "DocumentReference/n1", "Practitioner/d1",
		"Organization/g1", "Practitioner/d2", "Organization/g2", "Specimen/s1", "Organization/g3", "Binary/b1",
	}
}

func without(names []string, unwanted ...string) []string {
	if slices.Contains(unwanted, "Observation") || slices.Contains(unwanted, "Observation/o4") {
		unwanted = append(unwanted, "Specimen") // no other resource refers to the Specimen
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.Contains(unwanted, name) || slices.Contains(unwanted, strings.Split(name, "/")[0])
	})
}
