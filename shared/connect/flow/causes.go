package flow

import (
	"cmp"
	"maps"
	"strings"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/words/fault"
)

// Failure causes that this package refers to by name.
const (
	causeDeclined      = "declined"
	causePortalMoved   = "portal_moved"
	causeUnavailable   = "portal_unavailable"
	causeCallback      = "wrong_callback"
	causeIssuer        = "issuer_mismatch"
	causeNoCode        = "no_code"
	causePortal        = "portal_refused"
	causeRedirect      = "redirect_refused"
	causeExchange      = "token_exchange"
	causeNoAnswer      = "no_answer"
	causeNoPatient     = "no_patient"
	causeEncoding      = "client_secret_encoding"
	causeUnproven      = "client_unproven"
	causeUnknown       = "connection_unknown"
	causeWrongPatient  = "wrong_patient"
	causeGivenUp       = "given_up"
	causeTryAgain      = "try_again"
	causeInternal      = "internal"
	refusedDescription = "The patient portal refused the request."
	brokenDescription  = "The sign-in at the patient portal could not be completed. Please try again."
	misfitDescription  = "The patient portal does not accept this application's sign-in request. Please tell the " +
		"application's support team."
)

// causes returns all causes of failed attempts, whether reported by the portal or detected elsewhere. Causes are stable
// identifiers. If the health system returned an RFC 6749 error code, that code is the cause.
func causes() fault.Causes {
	all := clientCauses()
	maps.Copy(all, portalFailed())
	maps.Copy(all, unusable())
	maps.Copy(all, internalCauses())
	all[binding.Cancelled] = binding.Cancellation()
	return all
}

// clientCauses returns the causes for error codes that indicate a problem with the client, its registration or the
// patient.
func clientCauses() fault.Causes {
	return fault.Causes{
		causeDeclined: {
			Shown: fault.New(fault.Upstream, "access_denied", "The patient declined to share records at the patient portal."),
			Action: "Explain which data is shared and why. Then let the patient try again and allow access on the " +
				"portal's consent page.",
		},
		"invalid_client": {
			Shown: fault.New(fault.Upstream, "invalid_client", refusedDescription),
			Action: "Compare the registration's client ID and client authentication (secret, key or JWKS URL) with " +
				"the health system's records.",
		},
		causeEncoding: {
			Shown: fault.New(fault.Upstream, "invalid_client", refusedDescription),
			Action: "The client ID or secret contains characters that RFC 6749 requires to be encoded in HTTP Basic. " +
				"Compare both with the health system's records. If they are right, its server does not decode them: " +
				"ask the operator to set client: {basic: raw} for the endpoint, or to remove that setting if it is " +
				"present.",
		},
		"invalid_grant": {
			Shown: fault.New(fault.Upstream, "invalid_grant", refusedDescription),
			Action: "Let the patient try again without going back in the browser. If it happens again, check that " +
				"our callback URL is registered at the health system exactly as it is.",
		},
		"unauthorized_client": {
			Shown: fault.New(fault.Upstream, "unauthorized_client", refusedDescription),
			Action: "Check at the health system that the app is active in this environment and may use the authorization code " +
				"grant.",
		},
		"unsupported_grant_type": {
			Shown:  fault.New(fault.Upstream, "unsupported_grant_type", refusedDescription),
			Action: "Ask the health system to allow the authorization code grant for the app.",
		},
		"invalid_scope": {
			Shown:  fault.New(fault.Upstream, "invalid_scope", refusedDescription),
			Action: "Compare the registration's scopes with those the health system has approved for the app.",
		},
		"invalid_request": {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange, misfitDescription),
			Action: "Check that our callback URL is registered at the health system exactly as it is, and check the " +
				"aud and PKCE settings in the platform's profile.",
		},
		"unsupported_response_type": {
			Shown:  fault.New(fault.Upstream, fault.CodeTokenExchange, misfitDescription),
			Action: "Ask the health system to allow the response type code for the app.",
		},
		causeRedirect: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange, misfitDescription),
			Action: "The portal does not recognise our callback URL. Register it at the health system for this " +
				"client, exactly as it is.",
		},
	}
}

// portalFailed returns the causes for portals that fail or return a non-standard error code.
func portalFailed() fault.Causes {
	return fault.Causes{
		"server_error": {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange, brokenDescription),
			Action: "The health system's server failed. Let the patient try again later. If it persists, tell the " +
				"health system.",
		},
		"temporarily_unavailable": {
			Shown:  fault.New(fault.Upstream, fault.CodeTokenExchange, brokenDescription),
			Action: "The health system is overloaded or under maintenance. Let the patient try again later.",
		},
		causePortal: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange,
				"The patient portal ended the sign-in with an unknown error."),
			Action: "The portal returned an error code that OAuth does not define. Let the patient try again once. " +
				"If it happens again, send support the request ID.",
		},
	}
}

