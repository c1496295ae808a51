// Package view renders a connect attempt for the page that created it (docs/openapi.yaml, Attempt). The package is
// separate because two endpoints return this view and package flow does not depend on JSON.
package view

import (
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
)

// Attempt describes an attempt's progress.
type Attempt struct {
	AttemptID string            `json:"attempt_id"`
	Status    flow.Status       `json:"status"`
	Result    map[string]string `json:"result,omitempty"` // same parameters as in a redirect (flow.Completed)
	Initials  string            `json:"patient_initials,omitempty"`
	Error     *binding.Failure  `json:"error,omitempty"`
}

// Of converts p to the API's representation.
func Of(p flow.Progress) Attempt {
	out := Attempt{AttemptID: p.AttemptID, Status: p.Status, Initials: p.Initials, Error: p.Failure}
	if len(p.Result) > 0 {
		out.Result = map[string]string{}
		for name := range p.Result {
			out.Result[name] = p.Result.Get(name)
		}
	}
	return out
}
