package switches

import "slices"

// Switches for the authorization server, in table order.
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

// endpointFailures lists the simulated failures of the revocation and introspection endpoints.
const endpointFailures = "500|503|404|401|html"

func oauthTable() []Switch {
	return slices.Concat(tokenTable(), discoveryTable(), authorizationTable(), clientTable())
}

func discoveryTable() []Switch {
	return []Switch{
		{DiscoveryRelative, "", "The discovery document has relative URLs.", "allowed by SMART 2.2"},
		{DiscoveryMissing, "", "There is no .well-known/smart-configuration; only the CapabilityStatement lists the " +
			"endpoints.", "SMART 1.0 servers"},
		{DiscoveryHTML, "", "The .well-known URL returns an HTML page with 200.", "any"},
		{DiscoveryNoS256, "", "The discovery document lists no PKCE methods.", "NextGen, Qualifacts CareLogic, NHS"},
		{OmitEndpoint, "revocation|introspection", "The discovery document omits this endpoint.", "many"},
		{TokenMoves, number, "After this many uses, the token URL returns 404, and discovery names another " +
			"one.", "any"},
		{
			Hostile, "no-issuer|other-issuer|other-sign-in|other-token|this-service",
			"The discovery document names no issuer; another portal's issuer, authorization or token URL; or a URL " +
				"of the service that reads it.",
			"RFC 9700 section 4.4, mix-up attacks",
		},
	}
}

func authorizationTable() []Switch {
	return []Switch{
		{
			Aud, "required|none|trimmed", "aud is required; is forbidden; must not end with a slash.",
			"athenahealth; NextGen, VA, Quest, Cigna; eClinicalWorks",
		},
		{NonceRequired, "", "An authorization request without nonce is rejected.", "athenahealth"},
		{
			Fragment, "", "The authorization response is in the redirect URI's fragment.",
			"chbase, intelichart, maximeyes, medhost, onemedical",
		},
		{
			Issuer, "present|missing|wrong",
			"iss in the authorization response is present, is missing, or is another issuer's.", "RFC 9207",
		},
		{
			AuthorizeError,
			"invalid_request|unauthorized_client|access_denied|unsupported_response_type|invalid_scope|server_error|tempor" +
				"arily_unavailable|login_required|consent_required|interaction_required",
			"Every authorization request returns this error.",
			"RFC 6749 section 4.1.2.1, OpenID Connect Core section 3.1.2.6",
		},
		{HTTPSRedirect, "", "Redirect URIs must be https.", "VA, eClinicalWorks"},
		{
			Scopes, "no-wildcards|v1|v2|types-v1|types-v2",
			"Wildcards are rejected; only v1 or only v2 scopes are supported; or only scopes for single types are, " +
				"and discovery lists all 146 types in alphabetical order.",
			"Cerner, eClinicalWorks, athenahealth, VA, Humana; any; servers on HAPI",
		},
		{
			QueryLimit, number, "An authorization request with a longer query string (in bytes) returns 404 and an " +
				"HTML page.",
			"IIS by default (2048), gateways",
		},
		{
			GrantOnly, types, "Only data of these types is granted, whatever is requested.",
			"SMART 2.2: the granted scope may be narrower than requested",
		},
		{
			RequireScope, text, "An authorization request without this scope is rejected; the scope itself is not " +
				"granted.",
			"Kaiser's sandbox: sandbox",
		},
		{NoPatientScope, "", "The patient withholds the Patient type; all others are granted " +
			"individually.", "Blue Button 2.0"},
		{
			IDToken, "signed|wrong-nonce|bad-signature|expired|wrong-aud|wrong-issuer",
			"openid and fhirUser are supported, and the token response has an RS256-signed id_token with this flaw.",
			"SMART 2.2, OpenID Connect Core",
		},
	}
}

func clientTable() []Switch {
	return []Switch{
		{RevokeFails, endpointFailures, "Revocation fails.", "any"},
		{IntrospectFails, endpointFailures, "Introspection fails.", "any"},
		{
			IntrospectBearer, "",
			"Introspection is authorised with the access token as a bearer token, not with the client's " +
				"credentials.", "Epic",
		},
		{
			ClientAuth, "none|client_secret_basic|client_secret_post|private_key_jwt", "Clients must authenticate " +
				"with this method.",
			"Epic, MEDITECH, Blue Button 2.0",
		},
		{ClientSecret, text, "The clients' secret at this portal.", "confidential clients"},
		{
			BasicRaw, "", "Client ID and secret in HTTP Basic are used as they are, without form-decoding.",
			"many, in violation of RFC 6749 section 2.3.1",
		},
		{
			UDAP,
			"unsigned|other-authority|wrong-san|expired-certificate|expired-metadata|other-issuer|other-endpoints|redirect" +
				"|refuses|other-patient|slow",
			"The UDAP metadata is not signed; is signed by an untrusted signer; is for another host; has an expired " +
				"certificate or has itself expired; is another server's; or leads elsewhere. The token endpoint " +
				"redirects, refuses, confuses patients, or does not respond.",
			"any facility of a network with facilitated FHIR",
		},
		{ClientKeys, keySet, "The clients' public keys at this portal.", "Epic, Oracle/Cerner"},
		{UnknownCode500, "", "An unknown code returns 500.", "a reference server"},
		{Client401, "", "A client that does not authenticate gets 401 unauthorized_client.", "Keycloak"},
	}
}

func tokenTable() []Switch {
	return []Switch{
		{NoPatient, "", "The token response names no patient.", "DrChrono/OnPatient"},
		{
			PatientUnnamed, "", "The patient is named nowhere, and Patient can be found only by _id.",
			"portals without context-standalone-patient",
		},
		{PatientFHIRUser, "", "Only fhirUser in the id_token names the patient.", "Oracle/Cerner"},
		{PatientJWT, "", "Only local_patient_id in the access token, a JWT, names the patient.", "Veradigm/Allscripts"},
		{
			PatientUserinfo, "", "Only the userinfo endpoint names the patient.",
			"portals in the notes' fallback chain",
		},
		{
			Rotation, "one-time|rolling|none",
			"A refresh token works once, and a second use ends the grant; or it is replaced but keeps working; or it " +
				"is never replaced.",
			"Blue Button 2.0; Epic; many",
		},
		{
			NoRefresh, "", "There is no refresh token, whatever was granted.",
			"eClinicalWorks for public clients, Veradigm DSTU2",
		},
		{ExpiresIn, "missing|text", "expires_in is missing, or a string.", "any"},
		{AccessLifetime, duration, "Lifetime of access tokens.", "DrChrono 48h; tests"},
		{RefreshLifetime, duration, "Lifetime of refresh tokens.", "any"},
		{
			RefreshFails,
			"invalid_grant|401|403|invalid_client|unauthorized_client|invalid_scope|html|html-503|500|429|no-token",
			"Every refresh fails: an OAuth error, invalid_grant with status 401 or 403, an HTML page with 200 or " +
				"503, 500, 429 with Retry-After, or 200 without access_token.",
			"SMART launcher (401, 403), Epic (opaque invalid_client), any",
		},
		{FailsFirst, number, "The failures of refresh-fails end after this many tries with the same refresh " +
			"token.", "tests"},
		{RefreshNeedsScope, "", "A refresh without scope is rejected.", "athenahealth, VA"},
		{
			TellExpiry, "authorization_expires_in|refresh_token_timeout|refresh_token_expires_in|refresh_expires_in",
			"The token response has this field, in seconds, for the expiry of the consent or the refresh token.",
			"draft-ietf-oauth-refresh-token-expiration, vendors",
		},
	}
}
