package smart_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/fhir"
)

func TestDiscoverOrdersListedTypesByImportance(t *testing.T) {
	t.Parallel()
	v1, v2 := []string{"permission-v1"}, []string{"permission-v2"}
	for name, test := range map[string]struct {
		capabilities, supported []string
		want                    string
	}{
		"nothing stated":                {nil, nil, "patient/*.read"},
		"version 1":                     {v1, nil, "patient/*.read"},
		"version 2":                     {v2, nil, "patient/*.rs"},
		"both":                          {slices.Concat(v1, v2), nil, "patient/*.rs"},
		"the wildcard is listed":        {v2, []string{"patient/*.rs", "patient/Patient.rs"}, "patient/*.rs"},
		"a wider wildcard":              {v2, []string{"patient/*.cruds"}, "patient/*.rs"},
		"a wider wildcard of version 1": {nil, []string{"patient/*.*"}, "patient/*.read"},
		"only the other version's":      {v2, []string{"patient/*.read"}, "patient/*.read"},
		"only version 2 in the list":    {nil, []string{"patient/*.rs"}, "patient/*.rs"},
		"types": {v1, []string{
			"openid", "patient/Observation.read", "patient/Goal.read",
			"patient/Goal.*",
		}, "patient/Goal.read patient/Observation.read"},
		"types of version 2": {
			v2,
			[]string{"patient/Observation.rs", "patient/Goal.cruds", "patient/Goal.read"},
			"patient/Goal.rs patient/Observation.rs",
		},
		"types of the other version": {v2, []string{"patient/Goal.read"}, "patient/Goal.read"},
		"what cannot be searched": {
			v2,
			[]string{"patient/Goal.r", "patient/Goal.cud", "patient/Goal.write"},
			"patient/*.rs",
		},
		"a part of a type": {v2, []string{"patient/Observation.rs?category=laboratory"}, "patient/*.rs"},
		"another person's": {v2, []string{"user/*.rs", "system/*.rs"}, "patient/*.rs"},
		"what would spoil the address": {v1, []string{
			"patient/Goal&x=.read", "patient/.read", "patient/Go al.read",
			"patient/Goal",
		}, "patient/*.read"},
		"the Patient first": {
			v2,
			[]string{
				"patient/Account.rs", "patient/Location.rs", "patient/Observation.rs", "patient/Patient.rs",
				"patient/Slot.rs",
			},
			"patient/Patient.rs patient/Observation.rs patient/Location.rs patient/Account.rs",
		},
		"nothing that an export needs": {v2, []string{"patient/Slot.rs", "patient/Measure.rs"}, "patient/*.rs"},
		"what is read by reference": {
			v2,
			[]string{"patient/Patient.rs", "patient/Practitioner.r"},
			"patient/Patient.rs patient/Practitioner.r",
		},
		"reading and searching apart": {
			v2,
			[]string{"patient/Patient.rs", "patient/Goal.s", "patient/Goal.r"},
			"patient/Patient.rs patient/Goal.r patient/Goal.s",
		},
		"the version with more types": {
			v2,
			[]string{"patient/Goal.rs", "patient/Patient.read", "patient/Goal.read"},
			"patient/Patient.read patient/Goal.read",
		},
		"a type of the other version": {
			v2,
			[]string{"patient/Patient.rs", "patient/Goal.rs", "patient/Device.read"},
			"patient/Patient.rs patient/Device.read patient/Goal.rs",
		},
		"the Patient after 400 other": {v1, append(unknown(400), "patient/Patient.read"), "patient/Patient.read"},
		"a type of STU3, after R4's own": {
			v1,
			[]string{"patient/MedicationOrder.read", "patient/Patient.read"},
			"patient/Patient.read patient/MedicationOrder.read",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			canned := answering{body: configuration(t, map[string]any{
				"capabilities": test.capabilities, "scopes_supported": test.supported,
				"authorization_endpoint": "authorize", "token_endpoint": "token",
			})}
			server, err := smart.Discover(t.Context(), canned, "https://ehr.example/r4")
			if err != nil {
				t.Fatal(err)
			}
			if server.Scope != test.want || !strings.Contains(server.Scope, "."+server.Access) {
				t.Errorf("asks for %q in version %q\nwant     %q", server.Scope, server.Access, test.want)
			}
		})
	}
}

// unknown returns scopes for n types that no FHIR release defines.
func unknown(n int) []string {
	scopes := make([]string, 0, n+1)
	for i := range n {
		scopes = append(scopes, fmt.Sprintf("patient/A%s.read", strings.Repeat("x", i%60)))
	}
	return scopes
}

// listing is a server with a CapabilityStatement whose discovery lists a scope for every type that an export needs.
type listing struct {
	document  string
	statement string // CapabilityStatement; if empty, the server returns 503
	asked     []string
}

func (l *listing) Do(r *http.Request) (*http.Response, error) {
	l.asked = append(l.asked, r.URL.Path)
	body, status := l.document, http.StatusOK
	if strings.HasSuffix(r.URL.Path, "/metadata") {
		if body = l.statement; body == "" {
			status = http.StatusServiceUnavailable
		}
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)),
		Request: r,
	}, nil
}

func TestAuthorizerFiltersLongScopeListByCapabilityStatement(t *testing.T) {
	t.Parallel()
	every := make([]string, 0, 100)
	for _, name := range fhir.NeededTypes() {
		every = append(every, "patient/"+name+".rs")
	}
	slices.Sort(every)
	statement := `{"resourceType":"CapabilityStatement","rest":[{"resource":[{"type":"Observation"},{"type":"Binary"}]}]}`
	for name, test := range map[string]struct {
		scopes    []string
		statement string
		want      string
		asked     int // expected number of requests in two discoveries
	}{
		"a long list":                  {every, statement, "patient/Patient.rs patient/Observation.rs patient/Binary.rs", 2},
		"a statement that says little": {every, `{"resourceType":"CapabilityStatement"}`, "", 2},
		"no statement, which may pass": {every, "", "", 4},
		"a short list": {
			[]string{"patient/Patient.rs", "patient/Goal.rs"},
			statement,
			"patient/Patient.rs patient/Goal.rs", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &listing{statement: test.statement, document: configuration(t, map[string]any{
				"capabilities": []string{"permission-v2"}, "scopes_supported": test.scopes,
				"authorization_endpoint": "authorize", "token_endpoint": "token",
			})}
			authorizer := smart.NewAuthorizer(server, rand.Reader, time.Now)
			for range 2 {
				found, err := authorizer.Discover(t.Context(), "https://ehr.example/r4")
				if err != nil {
					t.Fatal(err)
				}
				got := strings.Fields(found.Scope)
				isWhole := test.want == "" && len(got) == len(every) && got[0] == "patient/Patient.rs"
				if found.Scope != test.want && !isWhole {
					t.Errorf("%d scopes: %s", len(got), found.Scope)
				}
			}
			if len(server.asked) != test.asked {
				t.Errorf("asked for %v", server.asked)
			}
		})
	}
}
