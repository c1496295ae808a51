package export

import (
	"slices"

	"recordbridge/shared/webhook"
)

// TypeOutcome describes the outcome of collecting one resource type. A TypeOutcome does not contain URLs or patient
// data.
type TypeOutcome struct {
	Type    string  `json:"type"`
	Result  Outcome `json:"result"`
	Count   int     `json:"count"`
	Missing int     `json:"missing,omitempty"`     // known resources that could not be read
	LeftOut int     `json:"left_out,omitempty"`    // resources that name a different patient
	OnlyBy  string  `json:"only_by,omitempty"`     // parameter that restricted the search; see plan.Query.OnlyBy
	Status  int     `json:"http_status,omitempty"` // HTTP status of the response that best explains the loss

	// why resources are missing or were not requested; may be empty
	Reason LossReason `json:"reason,omitempty"`
}

// Outcome classifies a TypeOutcome.
type Outcome string

// Outcomes of collecting a resource type.
const (
	OutcomeOK          Outcome = "ok"
	OutcomeEmpty       Outcome = "empty"
	OutcomeDenied      Outcome = "denied"
	OutcomeUnsupported Outcome = "unsupported"
	OutcomeTruncated   Outcome = "truncated" // a later page or some of the resources could not be read
	OutcomeFailed      Outcome = "failed"
)

// LossReason classifies why resources of a type are missing from the file. The set of reasons is closed and listed in
// docs/guide/incomplete-records.md.
type LossReason string

// Loss reasons, mildest first. LossUnsupported and LossNotGranted do not denote losses, because the file still contains
// everything that the portal offers and the patient chose to share.
const (
	// the portal offers no search for the type, or documents of this kind are not exported
	LossUnsupported LossReason = "unsupported"
	// the patient's authorization does not cover the requested type
	LossNotGranted LossReason = "not_granted"
	// parts of the document that FHIR cannot represent or whose values are invalid
	LossConversion   LossReason = "not_converted"
	LossNotRequested LossReason = "not_requested" // the authorization request did not name the type
	// the portal does not list the type, and a trial search was not possible
	LossNotAdvertised LossReason = "not_advertised"
	LossElsewhere     LossReason = "other_server" // referenced resources on another server, which is never contacted
	// referenced resources that do not exist, according to the portal
	LossNotFound LossReason = "not_found"
	// the portal lists the type but refuses every request without giving a reason
	LossRejected    LossReason = "rejected"
	LossRefused     LossReason = "refused"         // the portal refuses access to the type
	LossLimit       LossReason = "limit"           // data beyond the limits of a single export
	LossForeignLink LossReason = "foreign_link"    // the next-page link points to a server other than the portal's
	LossTooLarge    LossReason = "too_large"       // data larger than the limit for one document or attachment
	LossUnavailable LossReason = "unavailable"     // server errors, rate limits, or no response
	LossContent     LossReason = "invalid_content" // responses that are truncated or not FHIR JSON
	LossOther       LossReason = "other_person"    // documents about another person or without a subject
)

func lossReasons() []LossReason {
	return []LossReason{
		"", LossUnsupported, LossNotGranted, LossConversion, LossNotRequested, LossNotAdvertised, LossElsewhere, LossNotFound,
		LossRejected, LossRefused,
		LossLimit, LossForeignLink, LossTooLarge, LossUnavailable, LossContent, LossOther,
	}
}

// Worse reports whether l is a more serious reason than other.
func (l LossReason) Worse(other LossReason) bool {
	order := lossReasons()
	return slices.Index(order, l) > slices.Index(order, other)
}

// Shortfall returns a finished task's losses. A loss is data that is missing from the task's files although the portal
// has it and the patient granted access (docs/guide/incomplete-records.md). Types that the portal searches only by
// listed values (TypeOutcome.OnlyBy) and other patients' resources do not count as losses.
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
