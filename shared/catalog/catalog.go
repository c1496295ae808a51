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

// Endpoint is an institution's FHIR server.
type Endpoint struct {
	ID           string // UUID
	BrandID      string
	PortalID     string
	Name         string
	FHIRBase     string // absolute URL without a trailing slash
	PlatformType string
	FHIRVersion  string
	Mode         string // "test" or "live": live credentials can never access a sandbox
	Status       EndpointStatus
	Overrides    string // differences from the platform's profile, as profile YAML; may be empty
	// Pins restricts the authorization server to the URLs that an operator has approved. Rows that predate pins have
	// the zero value, which trusts only the origin of FHIRBase and the origins in the platform's profile
	// (Addresses.Untrusted).
	Pins Pins
	// Published reports whether publishing the catalogue (shared/catalog/publish) created the endpoint and maintains
	// it. Published is false for an operator's own endpoint.
	Published bool
	// Withdrawn reports whether the endpoint is suspended because the catalogue no longer contains it. Withdrawn is
	// false if an operator suspended the endpoint. A withdrawn endpoint becomes active once the catalogue contains it
	// again.
	Withdrawn bool
	// OwnRegistration reports whether the endpoint may use only its own registration, because its platform is
	// unverified (docs/adr/0041-joining-a-hospital.md).
	OwnRegistration bool
	Rev             int64
}

// Shared reports whether several institutions share the endpoint. If Shared is true, each attempt stores the
// institution, because the endpoint's row does not.
func (e Endpoint) Shared() bool { return e.BrandID == "" }

// Registration is our client's registration with an endpoint, or with every endpoint on a platform
// (docs/operate/health-systems.md, "Register").
type Registration struct {
	Place    Place
	ClientID string
	AuthID   string // ID of the ClientAuth for ClientID; empty for a public client
	Scope    string // requested scopes, space-separated; if empty, the platform profile's scopes
	// Callback is the last segment of the callback URL registered with the health system. The segment prevents a
	// callback for one registration from being mistaken for another registration's callback (RFC 9700 section 4.4.2).
	// Callback is empty for older registrations, which use the plain callback URL.
	Callback string
	Rev      int64
}

// CallbackOf returns the Callback for an owner's registration at a place. The owner is an org.Tenant's Key, or "*" for
// a shared registration. The registration doesn't have to exist yet, since health systems require the URL first.
func CallbackOf(owner string, place Place) string {
	return ids.Derive("callback", owner, place.EndpointID, place.Mode, place.PlatformType)
}

// Place is the scope of a Registration: the endpoint EndpointID or, if EndpointID is empty, every endpoint on a
// platform in one mode.
type Place struct {
	EndpointID   string
	Mode         string
	PlatformType string
}

// ClientAuth holds a client's credentials for authenticating to authorization servers (RFC 6749 section 2.3, SMART App
// Launch 2.2, "Client authentication"). A ClientAuth outlives the registrations that refer to it, because refresh
// tokens remain bound to their client.
type ClientAuth struct {
	ID        string // UUID
	Method    AuthMethod
	Algorithm string // signing algorithm for AuthPrivateKey: "RS384" or "ES384"
	KeyID     string // signing key for AuthPrivateKey; if empty, the current key
	Secret    []byte // client secret, if any, encrypted under ClientSecretPurpose and bound to SecretBinding
	// Origins lists the origins to which the secret may be sent (Origin). If Origins is empty, the secret is never
	// sent. An assertion doesn't need any origins because its audience already restricts it, but any listed origins
	// also apply to the assertion.
	Origins []string
	Rev     int64
}

// ClientUse describes a request that requires client authentication.
type ClientUse struct {
	AuthID        string // ID of the client's ClientAuth; empty for a public client
	ClientID      string
	TokenEndpoint string // authorization server's token endpoint, even for calls to another endpoint
	Address       string // URL to be called
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

// SecretBinding returns the value to which the client's encrypted secret is bound.
func (a ClientAuth) SecretBinding() string { return "client|" + a.ID }

// MissingEndpoint returns the error for an endpoint that is unknown, suspended or in the other mode.
func MissingEndpoint() error {
	return fault.BadRequest("endpoint_id is unknown.").About("endpoint_id")
}
