package tally

// Outcome is a value of the metric SignIns' dimension. A failed sign-in's outcome names the party that caused the
// failure.
type Outcome string

// Outcomes of sign-ins.
const (
	Begun     Outcome = "started"
	Connected Outcome = "connected"
	Patient   Outcome = "patient" // the patient, or the organisation during the sign-in
	Portal    Outcome = "portal"  // the portal, the identity provider, the health information network or a facility
	Service   Outcome = "service" // this service, including its AWS services and its registration at the portal
)

// Cause is a failed sign-in's stable identifier (fault.Causes), or the reason why a facility failed.
type Cause string

// Causes of failed sign-ins. docs/operate/failures.md describes the logged causes under "Words".
const (
	Declined          Cause = "declined"
	Cancelled         Cause = "cancelled"
	WrongPatient      Cause = "wrong_patient"
	ConnectionUnknown Cause = "connection_unknown" // at the end of a sign-in: the organisation erased the connection
	GivenUp           Cause = "given_up"
	LevelTooLow       Cause = "level_too_low"
	Demographics      Cause = "demographics_missing"

	PortalUnavailable   Cause = "portal_unavailable"
	PortalMoved         Cause = "portal_moved"
	PortalRefused       Cause = "portal_refused"
	ServerError         Cause = "server_error"
	Unavailable         Cause = "temporarily_unavailable"
	InvalidGrant        Cause = "invalid_grant"
	WrongCallback       Cause = "wrong_callback"
	IssuerMismatch      Cause = "issuer_mismatch"
	NoCode              Cause = "no_code"
	NoAnswer            Cause = "no_answer"
	NoPatient           Cause = "no_patient"
	TokenExchange       Cause = "token_exchange"
	ProviderUnavailable Cause = "provider_unavailable"
	CodeRefused         Cause = "code_refused"
	TokenInvalid        Cause = "token_invalid"
	IdentityRefused     Cause = "identity_refused"
	NetworkUnavailable  Cause = "network_unavailable"
	FacilityRefused     Cause = "refused"
	FacilityUnavailable Cause = "unavailable"
	FacilityTooLarge    Cause = "too_large"
	FacilityContent     Cause = "invalid_content"
	FacilityOtherPerson Cause = "other_person"

	InvalidClient           Cause = "invalid_client"
	ClientSecretEncoding    Cause = "client_secret_encoding"
	ClientUnproven          Cause = "client_unproven"
	UnauthorizedClient      Cause = "unauthorized_client"
	UnsupportedGrantType    Cause = "unsupported_grant_type"
	UnsupportedResponseType Cause = "unsupported_response_type"
	InvalidScope            Cause = "invalid_scope"
	InvalidRequest          Cause = "invalid_request"
	RedirectRefused         Cause = "redirect_refused"
	ProviderRefused         Cause = "provider_refused"
	IdentityExpired         Cause = "identity_expired"
	TryAgain                Cause = "try_again"
	Internal                Cause = "internal"
)

// Outcome returns the outcome of a sign-in that failed for this cause. known is false for a cause without a constant.
func (c Cause) Outcome() (outcome Outcome, known bool) {
	switch c {
	case Declined, Cancelled, WrongPatient, ConnectionUnknown, GivenUp, LevelTooLow, Demographics:
		return Patient, true
	case PortalUnavailable, PortalMoved, PortalRefused, ServerError, Unavailable, WrongCallback, IssuerMismatch, NoCode,
		NoAnswer, NoPatient, TokenExchange, ProviderUnavailable, TokenInvalid, IdentityRefused, NetworkUnavailable,
		FacilityRefused, FacilityUnavailable, FacilityTooLarge, FacilityContent, FacilityOtherPerson:
		return Portal, true
	case InvalidGrant, CodeRefused: // the service submits each code once and at once, so the patient isn't the cause
		return Portal, true
	case InvalidClient, ClientSecretEncoding, ClientUnproven, UnauthorizedClient, UnsupportedGrantType,
		UnsupportedResponseType, InvalidScope, InvalidRequest, RedirectRefused, ProviderRefused, TryAgain, Internal:
		return Service, true
	case IdentityExpired: // identities are used at once, so an identity expires only if the service is late
		return Service, true
	}
	return "", false
}
