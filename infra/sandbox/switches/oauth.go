package switches

import "slices"

// Switches of the authorization server, in the order of the table.
const (
	NoPatient         = "no-patient"
	PatientUnnamed    = "patient-unnamed"
	PatientFHIRUser   = "patient-fhiruser"
	PatientJWT        = "patient-jwt"
	PatientUserinfo   = "patient-userinfo"
	Rotation          = "rotation"
	NoRefresh         = "no-refresh"
	ExpiresIn         = "expires-in"
	AccessLifetime    = "access"
	RefreshLifetime   = "refresh"
	RefreshFails      = "refresh-fails"
	FailsFirst        = "fails-first"
	RefreshNeedsScope = "refresh-needs-scope"
	TellExpiry        = "tell-expiry"
	DiscoveryRelative = "discovery-relative"
	DiscoveryMissing  = "discovery-missing"
	DiscoveryHTML     = "discovery-html"
	DiscoveryNoS256   = "discovery-no-s256"
	OmitEndpoint      = "omit-endpoint"
	TokenMoves        = "token-moves"
	Hostile           = "hostile"
	Aud               = "aud"
	NonceRequired     = "nonce-required"
	Fragment          = "fragment"
	Issuer            = "iss"
	AuthorizeError    = "authorize-error"
	HTTPSRedirect     = "https-redirect"
	Scopes            = "scopes"
	QueryLimit        = "query-limit"
	GrantOnly         = "grant-only"
	NoPatientScope    = "no-patient-scope"
	IDToken           = "id-token"
	RevokeFails       = "revoke-fails"
	IntrospectFails   = "introspect-fails"
	IntrospectBearer  = "introspect-bearer"
	RequireScope      = "require-scope"
	ClientAuth        = "client-auth"
	ClientSecret      = "client-secret"
	BasicRaw          = "basic-raw"
	ClientKeys        = "jwks"
	UDAP              = "udap"
	UnknownCode500    = "unknown-code-500"
	Client401         = "client-401"
)

// endpointFailures lists the failures of revocation and introspection.
const endpointFailures = "500|503|404|401|html"

func oauthTable() []Switch {
	return slices.Concat(tokenTable(), discoveryTable(), authorizationTable(), clientTable())
}

// discoveryTable returns the switches of the discovery document.
func discoveryTable() []Switch {
	return []Switch{
		{DiscoveryRelative, "", "The discovery document names its endpoints by relative URLs.", "SMART 2.2 allows it"},
		{DiscoveryMissing, "", "There is no .well-known/smart-configuration; only the CapabilityStatement names the " +
			"endpoints.", "servers of SMART 1.0"},
		{DiscoveryHTML, "", "The .well-known answers with a page of HTML and 200.", "any"},
		{DiscoveryNoS256, "", "The discovery document names no PKCE methods.", "NextGen, Qualifacts CareLogic, NHS"},
		{OmitEndpoint, "revocation|introspection", "The discovery document leaves this endpoint out.", "many"},
		{TokenMoves, number, "After so many uses the token URL answers 404, and discovery names another one.", "any"},
		{
			Hostile, "no-issuer|other-issuer|other-sign-in|other-token|this-service",
			"The discovery document names no issuer; or another portal's issuer, sign-in or token URL; or an address of the " +
				"service that reads it.",
			"RFC 9700 section 4.4, mix-up attacks",
		},
	}
}

// authorizationTable returns the switches for authorization requests and granted scopes.
func authorizationTable() []Switch {
	return []Switch{
		{
			Aud, "required|none|trimmed", "aud must be there; must not be there; must have no slash at its end.",
			"athenahealth; NextGen, VA, Quest, Cigna; eClinicalWorks",
		},
		{NonceRequired, "", "An authorization request without nonce is refused.", "athenahealth"},
		{
			Fragment, "", "The answer to an authorization request is in the fragment of the redirect URI.",
			"chbase, intelichart, maximeyes, medhost, onemedical",
		},
		{
			Issuer, "present|missing|wrong",
			"The iss of the authorization answer is there, is missing, or is somebody else's.", "RFC 9207",
		},
		{
			AuthorizeError,
			"invalid_request|unauthorized_client|access_denied|unsupported_response_type|invalid_scope|server_error|tempor" +
				"arily_unavailable|login_required|consent_required|interaction_required",
			"Every authorization request comes back with this error.",
			"RFC 6749 section 4.1.2.1, OpenID Connect Core section 3.1.2.6",
		},
		{HTTPSRedirect, "", "Redirect URIs must be https.", "VA, eClinicalWorks"},
		{
			Scopes, "no-wildcards|v1|v2|types-v1|types-v2",
			"Wildcards are refused; only v1 or only v2 scopes are known; or only those of single types, and discovery lists " +
				"all 146 types in alphabetical order.",
			"Cerner, eClinicalWorks, athenahealth, VA, Humana; any; servers on HAPI",
		},
		{
			QueryLimit, number, "An authorization request with a query of more bytes is answered with 404 and a page of HTML.",
			"IIS by default (2048), gateways",
		},
		{
			GrantOnly, types, "Whatever is asked, data of these types only is granted.",
			"SMART 2.2: granted may be less than asked",
		},
		{
			RequireScope, text, "An authorization request without this scope is refused; it is not granted either.",
			"Kaiser's sandbox: sandbox",
		},
		{NoPatientScope, "", "The person withholds the Patient type; all others are granted one by one.", "Blue Button 2.0"},
		{
			IDToken, "signed|wrong-nonce|bad-signature|expired|wrong-aud|wrong-issuer",
			"openid and fhirUser are known, and the token answer has an id_token signed with RS256, with this flaw.",
			"SMART 2.2, OpenID Connect Core",
		},
	}
}

