package catalog

import (
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
)

// EndpointStatus says whether patients may be sent to an endpoint.
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
	Overrides    string // what is different from the platform's profile here, in its own YAML; empty for nothing
	// Pins hold its authorization server to where an operator has seen it. A zero value, of rows older than pins, trusts
	// the origin of FHIRBase and what the platform's profile knows, and nothing else (Addresses.Abroad).
	Pins Pins
	// Published tells that publishing the catalogue made it and keeps it (shared/catalog/publish);
	// false of an operator's own.
	Published bool
	// Withdrawn tells that it is suspended because the catalogue has it no more, and not because an operator has said so:
	// it becomes active when the catalogue has it again.
	Withdrawn bool
	// OwnRegistration tells that only a registration of the endpoint's own is used here: nobody has vouched for
	// its platform (docs/adr/0041-joining-a-hospital.md).
	OwnRegistration bool
	Rev             int64
}

// Shared reports whether several institutions have the endpoint: its row names none of them, who connects does.
func (e Endpoint) Shared() bool { return e.BrandID == "" }

// Registration is how our client is registered at an endpoint, or at all endpoints of a platform
// (docs/operate/health-systems.md, "Register").
type Registration struct {
	Place    Place
	ClientID string
	AuthID   string // of the ClientAuth that goes with ClientID; empty for a public client
	Scope    string // what to ask for, space-separated; empty: as the platform's profile says
	// Callback is the last segment of the callback address that is registered at the health system, so that a return
	// meant for one registration is never taken for another's (RFC 9700 section 4.4.2); empty for registrations older
	// than such addresses, which have the plain one.
	Callback string
	Rev      int64
}

// CallbackOf is the Callback of a registration of an owner (an org.Tenant's Key, or "*" for everybody) at a place. It
// can be told before the registration exists, since health systems want the address first.
func CallbackOf(owner string, place Place) string {
	return ids.Derive("callback", owner, place.EndpointID, place.Mode, place.PlatformType)
}

// Place is where a Registration is valid: at one endpoint, or with EndpointID empty at every endpoint
// of a platform in a mode.
type Place struct {
	EndpointID   string
	Mode         string
	PlatformType string
}

// ClientAuth is how one client of ours proves who it is to authorization servers (RFC 6749 section 2.3,
// SMART App Launch 2.2, "Client authentication"). It outlives the registrations that name it: refresh tokens
// stay bound to their client.
type ClientAuth struct {
	ID        string // UUID
	Method    AuthMethod
	Algorithm string // of AuthPrivateKey: "RS384" or "ES384"
	KeyID     string // of AuthPrivateKey: signs with this key; empty: with the present one
	Secret    []byte // of the methods with a secret, sealed under ClientSecretPurpose and bound to SecretBinding
	// Origins are those that the secret may be shown to (Origin); a secret without any is shown to nobody. An assertion
	// names its one audience and needs none; where there are some, it is held to them, too.
	Origins []string
	Rev     int64
}

// ClientUse is one request in which a client of ours has to prove who it is.
type ClientUse struct {
	AuthID        string // of its ClientAuth; empty for a public client
	ClientID      string
	TokenEndpoint string // of the authorization server, whichever of its endpoints is called
	Address       string // that is called
	RawBasic      bool   // the server reads HTTP Basic without decoding what is in it, against RFC 6749 section 2.3.1
}

// AuthMethod is a method of client authentication as RFC 7591 section 2 names it.
type AuthMethod string

// The methods. A public client has no ClientAuth.
const (
	AuthSecretBasic AuthMethod = "client_secret_basic"
	AuthSecretPost  AuthMethod = "client_secret_post"
	AuthPrivateKey  AuthMethod = "private_key_jwt"
)

// ClientSecretPurpose stands in the encryption context of sealed client secrets.
const ClientSecretPurpose = "client-secret"

// SecretBinding is what the sealed secret of the ClientAuth is bound to.
func (a ClientAuth) SecretBinding() string { return "client|" + a.ID }

// MissingEndpoint is the answer for an endpoint that is unknown, suspended or of the other mode.
func MissingEndpoint() error {
	return fault.BadRequest("endpoint_id is not known.").About("endpoint_id")
}
