package attempt

import (
	"cmp"
	"errors"

	"recordbridge/shared/fault"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/identity"
)

// The causes beside those of package identity.
const (
	causeRefused  = "identity_refused"
	causeNetwork  = "network_unavailable"
	causeInternal = "internal"
)

// failureKind is how a failed attempt is told: to the page as code and text, and to who looks after the integration as what to do.
type failureKind struct {
	kind   fault.Kind
	code   fault.Code // docs/openapi.yaml
	text   string
	action string
}

// failureKinds is the table of what an attempt can fail of once the provider has answered. Causes are stable words.
func failureKinds() map[string]failureKind {
	return map[string]failureKind{
		causeRefused: {
			fault.Upstream, fault.CodeTokenExchange, "The health information network did not accept the identity check. Nothing was shared; please verify your identity once more.",
			"Let the patient verify again. If it happens again, ask the operator whether the network accepts this identity provider.",
		},
		causeNetwork: {
			fault.Unavailable, fault.CodeUnavailable, "The health information network does not answer at the moment. Nothing was shared; please try again in some minutes.",
			"The network did not answer, or failed. Let the patient try again later.",
		},
		causeInternal: {
			fault.Internal, fault.CodeServerError, fault.Of(nil).Public,
			"Let the patient try again. If it happens again, give support the request id.",
		},
	}
}

// failure is what an attempt fails of, by cause.
type failure struct {
	cause string
	shown *fault.Error
}

// failed makes the error of a cause that is in the table.
func failed(cause string, because error) error {
	k := failureKinds()[cause]
	return &failure{cause: cause, shown: fault.New(k.kind, k.code, k.text).Because(because)}
}

// Error implements error. The text is for the log.
func (f *failure) Error() string { return f.cause + ": " + f.shown.Error() }

// Unwrap makes the failure a *fault.Error.
func (f *failure) Unwrap() error { return f.shown }

// causeOf tells why an attempt failed; whatever is in neither table is our own fault.
func causeOf(err error) string {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.cause
	}
	return cmp.Or(identity.CauseOf(err), causeInternal)
}

// actionOf tells what to do about a cause.
func actionOf(cause string) string {
	return cmp.Or(failureKinds()[cause].action, identity.ActionOf(cause), failureKinds()[causeInternal].action)
}

// Reason is why a chosen facility could not be connected, as a stable word (docs/openapi.yaml).
type Reason string

// The reasons.
const (
	ReasonRefused     Reason = "refused"
	ReasonUnavailable Reason = "unavailable"
	ReasonTooLarge    Reason = "too_large"
	ReasonContent     Reason = "invalid_content"
	ReasonIdentity    Reason = "identity_expired"
	ReasonInternal    Reason = "internal"
)

// reasonOf reads what a network, or a facility of it, has answered with. Only what passes may be our own failure: known is false then.
func reasonOf(err error) (reason Reason, known bool) {
	for _, of := range []struct {
		err    error
		reason Reason
	}{
		{tefca.ErrIdentity, ReasonIdentity},
		{tefca.ErrRefused, ReasonRefused},
		{tefca.ErrNotFound, ReasonUnavailable},
		{tefca.ErrTooLarge, ReasonTooLarge},
		{tefca.ErrContent, ReasonContent},
		{tefca.ErrUnavailable, ReasonUnavailable},
	} {
		if errors.Is(err, of.err) {
			return of.reason, true
		}
	}
	return ReasonInternal, false
}
