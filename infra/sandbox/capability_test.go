package sandbox_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/sandbox/persona"
)

type capability struct {
	ResourceType string   `json:"resourceType"`
	FHIRVersion  string   `json:"fhirVersion"`
	Status       string   `json:"status"`
	Kind         string   `json:"kind"`
	Date         string   `json:"date"`
	Format       []string `json:"format"`
	Rest         []struct {
		Mode     string `json:"mode"`
		Security struct {
			Extension []struct {
				URL       string `json:"url"`
				Extension []struct {
					URL   string `json:"url"`
					Value string `json:"valueUri"`
				} `json:"extension"`
			} `json:"extension"`
		} `json:"security"`
		Resource []struct {
			Type        string `json:"type"`
			Interaction []struct {
				Code string `json:"code"`
			} `json:"interaction"`
			SearchParam []struct {
				Name string `json:"name"`
				Type string `json:"type"`
			} `json:"searchParam"`
			Include    []string `json:"searchInclude"`
			RevInclude []string `json:"searchRevInclude"`
			Operation  []struct {
				Name string `json:"name"`
			} `json:"operation"`
		} `json:"resource"`
	} `json:"rest"`
}

func (p *portal) capability() capability {
	p.t.Helper()
	a := p.get(p.fhir + "/metadata")
	var got capability
	if err := json.Unmarshal(a.body, &got); err != nil || a.status != http.StatusOK || len(got.Rest) != 1 {
		p.t.Fatalf("metadata: %d %v\n%.300s", a.status, err, a.body)
	}

	return got
}

func TestCapabilityStatementMatchesServer(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	got := p.capability()
	if got.ResourceType != "CapabilityStatement" || got.FHIRVersion != "4.0.1" || got.Status == "" || got.Date == "" ||
		got.Kind != "instance" || len(got.Format) == 0 {
		t.Errorf("required elements: %+v", got)
	}
	tokens := p.connect("cedar-brook")
	for _, r := range got.Rest[0].Resource {
		search := p.read(tokens.Access, r.Type)
		read := p.read(tokens.Access, r.Type+"/no-such-id")
		wantOutcome(t, read, http.StatusNotFound, "not-found")
		if len(r.Interaction) == 1 {
			if r.Interaction[0].Code != "read" || len(r.SearchParam) != 0 {
				t.Errorf("%s: interactions %v with parameters %v", r.Type, r.Interaction, r.SearchParam)
			}
			wantOutcome(t, search, http.StatusBadRequest, "not-supported")

			continue
		}
		if search.status != http.StatusOK {
			t.Errorf("%s: %d, want 200", r.Type, search.status)
		}
		for _, one := range r.Include {
			p.searchset(p.read(tokens.Access, r.Type+"?_include="+one, "Prefer", "handling=strict"))
		}
		for _, one := range r.RevInclude {
			p.searchset(p.read(tokens.Access, r.Type+"?_revinclude="+one, "Prefer", "handling=strict"))
		}
		for _, param := range r.SearchParam {
			value := "some-code"
			switch param.Type {
			case "reference":
				value = tokens.Patient
			case "date":
				value = "lt1970"
			}
			a := p.read(tokens.Access, r.Type+"?"+param.Name+"="+value, "Prefer", "handling=strict")
			if a.status != http.StatusOK {
				t.Errorf("%s?%s: %d, want 200", r.Type, param.Name, a.status)
			}
			if total := p.searchset(a).Total; param.Type != "reference" && total != 0 {
				t.Errorf("%s?%s=%s: total = %d, so the parameter is not honoured", r.Type, param.Name, value, total)
			}
		}
	}
}

func TestFHIRReturns404ForUnlistedTypes(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	token := p.connect("cedar-brook").Access
	resources := p.capability().Rest[0].Resource
	listed := make([]string, 0, len(resources))
	for _, r := range resources {
		listed = append(listed, r.Type)
	}
	if want := persona.Builtin()[0].Types; !slices.Equal(listed, want) {
		t.Errorf("listed types (-want +got):\n%s", cmp.Diff(want, listed))
	}
	for _, name := range []string{
		"Account", "Appointment", "Group", "MedicationStatement", "PractitionerRole", "Bundle",
		"observation", "$export", "Nonsense",
	} {
		wantOutcome(t, p.read(token, name), http.StatusNotFound, "not-supported")
		wantOutcome(t, p.read(token, name+"/1"), http.StatusNotFound, "not-supported")
	}
}

func TestCapabilityStatementContainsOAuthURLs(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	extensions := p.capability().Rest[0].Security.Extension
	if len(extensions) != 1 ||
		extensions[0].URL != "http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris" {
		t.Fatalf("extensions = %+v, want oauth-uris", extensions)
	}
	got := map[string]string{}
	for _, e := range extensions[0].Extension {
		got[e.URL] = e.Value
	}
	want := map[string]string{
		"authorize": p.base + "/oauth/authorize", "token": p.base + "/oauth/token",
		"revoke": p.base + "/oauth/revoke", "introspect": p.base + "/oauth/introspect",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("oauth-uris (-want +got):\n%s", diff)
	}
}
