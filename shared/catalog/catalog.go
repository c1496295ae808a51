package catalog

import (
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
)

// EndpointStatus determines whether patients may be sent to an endpoint.
type EndpointStatus string

// Statuses of an endpoint.
const (
	EndpointActive    EndpointStatus = "active"
	EndpointSuspended EndpointStatus = "suspended"
)

// Endpoint is a FHIR server of an institution.
type Endpoint struct {
	ID           string // UUID
	BrandID      string
	PortalID     string
	Name         string
	FHIRBase     string // absolute URL without a trailing slash
	PlatformType string
	FHIRVersion  string
	Mode         string // "test" or "live": sandboxes are never available to live credentials
	Status       EndpointStatus
	Overrides    string // differences from the platform's profile, in the profile's YAML; may be empty
	// Pins restrict the authorization server to the URLs that an operator has approved. The zero value, in rows older than
	// pins, trusts only the origin of FHIRBase and the origins in the platform's profile (Addresses.Untrusted).
	Pins Pins
	// Published reports whether the endpoint was created and is maintained by publishing the catalogue
	// (shared/catalog/publish). It is false for an operator's own endpoint.
	Published bool
	// Withdrawn reports whether the endpoint is suspended because the catalogue no longer contains it, rather than by an
	// operator. It becomes active once the catalogue contains it again.
	Withdrawn bool
	// OwnRegistration reports whether only the endpoint's own registration may be used, because its platform is unverified
	// (docs/adr/0041-joining-a-hospital.md).
	OwnRegistration bool
	Rev             int64
}

// Shared reports whether several institutions share the endpoint. In that case each attempt, rather than the endpoint's
// row, contains the institution.
func (e Endpoint) Shared() bool { return e.BrandID == "" }

// Registration is our client's registration with an endpoint, or with all endpoints of a platform
// (docs/operate/health-systems.md, "Register").
type Registration struct {
	Place    Place
	ClientID string
	AuthID   string // ID of the ClientAuth for ClientID; empty for a public client
	Scope    string // requested scopes, space-separated; if empty, those of the platform's profile
	// Callback is the last segment of the callback URL registered with the health system, so that a callback for one
	// registration is never mistaken for another's (RFC 9700 section 4.4.2). It is empty for registrations older than such
	// URLs, which use the plain callback URL.
	Callback string
	Rev      int64
}

// CallbackOf returns the Callback for an owner's registration (an org.Tenant's Key, or "*" if shared) at a place. The
// registration need not exist yet, since health systems require the URL first.
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
// section 2.3, SMART App Launch 2.2, "Client authentication"). It is stored longer than the registrations that refer to
// it, because refresh tokens remain bound to their client.
type ClientAuth struct {
	ID        string // UUID
	Method    AuthMethod
	Algorithm string // for AuthPrivateKey: "RS384" or "ES384"
	KeyID     string // signing key for AuthPrivateKey; if empty, the current one
	Secret    []byte // for methods with a secret: encrypted under ClientSecretPurpose, bound to SecretBinding
	// Origins lists the origins to which the secret may be sent (Origin). A secret without origins is never sent. An
	// assertion is restricted by its audience and needs no origins, but any listed origins also apply to it.
	Origins []string
	Rev     int64
}

// ClientUse is a request that one of our clients must authenticate.
type ClientUse struct {
	AuthID        string // ID of its ClientAuth; empty for a public client
	ClientID      string
	TokenEndpoint string // the authorization server's, even if a different endpoint is called
	Address       string // URL to be called
	RawBasic      bool   // whether the server reads HTTP Basic undecoded, contrary to RFC 6749 section 2.3.1
}

// AuthMethod is a method of client authentication, named as in RFC 7591 section 2.
type AuthMethod string

// Methods of client authentication. A public client has no ClientAuth.
const (
	AuthSecretBasic AuthMethod = "client_secret_basic"
	AuthSecretPost  AuthMethod = "client_secret_post"
	AuthPrivateKey  AuthMethod = "private_key_jwt"
)

// ClientSecretPurpose is part of the encryption context of sealed client secrets.
const ClientSecretPurpose = "client-secret"

// SecretBinding returns the value to which the client's encrypted secret is bound.
func (a ClientAuth) SecretBinding() string { return "client|" + a.ID }

// MissingEndpoint returns the error for an endpoint that is unknown, suspended or in the other mode.
func MissingEndpoint() error {
	return fault.BadRequest("endpoint_id is unknown.").About("endpoint_id")
}
