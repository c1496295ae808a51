package worker_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/export"
)

// gatewayBench returns a bench whose server is behind a gateway and uses its own base URL in every link.
func gatewayBench(t *testing.T, own string) *bench {
	t.Helper()
	b := newBench(t)
	b.server.own = own
	b.server.add(t, `{"resourceType":"Patient","id":"p1","link":[{"other":{"reference":"`+base+
		`/Patient/p0"},"type":"replaces"}],`+
		`"photo":[{"url":"`+base+`/Binary/b1"}],"generalPractitioner":[{"reference":"`+base+`/Practitioner/d1"}],`+
		`"managingOrganization":{"reference":"`+base+`/Organization/g1"}}`)
	b.server.add(t, `{"resourceType":"Condition","id":"c4","subject":{"reference":"`+base+`/Patient/p2"}}`)
	return b
}

func TestExportIsCompleteWhenServerUsesDifferentBaseURL(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		own    string
		change func(*fakeFHIR)
	}{
		"another host and path":    {"http://inner:8080/hapi/fhir", func(*fakeFHIR) {}},
		"another path":             {"https://ehr.example/internal/r4", func(*fakeFHIR) {}},
		"a longer path":            {base + "/tenant", func(*fakeFHIR) {}},
		"a shorter path":           {"https://ehr.example/fhir", func(*fakeFHIR) {}},
		"the root of another host": {"http://inner", func(*fakeFHIR) {}},
		"without TLS":              {"http://ehr.example/fhir/r4", func(*fakeFHIR) {}},
		"pages at the base":        {"http://inner:8080/hapi/fhir", func(h *fakeFHIR) { h.getPages = true }},
		"no self link":             {"http://inner:8080/hapi/fhir", func(h *fakeFHIR) { h.selfless = true }},
		"neither, pages at the base": {
			"http://inner:8080/hapi/fhir",
			func(h *fakeFHIR) { h.selfless, h.getPages = true, true },
		},
		"addresses without a host": {"/hapi/fhir", func(*fakeFHIR) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := gatewayBench(t, c.own)
				c.change(b.server)
				b.work(t, 0)
				got := names(t, b.file(t))
				if c.own[0] == '/' { // the server's base path can't be determined
					if o := outcomeOf(t, b.task(), "Observation"); o.Reason != export.LossForeignLink {
						t.Errorf("outcome %+v", o)
					}
					return
				}
				if diff := cmp.Diff(wholeRecord(), got); diff != "" {
					t.Errorf("file (-want +got):\n%s", diff)
				}
				// the result is the same as without a gateway
				want := `"complete":false,"missing":{"Binary":"other_server","Practitioner":"other_server"}}`
				if data := successData(t, b); !strings.HasSuffix(data, want) {
					t.Errorf("data %s", data)
				}
				if left := outcomeOf(t, b.task(), "Condition").LeftOut; left != 1 {
					t.Errorf("%d left out, want the other patient's", left)
				}
				wantOnlyOurs(t, b.server)
			})
		})
	}
}

// wantOnlyOurs checks that the export sent requests only to URLs under the pinned base URL.
func wantOnlyOurs(t *testing.T, h *fakeFHIR) {
	t.Helper()
	for _, asked := range h.asked {
		isHost := asked != "metadata" && !strings.ContainsAny(asked, "/?")
		if isHost || strings.HasPrefix(asked, "/") && !strings.HasPrefix(asked, "/fhir/r4?") {
			t.Errorf("asked for %s", asked)
		}
	}
}

func TestHandoverPreservesFileWhenServerIsBehindGateway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := gatewayBench(t, "http://inner:8080/hapi/fhir")
		b.server.getPages = true
		for _, request := range []string{"metadata", findConditions, "/fhir/r4?*", "Practitioner/d1", "Binary/b1"} {
			b.server.script(request, answer{status: 429, retryAfter: 120})
		}
		if runs := b.finish(t); runs < 4 {
			t.Errorf("%d runs, want one for each hand-over", runs)
		}
		if diff := cmp.Diff(wholeRecord(), names(t, b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
	})
}

