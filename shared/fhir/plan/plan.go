// Package plan owns the requests to a FHIR server for one patient's record: the searches, their parameters and order,
// and their replacements if the server refuses one. It sends no requests and keeps no state.
package plan

import (
	"net/url"
	"strings"
	"time"

	"recordbridge/shared/fhir"
)

// Profile is the request profile of a platform's FHIR server: the section fhir of the platform's profile (package
// smart/platform).
type Profile struct {
	Endpoint   string              // id in the catalogue; empty for a server outside it
	Base       string              // of the server as currently in the catalogue; empty if it has none
	Everything bool                // Patient/$everything is supported
	NoCount    []string            // types that refuse _count
	Needs      map[string][]string // parameters required by a type
	Ways       map[string][]string // queries for a type that replace the usual ones
	OnceNext   bool                // a next link works once: resuming restarts the query
	Query      map[string]string   // parameters on every request
	Headers    map[string]string   // headers on every request
	Denials    []Denial            // responses that mean a permanent refusal
	InFlight   int                 // concurrent requests that it handles; 0 if unknown
	PageSize   int                 // initial _count; 0 for the usual one
	ByID       []string            // types that can be searched by a list in _id, regardless of its statement
}

// Denial is a response by which a platform refuses something permanently.
type Denial struct {
	Status int
	Body   string // part of the body; empty for any
}

// Facts holds the facts from which a plan is created.
type Facts struct {
	Capability fhir.Capability // empty if the server publishes no readable one
	Granted    string          // scopes; empty if the server did not state them
	Profile    Profile
	PatientID  string
	Types      []string  // requested resource types; empty for all
	Since      time.Time // only changes since then; zero for all
	Attaches   bool      // searches have returned Provenance by _revinclude, regardless of the statement
}

// Query is one search of a plan. It contains the patient's id.
type Query struct {
	Type   string `json:"type"`             // type that it collects; empty for a complete record ($everything)
	Path   string `json:"path,omitempty"`   // path below the base, if different from Type
	Params string `json:"params,omitempty"` // encoded, without _count
	Count  int    `json:"count,omitempty"`  // _count to request; 0 for none
	Step   int    `json:"step,omitempty"`   // position on the ladder
}

// Plan lists the requests, in order.
type Plan struct {
	Queries []Query
	Denied  []string // types that the granted scopes do not cover

	Definitions bool     // whether Definition is supported
	ByID        []string // types that can be searched by a list in _id, see Listed
}

// Listed returns the search for resources of a type by their ids (FHIR R4 search.html#id).
func Listed(resourceType string, ids []string) Query {
	return Query{Type: resourceType, Params: url.Values{"_id": {strings.Join(ids, ",")}}.Encode(), Count: len(ids)}
}

// Definition returns the search for a Questionnaire by its canonical URL, without a version: R4's
// QuestionnaireResponse.questionnaire is not a URL to read (FHIR R4 references.html#canonical).
func Definition(canonical string) Query {
	return Query{Type: questionnaire, Params: url.Values{"url": {canonical}}.Encode(), Count: countUsual}
}

// IsDefinition reports whether q was created by Definition.
func (q Query) IsDefinition() bool { return q.Type == questionnaire }
