package oauth

import (
	_ "embed"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"recordbridge/infra/sandbox/page"
	"recordbridge/infra/sandbox/persona"
	"recordbridge/infra/sandbox/scope"
)

// Template for the pages, all of which use the same HTML document (package page).
var (
	//go:embed page/authorize.html
	pageHTML []byte
	//go:embed page/authorize.css
	pageCSS []byte
	//go:embed page/authorize.js
	pageJS []byte
)

// view is the JSON data embedded in the page. Kind determines which other fields are set.
type view struct {
	Kind     string   `json:"kind"` // page to display: "sign_in", "consent" or "error"
	App      string   `json:"app,omitempty"`
	People   []choice `json:"people,omitempty"`
	Person   string   `json:"person,omitempty"`
	Data     []string `json:"data,omitempty"`
	Offline  bool     `json:"offline,omitempty"`
	Approve  string   `json:"approve,omitempty"`
	Deny     string   `json:"deny,omitempty"`
	Back     string   `json:"back,omitempty"`
	Problem  string   `json:"problem,omitempty"`
	WrongArg string   `json:"wrong_parameter,omitempty"`
}

type choice struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Href  string `json:"href"`
}

func (e *authorizeEndpoint) signInPage(w http.ResponseWriter, request authorizeRequest, query url.Values) {
	people := make([]choice, 0, len(e.listed))
	for _, p := range e.listed {
		people = append(people, choice{Name: p.Name, About: p.About, Href: hrefWith(query, personaParam, p.ID)})
	}
	e.writePage(w, http.StatusOK, view{
		Kind: "sign_in", App: request.client.ID, People: people, Deny: hrefWith(query, decisionParam, "deny"),
	})
}

func (e *authorizeEndpoint) consentPage(w http.ResponseWriter, request authorizeRequest, person persona.Persona,
	query url.Values,
) {
	e.writePage(w, http.StatusOK, view{
		Kind: "consent", App: request.client.ID, Person: person.Name,
		Data:    dataLabels(request.scopes, person.Types),
		Offline: scope.Offline(request.scopes),
		Approve: hrefWith(query, decisionParam, "approve"),
		Deny:    hrefWith(query, decisionParam, "deny"),
		Back:    hrefWith(query, personaParam, ""),
	})
}

// errorPage shows an error that must not cause a redirect. The page does not contain any client input.
func (a responder) errorPage(w http.ResponseWriter, problem, parameter string) {
	a.writePage(w, http.StatusBadRequest, view{Kind: "error", Problem: problem, WrongArg: parameter})
}

func (a responder) writePage(w http.ResponseWriter, status int, v view) {
	if err := page.Write(w, status, pageHTML, v); err != nil {
		a.log.Error("write page", slog.Any("error", err))
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// Asset serves the pages' style sheet and script at GET /oauth/assets/{name}.
func (e *discoveryEndpoints) Asset(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:] {
	case "authorize.css":
		page.WriteAsset(w, "text/css; charset=utf-8", pageCSS)
	case "authorize.js":
		page.WriteAsset(w, "text/javascript; charset=utf-8", pageJS)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// hrefWith returns a relative URL with the request's query, in which the named parameter is set to value, or omitted if
// value is empty.
func hrefWith(query url.Values, name, value string) string {
	next := url.Values{}
	for key, values := range query {
		if key != name {
			next[key] = values
		}
	}
	if value != "" {
		next.Set(name, value)
	}

	return "?" + next.Encode()
}

// dataLabels describes in plain language the data to which the scopes give access. A wildcard scope covers the given
// types.
func dataLabels(scopes, types []string) []string {
	named, all := scope.Types(scopes)
	if all {
		named = types
	}
	var labels []string
	for _, name := range named {
		if label := dataLabel(name); !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	slices.Sort(labels)

	return labels
}

func dataLabel(resourceType string) string {
	switch resourceType {
	case "Patient", "RelatedPerson":
		return "Name, address and contacts"
	case "AllergyIntolerance":
		return "Allergies"
	case "Condition":
		return "Health problems"
	case "Medication", "MedicationRequest", "MedicationStatement", "MedicationAdministration", "MedicationDispense":
		return "Medicines"
	case "Observation", "DiagnosticReport", "Specimen", "ServiceRequest", "ImagingStudy", "Media":
		return "Measurements, test results and images"
	case "DocumentReference", "Binary", "Composition":
		return "Letters, notes and documents"
	case "Immunization":
		return "Vaccinations"
	case "Procedure", "Device":
		return "Procedures and devices"
	case "Encounter", "Appointment":
		return "Visits"
	case "CarePlan", "CareTeam", "Goal":
		return "Care plans, goals and care team"
	case "Coverage", "Claim", "ExplanationOfBenefit":
		return "Insurance and bills"
	case "FamilyMemberHistory":
		return "Family history"
	case "Organization", "Practitioner", "PractitionerRole", "Location":
		return "Clinics and clinicians"
	case "Provenance":
		return "Sources of the entries"
	default:
		return resourceType
	}
}