func unusable() fault.Causes {
	return fault.Causes{
		causePortalMoved: {
			Shown: fault.New(fault.Upstream, fault.CodeUnavailable,
				"This institution's sign-in has changed and is being checked. Nothing was shared. Please try again "+
					"later, or share your records in another way."),
			Action: "No action needed. The operator was notified, and patients can connect again once the " +
				"institution's new URLs are approved.",
		},
		causeCallback: {
			Shown: fault.BadRequest("The patient portal's response arrived at the wrong URL. Nothing was shared. " +
				"Please try again; if it happens twice, tell the application's support team."),
			Action: "Let the patient try again. If it happens again, the health system is using another " +
				"registration's callback URL, or someone is interfering: send support the request ID.",
		},
		causeIssuer: {
			Shown: fault.BadRequest("The response did not come from the right patient portal. Nothing was shared. " +
				"Please try again; if it happens twice, tell the application's support team."),
			Action: "Let the patient try again. If it happens again, the health system's issuer differs between its " +
				"discovery document and its responses, or someone is interfering: send support the request ID.",
		},
		causeNoCode: {
			Shown: fault.BadRequest("The patient portal's response was incomplete. Please try again."),
			Action: "The portal sent neither a code nor an error. Let the patient try again in another browser. If " +
				"it happens again, send support the request ID: this portal may need a new profile.",
		},
		causeExchange: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange, brokenDescription),
			Action: "The health system's token response could not be used. Let the patient try again. If it happens " +
				"again, send support the request ID.",
		},
		causeNoAnswer: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange, brokenDescription),
			Action: "The health system's token endpoint did not respond in time. Let the patient try again in a few " +
				"minutes.",
		},
		causeNoPatient: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange,
				"The patient portal did not say whose records it shares, so no connection was created. Please tell "+
					"the application's support team."),
			Action: "Nothing identifies the patient: not the token response's patient, the id_token, the access " +
				"token, userinfo, or a Patient search. If the scope lacks launch/patient, add it to the " +
				"registration. Otherwise, ask the health system to return patient in its token responses to our " +
				"client (launch/patient, SMART's context-standalone-patient).",
		},
	}
}

// internalCauses returns the causes for internal failures and for reconnects that can't succeed.
func internalCauses() fault.Causes {
	return fault.Causes{
		causeUnproven: {
			Shown: fault.New(fault.Unavailable, fault.CodeTokenExchange,
				"We couldn't authenticate to the patient portal. Please tell the application's support team."),
			Action: "Our client could not authenticate, so no request was sent to the health system. Check the " +
				"registration's secret or signing key in this service, and the origins to which the secret may be " +
				"sent.",
		},
		causeUnknown: {
			Shown: fault.BadRequest("reconnect_org_connection_id is unknown.").About("reconnect_org_connection_id"),
			Action: "Check that the ID belongs to a connection of this organisation and mode, and not to a TEFCA " +
				"connection. Otherwise, create a new connection.",
		},
		causeWrongPatient: {
			Shown: fault.BadRequest("This sign-in does not match the existing connection, which is unchanged. Please " +
				"sign in the way you did the first time."),
			Action: "Let the patient sign in with the original portal account and choose the same person. For anyone " +
				"else, create a new connection.",
		},
		causeGivenUp: {
			Shown:  fault.BadRequest("The application ended this connection during the sign-in."),
			Action: "If this was a mistake, let the patient reconnect once more.",
		},
		causeTryAgain: {
			Shown: fault.New(fault.Unavailable, fault.CodeUnavailable,
				"We couldn't save the new sign-in; the existing connection is unchanged. Please sign in once more."),
			Action: "Another request changed the connection at the same time. Let the patient reconnect once more.",
		},
		causeInternal: {
			Shown:  fault.Of(nil),
			Action: "Let the patient try again. If it happens again, send support the request ID.",
		},
	}
}

func failed(cause string, because error) error { return causes().Failed(cause, because) }

// refused returns the error for an error code from a health system. If the code is unknown, the error's cause is the
// argument otherwise.
func refused(code, otherwise string, because error) error {
	switch code {
	case "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
		"invalid_request", "unsupported_response_type", "server_error", "temporarily_unavailable":
		return failed(code, because)
	}
	if strings.Contains(code, "redirect_uri") { // such as redirect_uri_mismatch; OAuth defines no code for this error
		return failed(causeRedirect, because)
	}
	return failed(otherwise, because)
}

// unavailable adds a cause to the error for a portal that failed to respond. The cause distinguishes the error from one
// of this service's own failures with the same code. Other errors are returned unchanged.
func unavailable(err error) error {
	shown := fault.Of(err)
	if shown.Kind != fault.Upstream && shown.Kind != fault.Unavailable {
		return err
	}
	named := shown.Because(err)
	named.Cause = causeUnavailable
	return named
}

// causeOf returns the cause of an attempt's failure. An error that is not in the table is an internal failure.
func causeOf(err error) string { return cmp.Or(fault.Of(err).Cause, causeInternal) }
