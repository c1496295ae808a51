package attempt

import (
	"cmp"
	"errors"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
)

// The failure causes in addition to those of package identity.
const (
	causeRefused  = "identity_refused"
	causeNetwork  = "network_unavailable"
	causeInternal = "internal"
)

// causes returns the table of failure causes of an attempt after the provider has responded. Causes are stable words.
func causes() fault.Causes {
	return fault.Causes{
		causeRefused: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange,
				"The health information network did not accept the identity check. Nothing was shared; please verify your "+
					"identity once more."),
			Action: "Let the patient verify again. If it happens again, ask the operator whether the network accepts this " +
				"identity provider.",
		},
		causeNetwork: {
			Shown: fault.New(fault.Unavailable, fault.CodeUnavailable,
				"The health information network does not answer at the moment. Nothing was shared; please try again in some "+
					"minutes."),
			Action: "The network did not answer, or failed. Let the patient try again later.",
		},
		causeInternal: {
			Shown:  fault.Of(nil),
			Action: "Let the patient try again. If it happens again, give support the request id.",
		},
	}
}

// failed returns the error of a cause that is in the table.
func failed(cause string, because error) error { return causes().Failed(cause, because) }

// causeOf returns the cause of an attempt's failure. An error in neither table is internal.
func causeOf(err error) string { return cmp.Or(identity.CauseOf(err), causeInternal) }

// actionOf returns the remedy for a cause, which may come from another release.
func actionOf(cause string) string {
	return cmp.Or(causes()[cause].Action, identity.ActionOf(cause), causes()[causeInternal].Action)
}

// Reason is a stable word for why a chosen facility could not be connected (docs/openapi.yaml).
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

// reasonOf returns the reason for an error of a network or facility. known is false for any other error, which is an
// internal failure.
func reasonOf(err error) (reason Reason, known bool) {
	for _, of := range []struct {
		err    error
		reason Reason
	}{
		{tefca.ErrIdentity, ReasonIdentity},
		{tefca.ErrRefused, ReasonRefused},
		{tefca.ErrNotFound, ReasonUnavailable},
		{tefca.ErrTooLarge, ReasonTooLarge},
		{tefca.ErrOtherPerson, ReasonOther}, // also an ErrContent
		{tefca.ErrContent, ReasonContent},
		{tefca.ErrUnavailable, ReasonUnavailable},
	} {
		if errors.Is(err, of.err) {
			return of.reason, true
		}
	}
	return ReasonInternal, false
}
