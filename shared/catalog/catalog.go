package catalog

import (
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
)

// EndpointStatus determines whether patients can connect at an endpoint.
type EndpointStatus string

// Endpoint statuses.
const (
	EndpointActive    EndpointStatus = "active"
	EndpointSuspended EndpointStatus = "suspended"
)

// Endpoint is an institution's FHIR server.
type Endpoint struct {
	ID           string // UUID
	BrandID      string
	PortalID     string
	Name         string
	FHIRBase     string // absolute URL without a trailing slash
	PlatformType string
	FHIRVersion  string
	Mode         string // "test" or "live"; live credentials can't access sandboxes
	Status       EndpointStatus
	Overrides    string // differences from the platform's profile, as profile YAML; may be ""
	// Pins restricts the authorization server to URLs that an operator has approved. In rows that predate pinning, Pins
	// is zero; only the origin of FHIRBase and the origins in the platform's profile are then trusted
	// (Addresses.Untrusted).
	Pins Pins
	// Published reports whether the endpoint was created and is maintained by publishing the catalogue
	// (shared/catalog/publish). Published is false for an endpoint that an operator created.
	Published bool
	// Withdrawn reports whether the endpoint is suspended because the catalogue no longer contains it. Withdrawn is
	// false if an operator suspended the endpoint. A withdrawn endpoint becomes active when the catalogue contains it
	// again.
	Withdrawn bool
	// OwnRegistration reports whether the endpoint may use only its own registration, because its platform is
	// unverified (docs/adr/0041-joining-a-hospital.md).
	OwnRegistration bool
	Rev             int64
}

// Shared reports whether several institutions share the endpoint. Each attempt at a shared endpoint stores its
// institution, because the endpoint's row does not.
func (e Endpoint) Shared() bool { return e.BrandID == "" }

// Registration is the service's client registration with an endpoint, or with every endpoint on a platform
// (docs/operate/health-systems.md, "Register").
type Registration struct {
	Place    Place
	ClientID string
	AuthID   string // ID of the ClientAuth for ClientID; empty for a public client
	Scope    string // requested scopes, space-separated; defaults to the platform profile's scopes
	// Callback is the last path segment of the callback URL registered with the health system. A Callback prevents a
	// callback for one registration from being mistaken for another's (RFC 9700 section 4.4.2). Callback is empty for
	// older registrations, which use the plain callback URL.
	Callback string
	Rev      int64
}

// CallbackOf returns the Callback for an owner's registration with an endpoint or platform. The owner is an
// org.Tenant's Key, or "*" for a shared registration. The registration need not exist yet, because health systems ask
// for the URL before they create it.
func CallbackOf(owner string, place Place) string {
	return ids.Derive("callback", owner, place.EndpointID, place.Mode, place.PlatformType)
}

// Place is the scope of a Registration: a single endpoint or, if EndpointID is empty, every endpoint on a platform in
// one mode.
type Place struct {
	EndpointID   string
	Mode         string
	PlatformType string
}

// ClientAuth holds a client's credentials for authenticating to authorization servers (RFC 6749 section 2.3, SMART App
// Launch 2.2, "Client authentication"). A ClientAuth outlives the registrations that refer to it because refresh tokens
// remain bound to their client.
type ClientAuth struct {
	ID        string // UUID
	Method    AuthMethod
	Algorithm string // for AuthPrivateKey: "RS384" or "ES384"
	KeyID     string // signing key for AuthPrivateKey; if empty, the current key is used
	Secret    []byte // encrypted client secret, if any (see ClientSecretPurpose, SecretBinding)
	// Origins lists the origins to which the secret may be sent (Origin). If Origins is empty, the secret is never
	// sent. An assertion needs no origins, because its audience already restricts its use. Listed origins also apply to
	// assertions.
	Origins []string
	Rev     int64
}

// ClientUse describes a request that requires client authentication.
type ClientUse struct {
	AuthID        string
	ClientID      string
	TokenEndpoint string // authorization server's token endpoint, even if Address is a different endpoint
	Address       string // URL that the client calls
	RawBasic      bool   // whether the server fails to decode HTTP Basic, contrary to RFC 6749 section 2.3.1
}

// AuthMethod is a method of client authentication, named as in RFC 7591 section 2.
type AuthMethod string

// Methods of client authentication. A public client doesn't have a ClientAuth.
const (
	AuthSecretBasic AuthMethod = "client_secret_basic"
	AuthSecretPost  AuthMethod = "client_secret_post"
	AuthPrivateKey  AuthMethod = "private_key_jwt"
)

// ClientSecretPurpose is part of the encryption context of sealed client secrets.
const ClientSecretPurpose = "client-secret"

// SecretBinding returns the value to which the encrypted client secret is bound.
func (a ClientAuth) SecretBinding() string { return "client|" + a.ID }

// MissingEndpoint returns the error for an endpoint that is unknown, suspended, or in the other mode.
func MissingEndpoint() error {
	return fault.BadRequest("endpoint_id is unknown.").About("endpoint_id")
}
