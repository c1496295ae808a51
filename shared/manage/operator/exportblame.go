package operator

import (
	"slices"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/fhir"
)

// Blame names who caused the failure of an export, or the gaps in its record. It is empty if nobody did, or the rows
// do not say.
type Blame string

// The parties.
const (
	BlamePatient      Blame = "patient"      // withheld or withdrew consent
	BlamePortal       Blame = "portal"       // refuses, fails, or does not say what it has to
	BlameRegistration Blame = "registration" // how our client is registered at the portal, or what it requests there
	BlameService      Blame = "service"      // ours
)

// blame judges an export by its row and its connection's.
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
		if len(e.Outcome) == 0 { // it never came to an outcome in its time
			return BlameService
		}
		return BlamePortal
	case export.TEFCANoDocumentsFound:
	}
	return ""
}

// blameForScope judges an export for which the token did not cover the Patient, or nothing else. Platforms that
// decide at registration request no scopes.
func blameForScope(e Export) Blame {
	asked, granted := fhir.ParseScopes(e.Scope.Asked), fhir.ParseScopes(e.Scope.Granted)
	switch {
	case asked.Any() && !asked.Allows("Patient", fhir.Read):
		return BlameRegistration
	case granted.Allows("Patient", fhir.Read):
		return BlamePortal // it refuses what it has granted
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

// blameForGaps names who caused most of what is missing in a file: our own part first, since it can be mended here.
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

// notRequested lists the types that the authorization request did not name.
func notRequested(e Export) []string {
	var names []string
	for _, t := range e.Outcome {
		if t.Reason == export.LossNotRequested {
			names = append(names, t.Type)
		}
	}
	return names
}