// clientTable returns the switches for revocation, introspection and client authentication.
func clientTable() []Switch {
	return []Switch{
		{RevokeFails, endpointFailures, "Revocation fails.", "any"},
		{IntrospectFails, endpointFailures, "Introspection fails.", "any"},
		{
			IntrospectBearer, "",
			"Introspection is authorised by the access token as a bearer token, not by the client.", "Epic",
		},
		{
			ClientAuth, "none|client_secret_basic|client_secret_post|private_key_jwt", "Clients must authenticate in this way.",
			"Epic, MEDITECH, Blue Button 2.0",
		},
		{ClientSecret, text, "The clients' secret at this portal.", "confidential clients"},
		{
			BasicRaw, "", "Client id and secret in HTTP Basic are taken as they are, without form-decoding them.",
			"many, against RFC 6749 section 2.3.1",
		},
		{
			UDAP,
			"unsigned|other-authority|wrong-san|expired-certificate|expired-metadata|other-issuer|other-endpoints|redirect" +
				"|refuses|other-patient|slow",
			"The UDAP metadata is not signed; is signed by somebody whom nobody trusts; for another host; with a certificate, " +
				"or in words, that have expired; is another server's; or leads elsewhere. The token endpoint redirects, refuses, " +
				"takes one patient for another, or does not answer.",
			"any facility of a network with facilitated FHIR",
		},
		{ClientKeys, keySet, "The clients' public keys at this portal.", "Epic, Oracle/Cerner"},
		{UnknownCode500, "", "A code that the portal has not given out is answered with 500.", "a reference server"},
		{Client401, "", "A client that does not prove who it is is answered with 401 unauthorized_client.", "Keycloak"},
	}
}

func tokenTable() []Switch {
	return []Switch{
		{NoPatient, "", "The token answer names no patient.", "DrChrono/OnPatient"},
		{
			PatientUnnamed, "", "The patient is named nowhere, and Patient is found by _id only.",
			"portals without context-standalone-patient",
		},
		{PatientFHIRUser, "", "The patient is named by fhirUser in the id_token only.", "Oracle/Cerner"},
		{PatientJWT, "", "The patient is named by local_patient_id in the access token, a JWT, only.", "Veradigm/Allscripts"},
		{
			PatientUserinfo, "", "The patient is named by the userinfo endpoint only.",
			"portals that the notes' fallback chain lists",
		},
		{
			Rotation, "one-time|rolling|none",
			"A refresh token works once, and a second use ends the grant; or is replaced but goes on working; or is never " +
				"replaced.",
			"Blue Button 2.0; Epic; many",
		},
		{
			NoRefresh, "", "There is no refresh token, whatever was granted.",
			"eClinicalWorks for public clients, Veradigm DSTU2",
		},
		{ExpiresIn, "missing|text", "expires_in is missing, or a text.", "any"},
		{AccessLifetime, duration, "Access tokens live so long.", "DrChrono 48h; tests"},
		{RefreshLifetime, duration, "Every refresh token lives so long.", "any"},
		{
			RefreshFails,
			"invalid_grant|401|403|invalid_client|unauthorized_client|invalid_scope|html|html-503|500|429|no-token",
			"Every refresh fails: an OAuth error, invalid_grant with status 401 or 403, a page of HTML with 200 or 503, 500, " +
				"429 with Retry-After, or 200 without access_token.",
			"SMART launcher (401, 403), Epic (opaque invalid_client), any",
		},
		{FailsFirst, number, "The failures of refresh-fails end after so many tries with the same refresh token.", "tests"},
		{RefreshNeedsScope, "", "A refresh without scope is refused.", "athenahealth, VA"},
		{
			TellExpiry, "authorization_expires_in|refresh_token_timeout|refresh_token_expires_in|refresh_expires_in",
			"The token answer says by this field, in seconds, when consent or the refresh token ends.",
			"draft-ietf-oauth-refresh-token-expiration, vendors",
		},
	}
}
