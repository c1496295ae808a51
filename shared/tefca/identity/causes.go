package identity

import (
	"maps"

	"recordbridge/shared/words/fault"
)

// Causes that the code refers to by name. The following table lists all causes.
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

// causes returns the table of the causes of failed verifications. Each cause is a stable identifier.
func causes() fault.Causes {
	all := unanswered()
	maps.Copy(all, unusable())
	return all
}

// unanswered returns the causes of failures in which no identity was confirmed.
func unanswered() fault.Causes {
	const misfit = "The identity service could not be used. Nothing was shared. Please tell the application's " +
		"support team."
	return fault.Causes{
		causeDeclined: {
			Shown: fault.New(fault.Upstream, "access_denied",
				"The identity check was not completed. Nothing was shared, and you can try again whenever you like."),
			Action: "The patient cancelled the check, or the provider could not confirm the patient's identity. Let " +
				"the patient try again, or choose another provider.",
		},
		causeUnavailable: {
			Shown: fault.New(fault.Unavailable, fault.CodeUnavailable,
				"The identity service is not responding at the moment. Nothing was shared. Please try again in a few "+
					"minutes."),
			Action: "The identity provider did not respond, or failed. Let the patient try again later, or choose " +
				"another provider.",
		},
		causeRefused: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange, misfit),
			Action: "Ask the operator to compare the client ID, callback URL, scope and acr_values in the provider's " +
				"configuration with the provider's records.",
		},
		causeCode: {
			Shown: fault.New(fault.Upstream, "invalid_grant",
				"The identity check took too long, or was submitted twice. Nothing was shared. Please start it once "+
					"more."),
			Action: "Let the patient try again without going back in the browser.",
		},
		causeUnproven: {
			Shown: fault.New(fault.Unavailable, fault.CodeTokenExchange, misfit),
			Action: "Our client could not authenticate, so no request was sent to the provider. Ask the operator to " +
				"check the client authentication in its configuration.",
		},
	}
}

// unusable returns the causes of failures in which the response can't be trusted or confirms too few facts.
func unusable() fault.Causes {
	return fault.Causes{
		causeIssuer: {
			Shown: fault.BadRequest("The response did not come from the right identity service. Nothing was shared. " +
				"Please try again."),
			Action: "Let the patient try again. If it happens again, the provider's issuer differs between its " +
				"discovery document and its responses, or someone is interfering.",
		},
		causeNoCode: {
			Shown: fault.BadRequest("The identity service's response was incomplete. Nothing was shared. Please try " +
				"again."),
			Action: "The provider sent neither a code nor an error. Let the patient try again in another browser.",
		},
		causeToken: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange,
				"The identity service's response could not be verified, so it was not used. Nothing was shared. "+
					"Please try again."),
			Action: "The id_token failed a check, which the log line names. If it happens again, send support the " +
				"request ID.",
		},
		causeExpired: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange,
				"The identity check has expired. Nothing more was shared. Please verify your identity once more."),
			Action: "A verified identity expires within minutes. Let the patient verify again.",
		},
		causeLevel: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange,
				"Your identity is not confirmed strongly enough to find your records. Please complete every step of the identity "+
					"check."),
			Action: "The provider confirms less than identity assurance level 2. Let the patient complete its " +
				"verification, or choose another provider.",
		},
		causeDemographics: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange,
				"The identity service did not confirm your name, date of birth and address, "+
					"which are needed to find your records."),
			Action: "Let the patient complete the profile at the provider and agree to share it. If it happens to " +
				"everyone, the operator must compare the scope with what the provider offers.",
		},
	}
}

// failed returns the error for cause, which must be listed in causes.
func failed(cause string, because error) error { return causes().Failed(cause, because) }

// invalid returns the error for an id_token that failed the named check.
func invalid(check string) error { return failed(causeToken, checkError(check)) }

// checkError names the check that an id_token failed. The name is logged but never displayed.
type checkError string

// Error implements error.
func (e checkError) Error() string { return string(e) }

// Failure returns the class that fault.Spot logs.
func (e checkError) Failure() (class string, status int) { return "id_token_" + string(e), 0 }

// Unavailable returns the error for a provider that sent no response or an unusable one.
func Unavailable(because error) error { return failed(causeUnavailable, because) }

// Unproven returns the error for a provider to which the service can't authenticate.
func Unproven(because error) error { return failed(causeUnproven, because) }

// Expired returns the error for an expired identity.
func Expired() error { return failed(causeExpired, nil) }

// Incomplete returns the error for an identity that lacks verified attributes required by a network.
func Incomplete(because error) error { return failed(causeDemographics, because) }

// NoToken returns the error for a token response without an id_token.
func NoToken() error { return invalid("missing") }

// Refused returns the error for a provider's OAuth (RFC 6749) or OpenID Connect error code.
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

// CauseOf returns a stable identifier of the cause of a failed verification, or "" if err has no cause.
func CauseOf(err error) string { return fault.Of(err).Cause }

// ActionOf returns the remedy for a cause. The remedy is intended for the integration's operator.
func ActionOf(cause string) string { return causes()[cause].Action }
