// Package plan owns what a FHIR server is asked for one patient's record: which searches, with which parameters, in
// which order, and what is asked instead when the server refuses one. It asks nothing itself and keeps no state.
package plan

import (
	"net/url"
	"strings"
	"time"

	"recordbridge/shared/fhir"
)

// Profile is how a platform's FHIR server wants to be asked: the section fhir of its profile (package smart/platform).
type Profile struct {
	Endpoint   string              // id in the catalogue; empty for a server that is not there
	Base       string              // of the server as the catalogue has it now; empty where it has none
	Everything bool                // Patient/$everything can be used
	NoCount    []string            // types that refuse _count
	Needs      map[string][]string // parameters without which a type is refused
	Ways       map[string][]string // queries of a type, instead of the usual ones
	OnceNext   bool                // a next link works once: resuming starts the query anew
	Query      map[string]string   // parameters on every request
	Headers    map[string]string   // headers on every request
	Denials    []Denial            // answers that mean: not for you
	InFlight   int                 // requests at once that it bears; 0 where that is not known
	PageSize   int                 // _count to begin with; 0 for the usual
	ByID       []string            // types that are found by a list in _id, whatever its statement says
}

// Denial is an answer by which a platform says that something is refused for good.
type Denial struct {
	Status int
	Body   string // a part of the body; empty for any
}

// Facts are what a plan is made of.
type Facts struct {
	Capability fhir.Capability // empty when the server publishes none that can be read
	Granted    string          // scopes; empty when the server did not say
	Profile    Profile
	PatientID  string
	Types      []string  // resource types that are wanted; empty for all
	Since      time.Time // only what has changed since then; zero for all
	Attaches   bool      // searches have returned Provenance by _revinclude, whatever the statement lists
}

// Query is one search of a plan. It holds the patient's id.
type Query struct {
	Type   string `json:"type"`             // what it collects; empty for a whole record ($everything)
	Path   string `json:"path,omitempty"`   // below the base, when it is not Type
	Params string `json:"params,omitempty"` // encoded, without _count
	Count  int    `json:"count,omitempty"`  // _count to ask for; 0 for none
	Step   int    `json:"step,omitempty"`   // how far down the ladder it is
}

// Plan is what is asked, in this order.
type Plan struct {
	Queries []Query
	Denied  []string // types that the granted scopes do not cover

	Definitions bool     // whether Definition can be asked
	ByID        []string // types that are found by a list in _id, see Listed
}

// Listed is the search for resources of a type by their ids (FHIR R4 search.html#id).
func Listed(resourceType string, ids []string) Query {
	return Query{Type: resourceType, Params: url.Values{"_id": {strings.Join(ids, ",")}}.Encode(), Count: len(ids)}
}

// Definition is the search for a Questionnaire by its canonical URL, which is without a version: what R4's
// QuestionnaireResponse.questionnaire names is no address to read (FHIR R4 references.html#canonical).
func Definition(canonical string) Query {
	return Query{Type: questionnaire, Params: url.Values{"url": {canonical}}.Encode(), Count: countUsual}
}

// IsDefinition reports whether q was made by Definition.
func (q Query) IsDefinition() bool { return q.Type == questionnaire }
