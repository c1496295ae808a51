package flow

import (
	"errors"
	"maps"
	"strings"

	"recordbridge/shared/fault"
)

// The causes that this package asks about by name; the others stand in the table below alone.
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
	causeEncoding      = "client_secret_encoding"
	causeUnproven      = "client_unproven"
	causeUnknown       = "connection_unknown"
	causeWrongPatient  = "wrong_patient"
	causeGivenUp       = "given_up"
	causeTryAgain      = "try_again"
	causeInternal      = "internal"
	refusedDescription = "The patient portal refused the request."
	brokenDescription  = "The sign-in at the patient portal could not be completed. Please try again."
	misfitDescription  = "The patient portal does not accept how this application asks for the sign-in. Please tell the application's support, who can have this put right."
)

// failureKind is how a failed attempt is told: to the browser and the events as code and text, and to who looks after the
// integration as what to do.
type failureKind struct {
	kind   fault.Kind
	code   fault.Code // docs/openapi.yaml
	text   string
	action string
}

// failureKinds is the one table of what an attempt can fail of: of what the portal answered, and of everything else. Causes
// are stable words; where the health system named one of RFC 6749, its own code is the cause.
func failureKinds() map[string]failureKind {
	all := answered()
	maps.Copy(all, unanswered())
	return all
}

// answered is the part of the table for what a portal says in so many words.
func answered() map[string]failureKind {
	return map[string]failureKind{
		causeDeclined: {
			fault.Upstream, "access_denied", "The patient declined to share records at the patient portal.",
			"Explain what is shared and why, then let the patient try again and allow access on the portal's consent page.",
		},
		"invalid_client": {
			fault.Upstream, "invalid_client", refusedDescription,
			"Compare the client id and the client authentication (secret, key, JWKS address) of the registration with what the health system has on file.",
		},
		causeEncoding: {
			fault.Upstream, "invalid_client", refusedDescription,
			"The client id or secret holds characters that RFC 6749 says to encode in HTTP Basic. Compare both with what the health system has on file. If they are right, its server does not decode them: ask the operator to set client: {basic: raw} for the endpoint, or to remove it where it is set.",
		},
		"invalid_grant": {
			fault.Upstream, "invalid_grant", refusedDescription,
			"Let the patient try again without going back in the browser. If it happens again, check that our callback address is registered at the health system exactly as it is.",
		},
		"unauthorized_client": {
			fault.Upstream, "unauthorized_client", refusedDescription,
			"Check at the health system that the app is active in this environment and may use the authorization code grant.",
		},
		"unsupported_grant_type": {
			fault.Upstream, "unsupported_grant_type", refusedDescription,
			"Ask the health system to allow the authorization code grant for the app.",
		},
		"invalid_scope": {
			fault.Upstream, "invalid_scope", refusedDescription,
			"Compare the scope of the registration with the scopes that the health system has approved for the app.",
		},
		"invalid_request": {
			fault.Upstream, fault.CodeTokenExchange, misfitDescription,
			"Check that our callback address is registered at the health system exactly as it is, and what the platform's profile says of aud and PKCE.",
		},
		"unsupported_response_type": {
			fault.Upstream, fault.CodeTokenExchange, misfitDescription,
			"Ask the health system to allow the response type code for the app.",
		},
		"server_error": {
			fault.Upstream, fault.CodeTokenExchange, brokenDescription,
			"The health system's server failed. Let the patient try again later; tell the health system if it lasts.",
		},
		"temporarily_unavailable": {
			fault.Upstream, fault.CodeTokenExchange, brokenDescription,
			"The health system is overloaded or under maintenance. Let the patient try again later.",
		},
		causeRedirect: {
			fault.Upstream, fault.CodeTokenExchange, misfitDescription,
			"The portal does not know our callback address. Register it at the health system for this client, exactly as it is.",
		},
		causePortal: {
			fault.Upstream, fault.CodeTokenExchange, "The patient portal ended the sign-in with an error of its own.",
			"The portal answered with an error code that OAuth does not define. Let the patient try again once; if it happens again, give support the request id.",
		},
	}
}

