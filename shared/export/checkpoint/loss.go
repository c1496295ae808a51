package checkpoint

import (
	"errors"

	"recordbridge/shared/export"
	"recordbridge/shared/fhir"
)

// SearchLoss classifies a failed search for all resources of a type. A search is expected to work if the server's
// CapabilityStatement lists the type.
func (s *Server) SearchLoss(failed *fhir.RequestError) export.LossReason {
	reason := NamedLoss(failed)
	switch {
	case failed.Refusal == fhir.Unsupported, failed.Refusal == fhir.Missing:
		return export.LossUnsupported
	case reason != export.LossNotFound && reason != export.LossRejected:
		return reason
	case s.Listed:
		return export.LossRejected
	}
	return export.LossUnsupported
}

// NamedLoss classifies a failed request for an item that the record references: a resource, an attachment or the next
// page.
func NamedLoss(failed *fhir.RequestError) export.LossReason {
	switch failed.Refusal {
	case fhir.Denied:
		return export.LossRefused
	case fhir.Missing:
		return export.LossNotFound
	case fhir.Unsupported:
		return export.LossRejected
	case fhir.Unexplained, fhir.NeedsMore, fhir.NoCount:
	}
	switch failed.Class {
	case fhir.Unauthorized, fhir.Forbidden:
		return export.LossRefused
	case fhir.NotFound, fhir.Gone:
		return export.LossNotFound
	case fhir.Rejected:
		return export.LossRejected
	case fhir.TooLarge:
		if errors.Is(failed, ErrLimit) {
			return export.LossLimit
		}
		return export.LossTooLarge
	case fhir.ForeignLink:
		return export.LossForeignLink
	case fhir.Content:
		return export.LossContent
	case fhir.Limited, fhir.ServerFault, fhir.Network:
	}
	return export.LossUnavailable
}

// OutcomeOf returns the outcome of a resource type after a failed request.
func OutcomeOf(failed *fhir.RequestError) export.Outcome {
	switch failed.Refusal {
	case fhir.Denied:
		return export.OutcomeDenied
	case fhir.Unsupported, fhir.Missing:
		return export.OutcomeUnsupported
	case fhir.Unexplained, fhir.NeedsMore, fhir.NoCount:
	}
	switch failed.Class {
	case fhir.Unauthorized, fhir.Forbidden:
		return export.OutcomeDenied
	case fhir.NotFound, fhir.Gone, fhir.Rejected:
		return export.OutcomeUnsupported
	case fhir.Limited, fhir.ServerFault, fhir.Content, fhir.TooLarge, fhir.ForeignLink, fhir.Network:
	}
	return export.OutcomeFailed
}

// Lost reports whether too many planned types are unreadable for the record to be delivered, and returns the failure
// reason. A type is readable if at least one of its searches returned a page, even an empty page. A type is unreadable
// if all its searches ended without a readable response. The record is lost if the number of unreadable types equals or
// exceeds the number of readable types. Types that the portal lacks or refuses are not counted, nor are types that the
// export skipped because of its own limits. A record is also lost if Patient is its only readable type and other types
// were refused or rejected (docs/reference/deviations.md, "Exports").
func (a *Accounts) Lost() (reason export.Reason, isLost bool) {
	var read, broken, silent, refused, rejected int
	for _, one := range a.List {
		switch {
		case !one.Planned:
		case one.Paged:
			read++
		case one.Barred == export.LossContent, one.Barred == export.LossTooLarge, one.Barred == export.LossForeignLink:
			broken++
		case one.Barred == export.LossUnavailable:
			silent++
		case one.Barred == export.LossRefused:
			refused++
		case one.Barred == export.LossRejected:
			rejected++
		}
	}
	unreadable := broken + silent
	switch {
	case unreadable > 0 && unreadable >= read && broken >= silent:
		return export.ResourceInvalidContent, true
	case unreadable > 0 && unreadable >= read:
		return export.SuppressedPleaseContact, true
	case read == 0 && refused > 0:
		return export.ScopePatientMissing, true
	case read == 0 && rejected > 0:
		return export.SuppressedPleaseContact, true
	}
	return "", false
}
