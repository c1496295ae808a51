package flow

import (
	"cmp"
	"maps"
	"strings"

	"recordbridge/shared/words/fault"
)

// The causes that this package refers to by name; all others appear only in the table below.
const (
	causeDeclined      = "declined"
	causePortalMoved   = "portal_moved"
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
	misfitDescription  = "The patient portal does not accept how this application asks for the sign-in. Please tell the " +
		"application's support, who can have this put right."
)

// causes returns the single table of reasons for which an attempt can fail, whether the portal's response or anything
// else caused it. Causes are stable identifiers; if the health system returned an RFC 6749 code, that code is the
// cause.
func causes() fault.Causes {
	all := answered()
	maps.Copy(all, portalFailed())
	maps.Copy(all, unusable())
	maps.Copy(all, ours())
	return all
}

// answered returns the table's entries for codes that point to a problem with the client, its registration or the
// patient.
func answered() fault.Causes {
	return fault.Causes{
		causeDeclined: {
			Shown: fault.New(fault.Upstream, "access_denied", "The patient declined to share records at the patient portal."),
			Action: "Explain what is shared and why, then let the patient try again and allow access on the portal's consent " +
				"page.",
		},
		"invalid_client": {
			Shown: fault.New(fault.Upstream, "invalid_client", refusedDescription),
			Action: "Compare the client id and the client authentication (secret, key, JWKS address) of the registration with " +
				"what the health system has on file.",
		},
		causeEncoding: {
			Shown: fault.New(fault.Upstream, "invalid_client", refusedDescription),
			Action: "The client id or secret holds characters that RFC 6749 says to encode in HTTP Basic. Compare both with " +
				"what the health system has on file. If they are right, its server does not decode them: ask the operator to set " +
				"client: {basic: raw} for the endpoint, or to remove it where it is set.",
		},
		"invalid_grant": {
			Shown: fault.New(fault.Upstream, "invalid_grant", refusedDescription),
			Action: "Let the patient try again without going back in the browser. If it happens again, check that our " +
				"callback address is registered at the health system exactly as it is.",
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
			Action: "Compare the scope of the registration with the scopes that the health system has approved for the app.",
		},
		"invalid_request": {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange, misfitDescription),
			Action: "Check that our callback address is registered at the health system exactly as it is, and what the " +
				"platform's profile says of aud and PKCE.",
		},
		"unsupported_response_type": {
			Shown:  fault.New(fault.Upstream, fault.CodeTokenExchange, misfitDescription),
			Action: "Ask the health system to allow the response type code for the app.",
		},
		causeRedirect: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange, misfitDescription),
			Action: "The portal does not know our callback address. Register it at the health system for this client, exactly " +
				"as it is.",
		},
	}
}

// portalFailed returns the table's entries for a portal that fails or returns a code of its own.
func portalFailed() fault.Causes {
	return fault.Causes{
		"server_error": {
			Shown:  fault.New(fault.Upstream, fault.CodeTokenExchange, brokenDescription),
			Action: "The health system's server failed. Let the patient try again later; tell the health system if it lasts.",
		},
		"temporarily_unavailable": {
			Shown:  fault.New(fault.Upstream, fault.CodeTokenExchange, brokenDescription),
			Action: "The health system is overloaded or under maintenance. Let the patient try again later.",
		},
		causePortal: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange,
				"The patient portal ended the sign-in with an error of its own."),
			Action: "The portal answered with an error code that OAuth does not define. Let the patient try again once; if it " +
				"happens again, give support the request id.",
		},
	}
}

