package attempt

import (
	"cmp"
	"errors"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
)

// Causes of failure other than those in package identity.
const (
	causeRefused  = "identity_refused"
	causeNetwork  = "network_unavailable"
	causeInternal = "internal"
)

// causes returns the table of failures that can follow the provider's response. Each cause is a stable identifier.
func causes() fault.Causes {
	return fault.Causes{
		causeRefused: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange,
				"The health information network did not accept the identity check. Nothing was shared. Please verify "+
					"your identity once more."),
			Action: "Let the patient verify again. If it happens again, ask the operator whether the network accepts this " +
				"identity provider.",
		},
		causeNetwork: {
			Shown: fault.New(fault.Unavailable, fault.CodeUnavailable,
				"The health information network is not responding at the moment. Nothing was shared. Please try "+
					"again in a few minutes."),
			Action: "The network did not respond, or failed. Let the patient try again later.",
		},
		binding.Cancelled: binding.Cancellation(),
		causeInternal: {
			Shown:  fault.Of(nil),
			Action: "Let the patient try again. If it happens again, send support the request ID.",
		},
	}
}

// failed returns the error for cause, which must be listed in causes.
func failed(cause string, because error) error { return causes().Failed(cause, because) }

// causeOf returns the cause of an attempt's failure. An error that is not in either causes table is an internal
// failure.
func causeOf(err error) string { return cmp.Or(identity.CauseOf(err), causeInternal) }

// actionOf returns the remedy for a cause, which may have been stored by another release.
func actionOf(cause string) string {
	return cmp.Or(causes()[cause].Action, identity.ActionOf(cause), causes()[causeInternal].Action)
}

// Reason is a stable identifier that explains why a chosen facility could not be connected (docs/openapi.yaml).
type Reason string

// Reasons why a facility could not be connected.
const (
	ReasonRefused     Reason = "refused"
	ReasonUnavailable Reason = "unavailable"
	ReasonTooLarge    Reason = "too_large"
	ReasonContent     Reason = "invalid_content"
	ReasonOther       Reason = "other_person"
	ReasonIdentity    Reason = "identity_expired"
	ReasonInternal    Reason = "internal"
)

// reasonOf returns the reason for an error from a network or facility. For any other error, which is an internal
// failure, known is false.
func reasonOf(err error) (reason Reason, known bool) {
	for _, of := range []struct {
		err    error
		reason Reason
	}{
		{tefca.ErrIdentity, ReasonIdentity},
		{tefca.ErrRefused, ReasonRefused},
		{tefca.ErrNotFound, ReasonUnavailable},
		{tefca.ErrTooLarge, ReasonTooLarge},
		{tefca.ErrOtherPerson, ReasonOther}, // ErrOtherPerson wraps ErrContent, so its case comes first
		{tefca.ErrContent, ReasonContent},
		{tefca.ErrUnavailable, ReasonUnavailable},
	} {
		if errors.Is(err, of.err) {
			return of.reason, true
		}
	}
	return ReasonInternal, false
}
