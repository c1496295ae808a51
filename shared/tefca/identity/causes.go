package identity

import (
	"maps"

	"recordbridge/shared/words/fault"
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

// causes is the one table of what a verification can fail of. Causes are stable words.
func causes() fault.Causes {
	all := unanswered()
	maps.Copy(all, unusable())
	return all
}

// unanswered returns the part of the table for checks of which the provider confirmed nothing.
func unanswered() fault.Causes {
	const misfit = "The identity service could not be used. Nothing was shared; please tell the application's support, " +
		"who can have this put right."
	return fault.Causes{
		causeDeclined: {
			Shown: fault.New(fault.Upstream, "access_denied",
				"The identity check was not completed. Nothing was shared, and you can try again whenever you like."),
			Action: "The patient ended the check, or the provider could not confirm who it is. Let the patient try again, or " +
				"choose another provider.",
		},
		causeUnavailable: {
			Shown: fault.New(fault.Unavailable, fault.CodeUnavailable,
				"The identity service does not answer at the moment. Nothing was shared; please try again in some minutes."),
			Action: "The identity provider did not answer, or failed. Let the patient try again later, or choose another " +
				"provider.",
		},
		causeRefused: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange, misfit),
			Action: "Ask the operator to compare client id, callback address, scope and acr_values of the provider's " +
				"configuration with what the provider has on file.",
		},
		causeCode: {
			Shown: fault.New(fault.Upstream, "invalid_grant",
				"The identity check took too long, or was done twice. Nothing was shared; please start it once more."),
			Action: "Let the patient try again without going back in the browser.",
		},
		causeUnproven: {
			Shown: fault.New(fault.Unavailable, fault.CodeTokenExchange, misfit),
			Action: "Our client could not prove who it is, so the provider was not asked. Ask the operator to check the " +
				"client authentication that its configuration names.",
		},
	}
}

// unusable returns the part of the table for answers that cannot be trusted, or that confirm too little.
func unusable() fault.Causes {
	return fault.Causes{
		causeIssuer: {
			Shown: fault.BadRequest("The answer did not come from the identity service that was asked. Nothing was shared; " +
				"please try again."),
			Action: "Let the patient try again. If it happens again, the provider names itself differently in its discovery " +
				"document and in its answers, or somebody interferes.",
		},
		causeNoCode: {
			Shown:  fault.BadRequest("The identity service's answer was incomplete. Nothing was shared; please try again."),
			Action: "The provider sent neither a code nor an error. Let the patient try again in another browser.",
		},
		causeToken: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange,
				"The identity service's answer could not be trusted, so it was not used. Nothing was shared; please try again."),
			Action: "The id_token did not pass a check, which the log line names. If it happens again, give support the " +
				"request id.",
		},
		causeExpired: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange,
				"The identity check has run out. Nothing more was shared; please verify your identity once more."),
			Action: "Verified identities last for minutes. Let the patient verify again.",
		},
		causeLevel: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange,
				"Your identity is not confirmed strongly enough to find your records. Please complete every step of the identity "+
					"check."),
			Action: "The provider vouches for less than identity assurance level 2. Let the patient complete its " +
				"verification, or choose another provider.",
		},
		causeDemographics: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange,
				"The identity service did not confirm your name, date of birth and address, "+
					"which are needed to find your records."),
			Action: "Let the patient complete the profile at the provider and allow that it is shared. If it happens to " +
				"everybody, the operator has to compare the scope with what the provider offers.",
		},
	}
}

// failed makes the error of a cause that is in the table.
func failed(cause string, because error) error { return causes().Failed(cause, because) }

// invalid makes the error of an id_token that does not pass a check.
func invalid(check string) error { return failed(causeToken, checkError(check)) }

// checkError is which check an id_token did not pass; a word for the log, never shown.
type checkError string

// Error implements error.
func (e checkError) Error() string { return string(e) }

// Failure tells the class for a log line (fault.Spot).
func (e checkError) Failure() (class string, status int) { return "id_token_" + string(e), 0 }

// Unavailable makes the error of a provider that did not answer, or with nothing that can be used.
func Unavailable(because error) error { return failed(causeUnavailable, because) }

// Unproven makes the error of a client of ours that cannot prove who it is.
func Unproven(because error) error { return failed(causeUnproven, because) }

// Expired makes the error of an identity that has run out.
func Expired() error { return failed(causeExpired, nil) }

// Incomplete makes the error of an identity of which less was verified than a network needs.
func Incomplete(because error) error { return failed(causeDemographics, because) }

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

// CauseOf tells why a verification failed, as a stable word, or "" when err does not say.
func CauseOf(err error) string { return fault.Of(err).Cause }

// ActionOf tells what to do about a cause, for who looks after the integration.
func ActionOf(cause string) string { return causes()[cause].Action }
