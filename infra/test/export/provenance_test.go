package exporttest_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/export"
)

// attaching counts the requests with _revinclude that it forwards to a server whose CapabilityStatement omits the
// parameter.
type attaching struct {
	http.Handler

	ignored bool // whether the server ignores _revinclude
	asked   atomic.Int64
	all     atomic.Int64
}

func (a *attaching) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.all.Add(1)
	if values := r.URL.Query(); values.Has("_revinclude") {
		a.asked.Add(1)
		if a.ignored {
			values.Del("_revinclude")
			r.URL.RawQuery = values.Encode()
		}
	}
	a.Handler.ServeHTTP(w, r)
}

// attachedExport exports from a server whose CapabilityStatement does not list _revinclude. It returns the number of
// requests with _revinclude (attached) and of all requests (all).
func attachedExport(t *testing.T, s scenario, ignored bool) (r result, attached, all int) {
	t.Helper()
	handler, err := portal()
	expect.NoError(t, err)
	counted := &attaching{Handler: handler, ignored: ignored}
	s.handler, s.person, s.switches = counted, named(t, paged[0]), "unlisted-includes"
	r = s.run(t)
	return r, int(counted.asked.Load()), int(counted.all.Load())
}

func TestExportLearnsUnadvertisedRevIncludeSupport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		remembered := newLearned(t)
		r, attached, first := attachedExport(t, scenario{label: "attached-1", known: remembered}, false)
		checkWhole(t, r)
		if found := r.task.Stats.TotalByResourceType["Provenance"]; found != 2 || attached < 10 {
			t.Errorf("%d Provenance by %d searches with _revinclude", found, attached)
		}
		r, attached, second := attachedExport(t, scenario{label: "attached-2", known: remembered}, false)
		checkWhole(t, r)
		if attached < 10 || second >= first-10 {
			t.Errorf("%d requests, %d with _revinclude; the first export needed %d", second, attached, first)
		}
	})
}

func TestExportTriesRevIncludeOnceWhenUnsupported(t *testing.T) {
	t.Parallel()
	refused := func(address string, _ int) mishap {
		if strings.Contains(address, "_revinclude") {
			return mishap{status: http.StatusBadRequest}
		}
		return mishap{}
	}
	for name, c := range map[string]struct {
		ignored bool
		mishap  func(string, int) mishap
	}{"ignored": {ignored: true}, "refused": {mishap: refused}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				remembered := newLearned(t)
				for nth, want := range []int{1, 0} {
					s := scenario{label: name + "-" + []string{"first", "second"}[nth], known: remembered, mishap: c.mishap}
					r, attached, _ := attachedExport(t, s, c.ignored)
					if c.mishap != nil {
						attached = countWith(r.requests, "_revinclude")
					}
					if attached != want || r.task.Status != export.Success || missingOf(r, "Provenance") != "" {
						t.Errorf("export %d: %d searches with _revinclude, %s, missing %v", nth, attached, r.task.Status,
							r.task.Shortfall().Missing)
					}
				}
			})
		})
	}
}

func TestExportReportsProvenanceAsNotAdvertisedWhenRevIncludeFails(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]mishap{
		"no answer": {refused: true},
		"an error":  {status: http.StatusInternalServerError}, "no FHIR": {garbled: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				remembered := newLearned(t)
				label := "open-" + strings.ReplaceAll(name, " ", "-")
				r, _, _ := attachedExport(t, scenario{
					label: label + "-1", known: remembered,
					mishap: func(address string, _ int) mishap {
						if strings.Contains(address, "_revinclude") {
							return failure
						}
						return mishap{}
					},
				}, false)
				checkHonest(t, r)
				if got := missingOf(r, "Provenance"); got != string(export.LossNotAdvertised) {
					t.Errorf("Provenance: %q, want not_advertised", got)
				}
				r, attached, _ := attachedExport(t, scenario{label: label + "-2", known: remembered}, false)
				checkWhole(t, r)
				if attached < 10 {
					t.Errorf("%d searches with _revinclude in the next export", attached)
				}
			})
		})
	}
}

// countWith counts the distinct URLs that contain text.
func countWith(requests map[string]int, text string) int {
	found := 0
	for address := range requests {
		if strings.Contains(address, text) {
			found++
		}
	}
	return found
}
