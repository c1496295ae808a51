package catalog

import (
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
)

// EndpointStatus determines whether patients may be sent to an endpoint.
type EndpointStatus string

// The statuses.
const (
	EndpointActive    EndpointStatus = "active"
	EndpointSuspended EndpointStatus = "suspended"
)

// Endpoint is one FHIR server of an institution.
type Endpoint struct {
	ID           string // UUID
	BrandID      string
	PortalID     string
	Name         string
	FHIRBase     string // absolute URL without a trailing slash
	PlatformType string
	FHIRVersion  string
	Mode         string // "test" or "live": sandboxes are never offered to live credentials
	Status       EndpointStatus
	Overrides    string // differences from the platform's profile, in the profile's YAML; may be empty
	// Pins restrict its authorization server to the URLs that an operator has approved. The zero value, of rows older than
	// pins, trusts only the origin of FHIRBase and those that the platform's profile knows (Addresses.Untrusted).
	Pins Pins
	// Published reports whether publishing the catalogue created and maintains the endpoint (shared/catalog/publish). It
	// is false for an operator's own endpoint.
	Published bool
	// Withdrawn reports whether the endpoint is suspended because it is no longer in the catalogue, rather than by an
	// operator. It becomes active when it is in the catalogue again.
	Withdrawn bool
	// OwnRegistration reports whether only the endpoint's own registration may be used here, because its platform is
	// unverified (docs/adr/0041-joining-a-hospital.md).
	OwnRegistration bool
	Rev             int64
}

// Shared reports whether several institutions share the endpoint. Its row names none of them; each attempt does.
func (e Endpoint) Shared() bool { return e.BrandID == "" }

// Registration is our client's registration at an endpoint, or at all endpoints of a platform
// (docs/operate/health-systems.md, "Register").
type Registration struct {
	Place    Place
	ClientID string
	AuthID   string // the ClientAuth of ClientID; empty for a public client
	Scope    string // requested scopes, space-separated; empty: the platform profile's
	// Callback is the last segment of the callback URL registered at the health system, so that a callback for one
	// registration is never mistaken for another's (RFC 9700 section 4.4.2). It is empty for registrations older than such
	// URLs, which use the plain one.
	Callback string
	Rev      int64
}

// CallbackOf returns the Callback of an owner's registration (an org.Tenant's Key, or "*" if shared) at a place. It
// does not need the registration to exist, since health systems require the URL first.
func CallbackOf(owner string, place Place) string {
	return ids.Derive("callback", owner, place.EndpointID, place.Mode, place.PlatformType)
}

// Place is the scope of a Registration: one endpoint or, if EndpointID is empty, every endpoint of a platform in a
// mode.
type Place struct {
	EndpointID   string
	Mode         string
	PlatformType string
}

// ClientAuth holds the credentials with which one of our clients authenticates to authorization servers (RFC 6749
// section 2.3, SMART App Launch 2.2, "Client authentication"). It outlives the registrations that name it, because
// refresh tokens remain bound to their client.
type ClientAuth struct {
	ID        string // UUID
	Method    AuthMethod
	Algorithm string // for AuthPrivateKey: "RS384" or "ES384"
	KeyID     string // for AuthPrivateKey: the signing key; empty: the current one
	Secret    []byte // for methods with a secret: sealed under ClientSecretPurpose, bound to SecretBinding
	// Origins lists the origins to which the secret may be sent (Origin). A secret without origins is never sent. An
	// assertion names its one audience and needs no origins; if there are some, they restrict it as well.
	Origins []string
	Rev     int64
}

// ClientUse is a request for which one of our clients must authenticate.
type ClientUse struct {
	AuthID        string // its ClientAuth; empty for a public client
	ClientID      string
	TokenEndpoint string // of the authorization server, even if another of its endpoints is called
	Address       string // the URL being called
	RawBasic      bool   // the server reads HTTP Basic without decoding, against RFC 6749 section 2.3.1
}

// AuthMethod is a method of client authentication, named as in RFC 7591 section 2.
type AuthMethod string

// The methods. A public client has no ClientAuth.
const (
	AuthSecretBasic AuthMethod = "client_secret_basic"
	AuthSecretPost  AuthMethod = "client_secret_post"
	AuthPrivateKey  AuthMethod = "private_key_jwt"
)

// ClientSecretPurpose is part of the encryption context of sealed client secrets.
const ClientSecretPurpose = "client-secret"

// SecretBinding returns the value to which the ClientAuth's sealed secret is bound.
func (a ClientAuth) SecretBinding() string { return "client|" + a.ID }

// MissingEndpoint returns the error for an endpoint that is unknown, suspended or of the other mode.
func MissingEndpoint() error {
	return fault.BadRequest("endpoint_id is unknown.").About("endpoint_id")
}
