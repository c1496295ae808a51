package export

import (
	"slices"

	"recordbridge/shared/webhook"
)

// TypeOutcome says how far the collection of one resource type came. It holds no URL and no content.
type TypeOutcome struct {
	Type    string  `json:"type"`
	Result  Outcome `json:"result"`
	Count   int     `json:"count"`
	Missing int     `json:"missing,omitempty"`     // resources that are known of, but could not be read
	LeftOut int     `json:"left_out,omitempty"`    // resources that were found and say they are another patient's
	OnlyBy  string  `json:"only_by,omitempty"`     // see plan.Query.OnlyBy
	Status  int     `json:"http_status,omitempty"` // of the answer that says most about what is missing

	// why something is missing, or nothing was asked for; empty when neither is so
	Reason LossReason `json:"reason,omitempty"`
}

// Outcome classes a TypeOutcome.
type Outcome string

// The outcomes.
const (
	OutcomeOK          Outcome = "ok"
	OutcomeEmpty       Outcome = "empty"
	OutcomeDenied      Outcome = "denied"
	OutcomeUnsupported Outcome = "unsupported"
	OutcomeTruncated   Outcome = "truncated" // a later page, or some of the resources, could not be read
	OutcomeFailed      Outcome = "failed"
)

// LossReason classes why something of a type is not in the file. The set is closed: docs/guide/incomplete-records.md
// lists it.
type LossReason string

// The reasons, mildest first. The first two are no loss: what the portal has and the patient shares is there.
const (
	// the portal offers no search for the type; of documents: their kind is not exported
	LossUnsupported LossReason = "unsupported"
	// the patient's authorization does not cover it, though it was requested
	LossNotGranted LossReason = "not_granted"
	// parts of documents that FHIR has no place for, or that are no valid values
	LossConversion   LossReason = "not_converted"
	LossNotRequested LossReason = "not_requested" // our authorization request did not name it
	// the portal does not list it, and it could not be tried whether it has it all the same
	LossNotAdvertised LossReason = "not_advertised"
	LossElsewhere     LossReason = "other_server" // the record names it at another server, which is not asked
	LossNotFound      LossReason = "not_found"    // the record names it, and the portal says that it has no such thing
	// the portal lists it and refuses every way of asking, without saying why
	LossRejected    LossReason = "rejected"
	LossRefused     LossReason = "refused"         // the portal refuses access
	LossLimit       LossReason = "limit"           // beyond what one export may hold
	LossForeignLink LossReason = "foreign_link"    // the link to the next page leads away from the portal's server
	LossTooLarge    LossReason = "too_large"       // larger than what is read of one document or attachment
	LossUnavailable LossReason = "unavailable"     // errors of the server, rate limits, no answer
	LossContent     LossReason = "invalid_content" // answers that are no FHIR in JSON, or break off
	LossOther       LossReason = "other_person"    // documents that are about somebody else, or do not say about whom
)

func lossReasons() []LossReason {
	return []LossReason{
		"", LossUnsupported, LossNotGranted, LossConversion, LossNotRequested, LossNotAdvertised, LossElsewhere, LossNotFound,
		LossRejected, LossRefused,
		LossLimit, LossForeignLink, LossTooLarge, LossUnavailable, LossContent, LossOther,
	}
}

// Worse reports whether l says more of what is missing than other.
func (l LossReason) Worse(other LossReason) bool {
	order := lossReasons()
	return slices.Index(order, l) > slices.Index(order, other)
}

// Shortfall tells what is not in a finished task's files, though the patient has granted it and the portal has it
// (docs/guide/incomplete-records.md). Types that the portal searches only by listed values
// (TypeOutcome.OnlyBy) are no loss that is known of, nor are resources of other patients.
func (t Task) Shortfall() webhook.Shortfall {
	missing := map[string]string{}
	for _, o := range t.Outcome {
		if o.Reason.Worse(LossNotGranted) {
			missing[o.Type] = string(o.Reason)
		}
	}
	if len(missing) == 0 {
		return webhook.Shortfall{}
	}
	return webhook.Shortfall{Complete: new(bool), Missing: missing}
}
