package export

import (
	"errors"
	"slices"

	"recordbridge/shared/fhir"
	"recordbridge/shared/webhook"
)

// LossReason classes why something of a type is not in the file. The set is closed: docs/webhooks.md lists it.
type LossReason string

// The reasons, mildest first. The first two are no loss: what the portal has and the patient shares is there.
const (
	LossUnsupported LossReason = "unsupported"     // the portal offers no search for the type
	LossNotGranted  LossReason = "not_granted"     // the patient's authorization does not cover it
	LossElsewhere   LossReason = "other_server"    // the record names it at another server, which is not asked
	LossNotFound    LossReason = "not_found"       // the record names it, and the portal says that it has no such thing
	LossRejected    LossReason = "rejected"        // the portal lists it and refuses every way of asking, without saying why
	LossRefused     LossReason = "refused"         // the portal refuses access
	LossLimit       LossReason = "limit"           // beyond what one export may hold
	LossForeignLink LossReason = "foreign_link"    // the link to the next page leads away from the portal's server
	LossTooLarge    LossReason = "too_large"       // larger than what is read of one document or attachment
	LossUnavailable LossReason = "unavailable"     // errors of the server, rate limits, no answer
	LossContent     LossReason = "invalid_content" // answers that are no FHIR in JSON, or break off
)

func lossReasons() []LossReason {
	return []LossReason{
		"", LossUnsupported, LossNotGranted, LossElsewhere, LossNotFound, LossRejected, LossRefused, LossLimit,
		LossForeignLink, LossTooLarge, LossUnavailable, LossContent,
	}
}

// worse reports whether l says more of what is missing than other.
func (l LossReason) worse(other LossReason) bool {
	order := lossReasons()
	return slices.Index(order, l) > slices.Index(order, other)
}

// isLoss reports whether something that belongs to the shared record is missing for this reason.
func (l LossReason) isLoss() bool { return l.worse(LossNotGranted) }

// Shortfall tells what is not in a finished task's files, though the patient has granted it and the portal has it
// (docs/webhooks.md, "Records that are not whole"). Types that the portal searches only by listed values
// (TypeOutcome.OnlyBy) are no loss that is known of, nor are resources of other patients.
func (t Task) Shortfall() webhook.Shortfall {
	missing := map[string]string{}
	for _, o := range t.Outcome {
		if o.Reason.isLoss() {
			missing[o.Type] = string(o.Reason)
		}
	}
	if len(missing) == 0 {
		return webhook.Shortfall{}
	}
	return webhook.Shortfall{Complete: new(bool), Missing: missing}
}

// reasonOf classes a failed search for a whole type. A type that the server itself lists has to have a way to it.
func (c *checkpoint) reasonOf(failed *fhir.RequestError) LossReason {
	reason := namedReason(failed)
	switch {
	case failed.Refusal == fhir.Unsupported, failed.Refusal == fhir.Missing:
		return LossUnsupported
	case reason != LossNotFound && reason != LossRejected:
		return reason
	case c.Listed:
		return LossRejected
	}
	return LossUnsupported
}

// namedReason classes a failed request for something that the record names: a resource, an attachment, a next page.
func namedReason(failed *fhir.RequestError) LossReason {
	switch failed.Refusal {
	case fhir.Denied:
		return LossRefused
	case fhir.Missing:
		return LossNotFound
	case fhir.Unsupported:
		return LossRejected
	case fhir.Unexplained, fhir.NeedsMore, fhir.NoCount:
	}
	switch failed.Class {
	case fhir.Unauthorized, fhir.Forbidden:
		return LossRefused
	case fhir.NotFound, fhir.Gone:
		return LossNotFound
	case fhir.Rejected:
		return LossRejected
	case fhir.TooLarge:
		if errors.Is(failed, errLimit) {
			return LossLimit
		}
		return LossTooLarge
	case fhir.ForeignLink:
		return LossForeignLink
	case fhir.Content:
		return LossContent
	case fhir.Limited, fhir.ServerFault, fhir.Network:
	}
	return LossUnavailable
}

var errLost = errors.New("too little of the record could be read")

// lost reports whether so much of the planned types is unreadable that there is no record to hand over, and the reason of
// spec section 6.2 that is true of it. Counted are the types whose search has brought a page, be it an empty one, and those
// whose searches all ended in answers that cannot be read or in none. Half of them is too much. Types that the portal does
// not have, refuses, or that the export left out at its own limits count on neither side; but a Patient alone, with
// everything else refused, is no record either (docs/deviations.md, "Exports").
func (c *checkpoint) lost() (Reason, bool) {
	var read, broken, silent, refused, rejected int
	for _, a := range c.Accounts {
		switch {
		case !a.Planned:
		case a.Paged:
			read++
		case a.Barred == LossContent, a.Barred == LossTooLarge, a.Barred == LossForeignLink:
			broken++
		case a.Barred == LossUnavailable:
			silent++
		case a.Barred == LossRefused:
			refused++
		case a.Barred == LossRejected:
			rejected++
		}
	}
	unreadable := broken + silent
	switch {
	case unreadable > 0 && unreadable >= read && broken >= silent:
		return ResourceInvalidContent, true
	case unreadable > 0 && unreadable >= read:
		return SuppressedPleaseContact, true
	case read == 0 && refused > 0:
		return ScopePatientMissing, true
	case read == 0 && rejected > 0:
		return SuppressedPleaseContact, true
	}
	return "", false
}