// unusable returns the table's entries for unusable responses.
func unusable() fault.Causes {
	return fault.Causes{
		causePortalMoved: {
			Shown: fault.New(fault.Upstream, fault.CodeUnavailable,
				"The sign-in of this institution has changed and is being checked. Nothing was shared. Please try again later, "+
					"or share your records in another way."),
			Action: "You need not do anything: the operator was told, and patients can connect again once the institution's " +
				"new addresses are confirmed.",
		},
		causeCallback: {
			Shown: fault.BadRequest("The patient portal's answer came back to the wrong address. Nothing was shared; please " +
				"try again, and tell the application's support if it happens twice."),
			Action: "Let the patient try again. If it happens again, the health system returns to a callback address of " +
				"another registration, or somebody interferes: give support the request id.",
		},
		causeIssuer: {
			Shown: fault.BadRequest("The answer did not come from the patient portal that was asked. Nothing was shared; " +
				"please try again, and tell the application's support if it happens twice."),
			Action: "Let the patient try again. If it happens again, the health system names itself differently in its " +
				"discovery document and in its answers, or somebody interferes: give support the request id.",
		},
		causeNoCode: {
			Shown: fault.BadRequest("The patient portal's answer was incomplete. Please try again."),
			Action: "The portal sent neither a code nor an error. Let the patient try again in another browser. If it happens " +
				"again, give support the request id: the portal answers in a way that we do not know yet.",
		},
		causeExchange: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange, brokenDescription),
			Action: "The health system's token answer could not be used. Let the patient try again; if it happens again, give " +
				"support the request id.",
		},
		causeNoAnswer: {
			Shown:  fault.New(fault.Upstream, fault.CodeTokenExchange, brokenDescription),
			Action: "The health system's token endpoint did not answer in time. Let the patient try again in some minutes.",
		},
		causeNoPatient: {
			Shown: fault.New(fault.Upstream, fault.CodeTokenExchange,
				"The patient portal did not say whose records it shares, so no connection was made. Please tell the "+
					"application's support, who can have this put right."),
			Action: "Nothing names the patient: not patient in the token answer, the id_token, the access token, userinfo, or " +
				"a search for Patient. If the scope lacks launch/patient, add it to the registration. Else ask the health system " +
				"to return patient in its token answers to our client (launch/patient, SMART's context-standalone-patient).",
		},
	}
}

// ours returns the table's entries for internal failures and impossible reconnections.
func ours() fault.Causes {
	return fault.Causes{
		causeUnproven: {
			Shown: fault.New(fault.Unavailable, fault.CodeTokenExchange,
				"This service could not identify itself to the patient portal. Please tell the application's support, who can "+
					"have this put right."),
			Action: "Our client could not prove who it is, so the health system was not asked. Check on our side the secret " +
				"or signing key of the registration, and at which origins the secret may be shown.",
		},
		causeUnknown: {
			Shown: fault.BadRequest("reconnect_org_connection_id is not known.").About("reconnect_org_connection_id"),
			Action: "Check that the id is of a connection of this organisation and mode that is not a TEFCA connection; else " +
				"make a new connection.",
		},
		causeWrongPatient: {
			Shown: fault.BadRequest("The sign-in could not be matched with the existing connection, which stays as it was. " +
				"Please sign in as you did the first time."),
			Action: "Let the patient sign in with the portal account, and pick the person, that the connection was made with; " +
				"for anyone else make a new connection.",
		},
		causeGivenUp: {
			Shown:  fault.BadRequest("The application ended this connection while the sign-in was under way."),
			Action: "If it was not meant to end, let the patient reconnect once more.",
		},
		causeTryAgain: {
			Shown: fault.New(fault.Unavailable, fault.CodeUnavailable,
				"The new sign-in could not be saved; the existing connection stays as it was. Please sign in once more."),
			Action: "Another request changed the connection at the same time. Let the patient reconnect once more.",
		},
		causeInternal: {
			Shown:  fault.Of(nil),
			Action: "Let the patient try again. If it happens again, give support the request id.",
		},
	}
}

// failed returns the error for a cause in the table.
func failed(cause string, because error) error { return causes().Failed(cause, because) }

// refused returns the error for a code that a health system returned; otherwise is the cause if the code is unknown.
func refused(code, otherwise string, because error) error {
	switch code {
	case "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
		"invalid_request", "unsupported_response_type", "server_error", "temporarily_unavailable":
		return failed(code, because)
	}
	if strings.Contains(code, "redirect_uri") { // such as redirect_uri_mismatch: OAuth has no code for it
		return failed(causeRedirect, because)
	}
	return failed(otherwise, because)
}

// causeOf returns the cause for which an attempt failed; anything not in the table is an internal failure.
func causeOf(err error) string { return cmp.Or(fault.Of(err).Cause, causeInternal) }