func TestWorkerRequestsLargerFirstPageWhenNextLinkIsForeign(t *testing.T) {
	t.Parallel()
	const wide = "Observation?_count=1000&patient=p1"
	elsewhere := `"link":[{"relation":"self","url":"` + base +
		`/Observation"},{"relation":"next","url":"https://elsewhere.example/pages/2"}]`
	page := func(h *fakeFHIR, rest string, ids ...string) string {
		entries := make([]string, 0, len(ids))
		for _, id := range ids {
			entries = append(entries, `{"resource":`+h.resources["Observation/"+id]+`}`)
		}
		return `{"resourceType":"Bundle","entry":[` + strings.Join(entries, ",") + `],` + rest + `}`
	}
	for name, c := range map[string]struct {
		larger answer // response to the search with a larger page size; the zero value means a complete response
		want   export.TypeOutcome
	}{
		"it has all": {answer{}, export.TypeOutcome{Result: export.OutcomeOK, Count: 4}},
		"it is refused": {
			answer{status: 400},
			export.TypeOutcome{Result: export.OutcomeTruncated, Count: 2, Reason: export.LossForeignLink, Status: 400},
		},
		"it is HTML": {
			answer{status: 200, body: "<html>"},
			export.TypeOutcome{Result: export.OutcomeTruncated, Count: 2, Reason: export.LossForeignLink, Status: 200},
		},
		"it leads elsewhere, too": {
			answer{status: 200, body: "more"},
			export.TypeOutcome{Result: export.OutcomeTruncated, Count: 3, Reason: export.LossForeignLink},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.server.script(findObservations, answer{status: 200, body: page(b.server, elsewhere, "o1", "o2"), always: true})
				c.larger.always, c.want.Type = true, "Observation"
				switch {
				case c.larger.status == 0:
					c.larger.status, c.larger.body = 200, page(b.server, `"link":[]`, "o1", "o2", "o3", "o4")
				case c.larger.body == "more":
					c.larger.body = page(b.server, elsewhere, "o1", "o2", "o3")
				}
				b.server.script(wide, c.larger)
				b.server.script("Observation?_count=300&patient=p1", c.larger)
				b.finish(t)
				if got := outcomeOf(t, b.task(), "Observation"); got != c.want {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
				wantOnlyOurs(t, b.server)
			})
		})
	}
}

func TestWorkerWithholdsTokenFromHostileBaseURL(t *testing.T) {
	t.Parallel()
	const evil = "https://evil.example/x"
	for name, c := range map[string]struct{ self, next string }{
		"its own host":          {evil + "/Observation", evil + "/Observation?page=2"},
		"pages at its own base": {evil + "/Observation", evil + "?_getpages=2"},
		"a way up":              {evil + "/Observation", evil + "/../../admin?page=2"},
		"an encoded way up":     {evil + "/Observation", evil + "/%2e%2e/%2e%2e/admin"},
		"an encoded slash":      {evil + "/Observation", evil + "/..%2f..%2fadmin"},
		"a backslash":           {evil + "/Observation", evil + `/..\\..\\admin`},
		"user information":      {evil + "/Observation", "https://ehr.example@evil.example/x/Observation?page=2"},
		"user information inside": {
			"https://evil.example@ehr.example/fhir/r4/Observation",
			"https://evil.example@ehr.example/fhir/r4/Observation?page=2",
		},
		"a way up in its own":     {"https://evil.example/../Observation", "https://evil.example/../Observation?page=2"},
		"another host's page":     {base + "/Observation", evil + "/Observation?page=2"},
		"a path of the same host": {"https://ehr.example/Observation", "https://ehr.example/admin/tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				page := answer{
					status: 200, always: true,
					body: `{"resourceType":"Bundle","entry":[{"fullUrl":"` + evil + `/Observation/o1","resource":` +
						b.server.resources["Observation/o1"] +
						`}],"link":[{"relation":"self","url":"` + c.self + `"},{"relation":"next","url":"` + c.next + `"}]}`,
				}
				b.server.script("Observation?*", page)
				b.finish(t)
				b.file(t)
				wantOnlyOurs(t, b.server)
				for _, request := range b.server.asked {
					if strings.Contains(request, "..") || strings.Contains(strings.ToLower(request), "%2e") {
						t.Errorf("asked for %s", request)
					}
				}
			})
		})
	}
}
