package operator

import (
	"slices"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/fhir"
)

// Blame names the party that caused an export to fail, or that caused the gaps in the exported record. Blame is empty
// if there is no failure or gap, or if the rows do not reveal the party.
type Blame string

// Parties that can cause an export's failure or its gaps.
const (
	BlamePatient      Blame = "patient"      // the patient withheld or withdrew consent
	BlamePortal       Blame = "portal"       // the portal refuses, fails or omits required data
	BlameRegistration Blame = "registration" // the client's registration at the portal, or the scopes requested there
	BlameService      Blame = "service"      // Recordbridge itself
)

// blame determines the responsible party from the rows of an export and its connection.
func blame(e Export, c Connection) Blame {
	switch {
	case e.Status == export.Success:
		return blameForGaps(e)
	case e.Status != export.Failed:
		return ""
	}
	switch e.FailureReason {
	case export.TokenRefreshFailure:
		return blameForTokens(c)
	case export.ScopePatientMissing:
		return blameForScope(e)
	case export.ResourcePatientFailure, export.ResourceInvalidContent:
		return BlamePortal
	case export.SuppressedPleaseContact:
		if len(e.Outcome) == 0 { // the export did not reach an outcome within its time limit
			return BlameService
		}
		return BlamePortal
	case export.TEFCANoDocumentsFound:
	}
	return ""
}

// blameForScope determines the responsible party for an export whose token did not cover the Patient or covered only
// the Patient. If a platform's scopes are chosen at registration, the authorization request does not name any scopes.
func blameForScope(e Export) Blame {
	asked, granted := fhir.ParseScopes(e.Scope.Asked), fhir.ParseScopes(e.Scope.Granted)
	switch {
	case asked.Any() && !asked.Allows("Patient", fhir.Read):
		return BlameRegistration
	case granted.Allows("Patient", fhir.Read):
		return BlamePortal // the portal refuses scopes that it has granted
	case e.Scope.Asked != "" && !asked.Any():
		return BlameRegistration
	}
	return BlamePatient
}

func blameForTokens(c Connection) Blame {
	registration := []string{
		"invalid_client", "client_secret_encoding", "client_unproven", "unauthorized_client",
		"invalid_scope", "invalid_request",
	}
	switch r := c.Refresh; {
	case c.Status == "":
		return ""
	case r.Ended == "invalid_grant":
		return BlamePatient
	case r.Ended == connection.AccessEnded, r.Unrenewable, slices.Contains(registration, r.FailureClass):
		return BlameRegistration
	case r.Ended == "rotation_lost", r.FailureClass == damagedTokens:
		return BlameService
	case r.Failures > 0:
		return BlamePortal
	}
	return ""
}

// blameForGaps returns the party that caused most of the gaps in a file. blameForGaps checks for gaps caused by
// Recordbridge first, because the operator can fix those gaps.
func blameForGaps(e Export) Blame {
	if e.Shortfall().Complete == nil {
		return ""
	}
	has := func(reason export.LossReason) bool {
		return slices.ContainsFunc(e.Outcome, func(t export.TypeOutcome) bool { return t.Reason == reason })
	}
	switch {
	case has(export.LossNotRequested):
		return BlameRegistration
	case has(export.LossLimit), has(export.LossConversion):
		return BlameService
	}
	return BlamePortal
}

// notRequested returns the types that were missing from the authorization request.
func notRequested(e Export) []string {
	var names []string
	for _, t := range e.Outcome {
		if t.Reason == export.LossNotRequested {
			names = append(names, t.Type)
		}
	}
	return names
}
