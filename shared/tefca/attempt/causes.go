package attempt

import (
	"cmp"
	"errors"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
)

// The causes beside those of package identity.
const (
	causeRefused  = "identity_refused"
	causeNetwork  = "network_unavailable"
	causeInternal = "internal"
)

// causes is the table of what an attempt can fail of once the provider has answered. Causes are stable words.
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
		causeInternal: {
			Shown:  fault.Of(nil),
			Action: "Let the patient try again. If it happens again, send support the request ID.",
		},
	}
}

// failed makes the error of a cause that is in the table.
func failed(cause string, because error) error { return causes().Failed(cause, because) }

// causeOf tells why an attempt failed; whatever is in neither table is our own fault.
func causeOf(err error) string { return cmp.Or(identity.CauseOf(err), causeInternal) }

// actionOf tells what to do about a cause, which may be another release's.
func actionOf(cause string) string {
	return cmp.Or(causes()[cause].Action, identity.ActionOf(cause), causes()[causeInternal].Action)
}

// Reason is why a chosen facility could not be connected, as a stable word (docs/openapi.yaml).
type Reason string

// The reasons.
const (
	ReasonRefused     Reason = "refused"
	ReasonUnavailable Reason = "unavailable"
	ReasonTooLarge    Reason = "too_large"
	ReasonContent     Reason = "invalid_content"
	ReasonOther       Reason = "other_person"
	ReasonIdentity    Reason = "identity_expired"
	ReasonInternal    Reason = "internal"
)

// reasonOf reads what a network, or a facility of it, has answered with. Only what passes may be our own
// failure: known is false then.
func reasonOf(err error) (reason Reason, known bool) {
	for _, of := range []struct {
		err    error
		reason Reason
	}{
		{tefca.ErrIdentity, ReasonIdentity},
		{tefca.ErrRefused, ReasonRefused},
		{tefca.ErrNotFound, ReasonUnavailable},
		{tefca.ErrTooLarge, ReasonTooLarge},
		{tefca.ErrOtherPerson, ReasonOther}, // which is an ErrContent
		{tefca.ErrContent, ReasonContent},
		{tefca.ErrUnavailable, ReasonUnavailable},
	} {
		if errors.Is(err, of.err) {
			return of.reason, true
		}
	}
	return ReasonInternal, false
}
