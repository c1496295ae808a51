// Package plan determines which requests read one patient's record from a FHIR server. The package determines the
// searches, their parameters and their order, and replaces searches that the server refuses. The package sends no
// requests and holds no state.
package plan

import (
	"net/url"
	"strings"
	"time"

	"recordbridge/shared/fhir"
)

// Profile is the request profile of a platform's FHIR server, defined in the fhir section of the platform's profile
// (package smart/platform).
type Profile struct {
	Endpoint   string              // ID of the endpoint in the catalogue; empty if it is not listed
	Base       string              // server's current base URL in the catalogue, or empty if unknown
	Everything bool                // whether the platform supports Patient/$everything
	NoCount    []string            // types whose searches fail if _count is set
	Needs      map[string][]string // required search parameters, by type
	Ways       map[string][]string // queries that replace the default ones, by type
	OnceNext   bool                // A next link can be used only once, so resuming restarts the query.
	Query      map[string]string   // parameters added to every request
	Headers    map[string]string   // headers added to every request
	Denials    []Denial            // responses that indicate a permanent refusal
	InFlight   int                 // number of concurrent requests that the server handles; 0 if unknown
	PageSize   int                 // initial _count; 0 for the default
	ByID       []string            // types searchable by a list of ids in _id, regardless of the CapabilityStatement
}

// Denial describes a platform's response that permanently refuses a request.
type Denial struct {
	Status int
	Body   string // text that the body must contain; empty to match any body
}

// Facts holds the input for a plan.
type Facts struct {
	Capability fhir.Capability // empty if the server publishes no readable CapabilityStatement
	Granted    string          // granted scopes; empty if the server did not state its scopes
	Profile    Profile
	PatientID  string
	Types      []string  // requested resource types; empty for all
	Since      time.Time // only resources changed since this time; zero for all resources
	Attaches   bool      // whether searches have returned Provenance by _revinclude
}

// Query is one search in a plan. The parameters contain the patient's id.
type Query struct {
	Type   string `json:"type"`             // type to collect; empty for a complete record ($everything)
	Path   string `json:"path,omitempty"`   // path relative to the base, if different from Type
	Params string `json:"params,omitempty"` // encoded search parameters, without _count
	Count  int    `json:"count,omitempty"`  // value of _count; 0 to omit it
	Step   int    `json:"step,omitempty"`   // bits that determine the next alternatives
}

// Plan lists the requests in order.
type Plan struct {
	Queries []Query
	Denied  []string // types that the granted scopes do not cover

	Definitions bool     // whether the server supports searches by Definition
	ByID        []string // types that can be searched by a list of ids in _id (see the Listed function)
}

// Listed returns a search that finds resources of a type by their ids (FHIR R4 search.html#id).
func Listed(resourceType string, ids []string) Query {
	return Query{Type: resourceType, Params: url.Values{"_id": {strings.Join(ids, ",")}}.Encode(), Count: len(ids)}
}

// Definition returns the search for a Questionnaire by its canonical URL, without the version. In R4,
// QuestionnaireResponse.questionnaire is a canonical URL, which can't be fetched (FHIR R4 references.html#canonical).
func Definition(canonical string) Query {
	return Query{Type: questionnaire, Params: url.Values{"url": {canonical}}.Encode(), Count: countUsual}
}

// IsDefinition reports whether q was created by Definition.
func (q Query) IsDefinition() bool { return q.Type == questionnaire }
