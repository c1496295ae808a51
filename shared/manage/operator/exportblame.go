package operator

import (
	"slices"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/fhir"
)

// Blame names the party responsible for an export's failure or for gaps in the exported record. Blame is empty if the
// export has no failure or gaps, or if its rows do not identify the responsible party.
type Blame string

// Parties that can be responsible for an export's failure or gaps.
const (
	BlamePatient      Blame = "patient"      // the patient withheld or withdrew consent
	BlamePortal       Blame = "portal"       // the portal refuses access, fails or omits required data
	BlameRegistration Blame = "registration" // the client's registration or the requested scopes are at fault
	BlameService      Blame = "service"      // Recordbridge itself
)

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
		if len(e.Outcome) == 0 { // the export timed out without an outcome
			return BlameService
		}
		return BlamePortal
	case export.TEFCANoDocumentsFound:
	}
	return ""
}

// blameForScope returns the responsible party if a token does not allow reading the Patient or the portal refuses all
// other types. If a platform assigns scopes at registration, authorization requests contain no clinical scopes.
func blameForScope(e Export) Blame {
	asked, granted := fhir.ParseScopes(e.Scope.Asked), fhir.ParseScopes(e.Scope.Granted)
	switch {
	case asked.Any() && !asked.Allows("Patient", fhir.Read):
		return BlameRegistration
	case granted.Allows("Patient", fhir.Read):
		return BlamePortal // the portal rejects requests that the granted scopes allow
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

// blameForGaps returns the party responsible for the gaps in an export file. Causes that the operator can fix take
// precedence: first unrequested types, then limits and failed conversions.
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

func notRequested(e Export) []string {
	var names []string
	for _, t := range e.Outcome {
		if t.Reason == export.LossNotRequested {
			names = append(names, t.Type)
		}
	}
	return names
}
