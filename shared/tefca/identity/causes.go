package identity

import (
	"errors"

	"recordbridge/shared/fault"
)

// The causes that this package asks about by name; the others stand in the table below alone.
const (
	causeDeclined     = "declined"
	causeUnavailable  = "provider_unavailable"
	causeRefused      = "provider_refused"
	causeCode         = "code_refused"
	causeUnproven     = "client_unproven"
	causeIssuer       = "issuer_mismatch"
	causeNoCode       = "no_code"
	causeToken        = "token_invalid"
	causeExpired      = "identity_expired"
	causeLevel        = "level_too_low"
	causeDemographics = "demographics_missing"
)

// failureKind is how a failed verification is told: to the patient as code and text, and to who looks after the integration as
// what to do.
type failureKind struct {
	kind   fault.Kind
	code   fault.Code // docs/openapi.yaml
	text   string
	action string
}

// failureKinds is the one table of what a verification can fail of. Causes are stable words.
func failureKinds() map[string]failureKind {
	const misfit = "The identity service could not be used. Nothing was shared; please tell the application's support, who can have this put right."
	return map[string]failureKind{
		causeDeclined: {
			fault.Upstream, "access_denied", "The identity check was not completed. Nothing was shared, and you can try again whenever you like.",
			"The patient ended the check, or the provider could not confirm who it is. Let the patient try again, or choose another provider.",
		},
		causeUnavailable: {
			fault.Unavailable, fault.CodeUnavailable, "The identity service does not answer at the moment. Nothing was shared; please try again in some minutes.",
			"The identity provider did not answer, or failed. Let the patient try again later, or choose another provider.",
		},
		causeRefused: {
			fault.Upstream, fault.CodeTokenExchange, misfit,
			"Ask the operator to compare client id, callback address, scope and acr_values of the provider's configuration with what the provider has on file.",
		},
		causeCode: {
			fault.Upstream, "invalid_grant", "The identity check took too long, or was done twice. Nothing was shared; please start it once more.",
			"Let the patient try again without going back in the browser.",
		},
		causeUnproven: {
			fault.Unavailable, fault.CodeTokenExchange, misfit,
			"Our client could not prove who it is, so the provider was not asked. Ask the operator to check the client authentication that its configuration names.",
		},
		causeIssuer: {
			fault.Invalid, fault.CodeInvalidRequest, "The answer did not come from the identity service that was asked. Nothing was shared; please try again.",
			"Let the patient try again. If it happens again, the provider names itself differently in its discovery document and in its answers, or somebody interferes.",
		},
		causeNoCode: {
			fault.Invalid, fault.CodeInvalidRequest, "The identity service's answer was incomplete. Nothing was shared; please try again.",
			"The provider sent neither a code nor an error. Let the patient try again in another browser.",
		},
		causeToken: {
			fault.Upstream, fault.CodeTokenExchange, "The identity service's answer could not be trusted, so it was not used. Nothing was shared; please try again.",
			"The id_token did not pass a check, which the log line names. If it happens again, give support the request id.",
		},
		causeExpired: {
			fault.Upstream, fault.CodeTokenExchange, "The identity check has run out. Nothing more was shared; please verify your identity once more.",
			"Verified identities last for minutes. Let the patient verify again.",
		},
		causeLevel: {
			fault.Upstream, fault.CodeTokenExchange, "Your identity is not confirmed strongly enough to find your records. Please complete every step of the identity check.",
			"The provider vouches for less than identity assurance level 2. Let the patient complete its verification, or choose another provider.",
		},
		causeDemographics: {
			fault.Upstream, fault.CodeTokenExchange, "The identity service did not confirm your name, date of birth and address, which are needed to find your records.",
			"Let the patient complete the profile at the provider and allow that it is shared. If it happens to everybody, the operator has to compare the scope with what the provider offers.",
		},
	}
}

// failure is what a verification fails of.
type failure struct {
	cause string
	check string // which check an id_token did not pass; a word for the log, never shown
	shown *fault.Error
}

// failed makes the error of a cause that is in the table.
func failed(cause string, because error) error {
	r := failureKinds()[cause]
	return &failure{cause: cause, shown: fault.New(r.kind, r.code, r.text).Because(because)}
}

// invalid makes the error of an id_token that does not pass a check.
func invalid(check string) error {
	r := failureKinds()[causeToken]
	return &failure{cause: causeToken, check: check, shown: fault.New(r.kind, r.code, r.text)}
}

// Unavailable makes the error of a provider that did not answer, or with nothing that can be used.
func Unavailable(because error) error { return failed(causeUnavailable, because) }

// Unproven makes the error of a client of ours that cannot prove who it is.
func Unproven(because error) error { return failed(causeUnproven, because) }

// Expired makes the error of an identity that has run out.
func Expired() error { return failed(causeExpired, nil) }

// NoToken makes the error of a token answer without an id_token.
func NoToken() error { return invalid("missing") }

// Refused makes the error of a code of RFC 6749 or OpenID Connect that a provider answered.
func Refused(code string, because error) error {
	switch code {
	case "access_denied":
		return failed(causeDeclined, because)
	case "server_error", "temporarily_unavailable":
		return failed(causeUnavailable, because)
	case "invalid_grant":
		return failed(causeCode, because)
	}
	return failed(causeRefused, because)
}

// Error implements error. The text is for the log.
func (f *failure) Error() string {
	if f.check != "" {
		return f.cause + " (" + f.check + ")"
	}
	return f.cause + ": " + f.shown.Error()
}

// Unwrap makes the failure a *fault.Error.
func (f *failure) Unwrap() error { return f.shown }

// Failure tells the class for a log line (fault.Spot): the check, or what the reason tells of itself.
func (f *failure) Failure() (class string, status int) {
	if f.check != "" {
		return "id_token_" + f.check, 0
	}
	if told, ok := errors.AsType[interface {
		error
		Failure() (class string, status int)
	}](f.shown.Unwrap()); ok {
		return told.Failure()
	}
	return f.cause, 0
}

// CauseOf tells why a verification failed, as a stable word, or "" when err is none of this package's.
func CauseOf(err error) string {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.cause
	}
	return ""
}

// ActionOf tells what to do about a cause, for who looks after the integration.
func ActionOf(cause string) string { return failureKinds()[cause].action }
