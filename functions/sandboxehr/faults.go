package sandboxehr

import (
	"io"
	"net/http"
	"sync/atomic"
)

// Faults makes the sandbox misbehave as real portals do. The zero value is a portal without faults. Switches are
// consulted once per request, in faultSwitches.answered.
type Faults struct {
	// RefuseRefresh answers every refresh with invalid_grant, as after a consent that was withdrawn at the portal.
	RefuseRefresh bool
	// FailEvery answers each n-th search of this process with 503 and Retry-After; 0 is never, 1 always.
	FailEvery int64
}

// faultSwitches is Faults with what the switches count.
type faultSwitches struct {
	Faults

	searches atomic.Int64
}

// answered answers in the place of the operation when a switch says so.
func (f *faultSwitches) answered(w http.ResponseWriter, r *http.Request, op operation) bool {
	switch {
	case op == opSearch && f.FailEvery > 0 && f.searches.Add(1)%f.FailEvery == 0:
		w.Header().Set("Retry-After", "1")
		answerFault(w, http.StatusServiceUnavailable, "application/fhir+json; charset=utf-8",
			`{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"transient","diagnostics":"The sandbox was told to fail."}]}`)

		return true
	case op == opToken && f.RefuseRefresh && r.PostFormValue("grant_type") == "refresh_token":
		answerFault(w, http.StatusBadRequest, "application/json",
			`{"error":"invalid_grant","error_description":"the sandbox was told to refuse every refresh"}`)

		return true
	default:
		return false
	}
}

func answerFault(w http.ResponseWriter, status int, contentType, body string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}
