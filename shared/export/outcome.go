package export

import (
	"slices"

	"recordbridge/shared/webhook"
)

// TypeOutcome describes the result of collecting one resource type. It contains no URL and no content.
type TypeOutcome struct {
	Type    string  `json:"type"`
	Result  Outcome `json:"result"`
	Count   int     `json:"count"`
	Missing int     `json:"missing,omitempty"`     // known resources that could not be read
	LeftOut int     `json:"left_out,omitempty"`    // resources found that state they belong to another patient
	OnlyBy  string  `json:"only_by,omitempty"`     // see plan.Query.OnlyBy
	Status  int     `json:"http_status,omitempty"` // of the response that best explains the loss

	// why something is missing or was not requested; otherwise empty
	Reason LossReason `json:"reason,omitempty"`
}

// Outcome classifies a TypeOutcome.
type Outcome string

// The outcomes of a type.
const (
	OutcomeOK          Outcome = "ok"
	OutcomeEmpty       Outcome = "empty"
	OutcomeDenied      Outcome = "denied"
	OutcomeUnsupported Outcome = "unsupported"
	OutcomeTruncated   Outcome = "truncated" // a later page, or some of the resources, could not be read
	OutcomeFailed      Outcome = "failed"
)

// LossReason classifies why something of a type is not in the file. The set is closed; docs/guide/incomplete-records.md
// lists it.
type LossReason string

// The reasons, mildest first. The first two are not a loss: everything that the portal has and the patient shares is in
// the file.
const (
	// the portal offers no search for the type; for documents: their kind is not exported
	LossUnsupported LossReason = "unsupported"
	// the patient's authorization does not cover it, though it was requested
	LossNotGranted LossReason = "not_granted"
	// parts of documents that FHIR cannot represent, or that are invalid values
	LossConversion   LossReason = "not_converted"
	LossNotRequested LossReason = "not_requested" // our authorization request did not name it
	// the portal does not list the type, and a trial search was not possible
	LossNotAdvertised LossReason = "not_advertised"
	LossElsewhere     LossReason = "other_server" // the record names it at another server, to which no request is sent
	LossNotFound      LossReason = "not_found"    // the record names it, and the portal responds that it does not exist
	// the portal lists the type but refuses every request without a reason
	LossRejected    LossReason = "rejected"
	LossRefused     LossReason = "refused"         // the portal refuses access
	LossLimit       LossReason = "limit"           // beyond the limits of one export
	LossForeignLink LossReason = "foreign_link"    // the link to the next page leads to a server other than the portal's
	LossTooLarge    LossReason = "too_large"       // larger than the limit for one document or attachment
	LossUnavailable LossReason = "unavailable"     // server errors, rate limits, no response
	LossContent     LossReason = "invalid_content" // responses that are not FHIR JSON or are cut off
	LossOther       LossReason = "other_person"    // documents about another person, or without a stated subject
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

// Shortfall returns the losses of a finished task: data missing from its files although the patient has granted it and
// the portal has it (docs/guide/incomplete-records.md). Types that the portal searches only by listed values
// (TypeOutcome.OnlyBy) are not a known loss, and neither are resources of other patients.
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