// unanswered is the part of the table for answers that could not be used, and for failures on our side.
func unanswered() map[string]failureKind {
	const invalid = fault.CodeInvalidRequest
	return map[string]failureKind{
		causePortalMoved: {
			fault.Upstream, fault.CodeUnavailable,
			"The sign-in of this institution has changed and is being checked. Nothing was shared. Please try again later, or share your records in another way.",
			"You need not do anything: the operator was told, and patients can connect again once the institution's new addresses are confirmed.",
		},
		causeCallback: {
			fault.Invalid, invalid, "The patient portal's answer came back to the wrong address. Nothing was shared; please try again, and tell the application's support if it happens twice.",
			"Let the patient try again. If it happens again, the health system returns to a callback address of another registration, or somebody interferes: give support the request id.",
		},
		causeIssuer: {
			fault.Invalid, invalid, "The answer did not come from the patient portal that was asked. Nothing was shared; please try again, and tell the application's support if it happens twice.",
			"Let the patient try again. If it happens again, the health system names itself differently in its discovery document and in its answers, or somebody interferes: give support the request id.",
		},
		causeNoCode: {
			fault.Invalid, invalid, "The patient portal's answer was incomplete. Please try again.",
			"The portal sent neither a code nor an error. Let the patient try again in another browser. If it happens again, give support the request id: the portal answers in a way that we do not know yet.",
		},
		causeExchange: {
			fault.Upstream, fault.CodeTokenExchange, brokenDescription,
			"The health system's token answer could not be used. Let the patient try again; if it happens again, give support the request id.",
		},
		causeNoAnswer: {
			fault.Upstream, fault.CodeTokenExchange, brokenDescription,
			"The health system's token endpoint did not answer in time. Let the patient try again in some minutes.",
		},
		causeUnproven: {
			fault.Unavailable, fault.CodeTokenExchange, "This service could not identify itself to the patient portal. Please tell the application's support, who can have this put right.",
			"Our client could not prove who it is, so the health system was not asked. Check on our side the secret or signing key of the registration, and at which origins the secret may be shown.",
		},
		causeUnknown: {
			fault.Invalid, invalid, "reconnect_org_connection_id is not known.",
			"Check that the id is of a connection of this organisation and mode that is not a TEFCA connection; else make a new connection.",
		},
		causeWrongPatient: {
			fault.Invalid, invalid, "The sign-in could not be matched with the existing connection, which stays as it was. Please sign in as you did the first time.",
			"Let the patient sign in with the portal account, and pick the person, that the connection was made with; for anyone else make a new connection.",
		},
		causeGivenUp: {
			fault.Invalid, invalid, "The application ended this connection while the sign-in was under way.",
			"If it was not meant to end, let the patient reconnect once more.",
		},
		causeTryAgain: {
			fault.Unavailable, fault.CodeUnavailable,
			"The new sign-in could not be saved; the existing connection stays as it was. Please sign in once more.",
			"Another request changed the connection at the same time. Let the patient reconnect once more.",
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
	r := failureKinds()[cause]
	shown := fault.New(r.kind, r.code, r.text)
	if cause == causeUnknown {
		shown = shown.About("reconnect_org_connection_id")
	}
	return &failure{cause: cause, shown: shown.Because(because)}
}

// refused makes the error of a code that a health system answered; otherwise is the cause where it is not a known one.
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

// Error implements error. The text is for the log.
func (f *failure) Error() string { return f.cause + ": " + f.shown.Error() }

// Unwrap makes the failure a *fault.Error.
func (f *failure) Unwrap() error { return f.shown }

// causeOf tells why an attempt failed; whatever is not in the table is our own fault.
func causeOf(err error) string {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.cause
	}
	return causeInternal
}
