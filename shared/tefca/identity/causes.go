package identity

import (
	"maps"

	"recordbridge/shared/words/fault"
)

// The causes that code refers to by name; all others are only in the table below.
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

// causes returns the complete table of failure causes of a verification. Causes are stable words.
func causes() fault.Causes {
	all := unanswered()
	maps.Copy(all, unusable())
	return all
}

// unanswered returns the causes for which the provider confirmed nothing.
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

// unusable returns the causes for responses that cannot be trusted or that confirm too little.
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

// failed returns the error of a cause that is in the table.
func failed(cause string, because error) error { return causes().Failed(cause, because) }

// invalid returns the error for an id_token that fails a check.
func invalid(check string) error { return failed(causeToken, checkError(check)) }

// checkError names the check that an id_token failed; a word for the log, never shown.
type checkError string

// Error implements error.
func (e checkError) Error() string { return string(e) }

// Failure returns the class for a log line (fault.Spot).
func (e checkError) Failure() (class string, status int) { return "id_token_" + string(e), 0 }

// Unavailable returns the error for a provider that did not respond, or not with a usable response.
func Unavailable(because error) error { return failed(causeUnavailable, because) }

// Unproven returns the error for a client that cannot authenticate itself.
func Unproven(because error) error { return failed(causeUnproven, because) }

// Expired returns the error for an expired identity.
func Expired() error { return failed(causeExpired, nil) }

// Incomplete returns the error for an identity with fewer verified attributes than a network requires.
func Incomplete(because error) error { return failed(causeDemographics, because) }

// NoToken returns the error for a token response without an id_token.
func NoToken() error { return invalid("missing") }

// Refused returns the error for an RFC 6749 or OpenID Connect error code of a provider.
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

// CauseOf returns the stable word for why a verification failed, or "" if err has none.
func CauseOf(err error) string { return fault.Of(err).Cause }

// ActionOf returns the remedy for a cause, for the operator of the integration.
func ActionOf(cause string) string { return causes()[cause].Action }
