// Package flow owns one connect attempt: what is pinned when the patient leaves for the portal, the state and browser
// binding that the return must show, single use, and the result. It speaks to the portal through an interface and
// knows no HTTP and no AWS.
package flow

import (
	"context"
	"time"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	// CallbackPath is where portals return, behind the base URL; what follows it names the registration.
	CallbackPath = "/bridge/callback"
	// ConnectPath is where a browser leaves for a portal, behind the base URL.
	ConnectPath = "/bridge/connect"
	// PagePath is where a patient picks the institution first, behind the base URL.
	PagePath = "/widget/connect"
)

// VerifierPurpose stands in the encryption context of sealed PKCE verifiers.
const VerifierPurpose = "pkce-verifier"

// Attempt is one sign-in of a patient. Everything that the return needs is pinned here, so that nothing a browser
// brings back can choose where a code or a token goes (RFC 9700 section 4.4).
type Attempt struct {
	Requester
	Institution
	Renewal
	Server
	Client
	Parameters
	Secrets

	ID        string
	Tenant    org.Tenant
	Status    Status
	RequestID string
	CreatedAt time.Time
	ExpiresAt time.Time
	Ending    Ending // zero until the attempt is done or failed
}

// Requester identifies the patient to the organisation, and says where the result goes.
type Requester struct {
	RedirectURI   string // proven to be registered when the attempt began; empty for a widget's attempt
	TokenHash     string // SHA-256 of the token by which the widget asks for the result, hex; empty in redirect mode
	ExternalID    string
	ExternalState string
}

// Institution names the institution in the catalogue.
type Institution struct {
	EndpointID   string
	BrandID      string
	PortalID     string
	PlatformType string
}

// Renewal names the connection that a patient authorizes again. It is zero for a new connection.
type Renewal struct {
	Reconnect string // the connection's id
	WasEnded  string // why it had ended when the attempt began (connection.RefreshState); empty if it had not
}

// Server holds the portal's addresses, as discovery stated them when the attempt began.
type Server struct {
	FHIRBase              string
	Issuer                string
	IssRequired           bool // the portal promises iss on its return (RFC 9207)
	AuthorizationEndpoint string
	TokenEndpoint         string
	KeySet                string // address of the keys that sign id_tokens; empty if unknown
	Userinfo              string // empty if there is none
	Upstream              Upstream
}

// Client identifies us to the portal.
type Client struct {
	ClientID     string
	ClientAuthID string // of the client's authentication; empty for a public client
	Callback     string // the redirect URI that the portal gets, and the only one that may bring its answer
	RawBasic     bool   // client id and secret stand in HTTP Basic as they are; goes into the token set
}

// Parameters holds the rest of the authorization request, and the consequences of what it requests.
type Parameters struct {
	Aud         string   // sent as aud; empty: not sent
	Scope       string   // requested
	RepeatScope bool     // every refresh has to name the scope again; goes into the token set
	Extra       []string // fields of the token answer that go into the token set (tokens.Set)
	Nonce       bool     // a nonce is sent
	NoChallenge bool     // no PKCE challenge is sent
}

// Secrets proves that the return belongs to the attempt. It is made when the browser leaves.
type Secrets struct {
	NonceHash string // HashNonce of the nonce that the id_token must repeat; empty if none was sent
	Verifier  []byte // PKCE verifier, sealed
}

// Status is the progress of an attempt.
type Status string

// The statuses. An attempt that is created or open when its time has passed is expired; that is decided on reading and
// never stored.
const (
	Created Status = "created" // by a widget, whose browser has not left yet
	Open    Status = "open"    // the browser is at the portal
	Done    Status = "done"
	Failed  Status = "failed"
	Expired Status = "expired"
)

// Ending is the outcome of an attempt: a connection, or an error and its cause (see causes.go).
type Ending struct {
	ConnectionID     string
	ConnectionStatus connection.Status
	Scope            string    // granted
	ConsentExpiresAt time.Time // zero when unknown

	Error       string
	Description string
	Cause       string
	RequestID   string // of the request that ended in the error
}

// Conclusion is everything that the end of an attempt stores, in one transaction.
type Conclusion struct {
	Attempt     Attempt
	Error       string // error code the attempt ended with, empty on success
	Description string // of the error, as the browser is told
	Cause       string // of the error
	RequestID   string // of the request that ended in the error
	// Connection has no id when none comes of it. One with a revision is a reconnect: it replaces that revision.
	Connection connection.Connection
	// Tokens has no Sealed when there are none. Those of a reconnect replace the version before theirs, or with version 1
	// are the first, and what was left of an earlier grant (refresh.Store, Upstream) goes with it.
	Tokens tokens.Row
	Events []webhook.Event
}

// Attempts reads attempts.
type Attempts interface {
	// Attempt reads an attempt, consistently; fault.NotFound.
	Attempt(ctx context.Context, tenant org.Tenant, id string) (Attempt, error)
}

// StartStore keeps attempts that begin.
type StartStore interface {
	Attempts
	// BeginAttempt creates the attempt, open, and its state in one transaction.
	BeginAttempt(ctx context.Context, attempt Attempt, state binding.State) error
	// Ticket reads a ticket that is not expired at now, consistently; fault.NotFound.
	Ticket(ctx context.Context, hash string, now time.Time) (binding.Ticket, error)
	// OpenAttempt uses a ticket up, makes its attempt open with the attempt's Verifier and NonceHash, and creates the
	// state, in one transaction; fault.Conflict when the ticket is gone or the attempt is not as it was created.
	OpenAttempt(ctx context.Context, ticket binding.Ticket, attempt Attempt, state binding.State) error
}

// CreateStore keeps attempts whose browser leaves later.
type CreateStore interface {
	// CreateAttempt stores a widget's attempt, created, and its ticket in one transaction, also in place of one of the
	// same id and token hash that nobody has left with; fault.Conflict when there is another of its id.
	CreateAttempt(ctx context.Context, attempt Attempt, ticket binding.Ticket) error
}

// EndStore keeps attempts that end.
type EndStore interface {
	Attempts
	binding.States

	// TokenVersion reads the version of a connection's token set, also of one that was ended, consistently; 0 when it
	// never had any. The set is not opened.
	TokenVersion(ctx context.Context, tenant org.Tenant, connectionID string) (int64, error)
	// ConcludeAttempt stores a conclusion in one transaction; fault.Conflict when the attempt is not open, or a row that
	// it replaces has changed since it was read.
	ConcludeAttempt(ctx context.Context, c Conclusion) error
}

// Connections reads connections.
type Connections interface {
	// Connection reads a connection, consistently; fault.NotFound.
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// NoConnections is the Connections of functions that begin no reconnect: it knows none.
type NoConnections struct{}

// Connection implements Connections.
func (NoConnections) Connection(context.Context, org.Tenant, string) (connection.Connection, error) {
	return connection.Connection{}, connection.Missing()
}

// Catalog finds institutions.
type Catalog interface {
	// Endpoint reads an endpoint; fault.NotFound.
	Endpoint(ctx context.Context, id string) (catalog.Endpoint, error)
	// Way reads how a brand, under an id that may be asked for, has an endpoint; fault.NotFound.
	Way(ctx context.Context, endpointID, brandID string) (catalog.Way, error)
	// Registration reads how we are registered at an endpoint, for the tenant or for all; fault.NotFound.
	Registration(ctx context.Context, tenant org.Tenant, endpoint catalog.Endpoint) (catalog.Registration, error)
}

// Authority is what discovery says about a portal's authorization server, checked: addresses are absolute, and what is
// not stated is empty.
type Authority struct {
	Issuer                string
	IssRequired           bool // the answer to our redirect URI must carry iss, equal to Issuer (RFC 9207 section 2.4)
	AuthorizationEndpoint string
	TokenEndpoint         string
	KeySet                string // jwks_uri: the keys that sign id_tokens
	// Userinfo tells about the patient whose access token it is shown, Revocation takes tokens back (RFC 7009),
	// Introspection tells when they end (RFC 7662). Each is kept only at the token endpoint's own origin, which knows the
	// tokens already.
	Userinfo      string
	Revocation    string
	Introspection string
	// what to ask for of the patient's data where nothing else says so, space-separated, the most needed first
	Scope  string
	Access string // how scopes say "read and search" there: "read" (version 1) or "rs" (version 2)
	S256   bool   // it says that it checks PKCE's S256 challenges; where it does not, they are sent all the same
	// Methods are those ways of client authentication that the server lists and that we know, and Algorithms those of
	// private_key_jwt. Servers are wrong about them often enough: they are for who registers a client to compare with.
	Methods    []string
	Algorithms []string
	// Substitute says that the configuration was not to be had for a reason that may pass, and the CapabilityStatement,
	// which names less, stands in for it.
	Substitute bool
	// BrandBundle is where the server says that its institutions publish a list of themselves (SMART App Launch 2.2,
	// user_access_brand_bundle). Nothing is fetched from there because a server says so.
	BrandBundle string
}

// Profile holds a platform's requirements for the authorization request.
type Profile struct {
	Aud   string // empty: not sent
	Scope string // what to ask for where the registration does not say
	// Listed says that the types in Scope are from the server's own list, the most needed first. The last ones are
	// dropped if the request would be too long (MaxQuery).
	Listed bool
	Nonce  bool // wanted even where openid is not asked for
	// RawBasic says that client id and secret stand in HTTP Basic as they are, against RFC 6749 section 2.3.1.
	RawBasic bool
	// RepeatScope says that a refresh without scope is refused, against RFC 6749 section 6.
	RepeatScope bool
	// NoChallenge says that the platform refuses a PKCE challenge; then none is sent, and no verifier.
	NoChallenge bool
	// Extra names the fields of the token answer that the platform needs on later calls.
	Extra    []string
	Known    []string // origins of this discovery that the platform's profile knows to be right
	Upstream Upstream
}

// Upstream holds the endpoints that are used with a token after the code exchange.
type Upstream struct {
	Revocation       string // revocation_endpoint (RFC 7009), or empty
	Introspection    string // introspection_endpoint (RFC 7662), or empty
	IntrospectBearer bool   // it is asked with the access token instead of the client's authentication
	// Consent is how long the patient's consent lasts where neither answer nor introspection says; zero for unknown.
	Consent time.Duration
}

// Platforms knows the platforms' profiles, and what an endpoint has of its own. One that is not known gets what SMART
// App Launch 2.2 has for everyone. An error is a defect of the endpoint's overrides.
type Platforms interface {
	Profile(endpoint catalog.Endpoint, authority Authority) (Profile, error)
}

// Authorization holds the parameters of an authorization request (SMART App Launch 2.2, "Request authorization code").
type Authorization struct {
	Endpoint    string
	ClientID    string
	RedirectURI string
	Scope       string
	State       string
	Aud         string // empty: not sent
	Challenge   string // empty: not sent
	Nonce       string // empty: not sent
}

// PortalError is a health system's refusal, as one of the codes that are passed through (docs/openapi.yaml).
type PortalError struct {
	Code string
	// AmbiguousBasic says of an invalid_client that client id and secret are others for a server that reads HTTP Basic in
	// the other way (Profile.RawBasic).
	AmbiguousBasic bool
}

// Error implements error.
func (e *PortalError) Error() string { return "the health system answered " + e.Code }

// Authorizer makes authorization requests (smart.Authorizer).
type Authorizer interface {
	Discover(ctx context.Context, fhirBase string) (Authority, error)
	// AuthorizeURL adds the request to the authorization endpoint.
	AuthorizeURL(request Authorization) (string, error)
	// NewVerifier makes a PKCE verifier and its S256 challenge.
	NewVerifier() (verifier secret.Text, challenge string, err error)
}

// Exchanger exchanges codes (smart.Portal).
type Exchanger interface {
	// Exchange gets tokens for a code, and the patient they are for. A refusal is a *PortalError; fault.Unavailable says
	// that our client could not prove who it is and nothing was sent; anything else is a failure of the exchange, such as
	// an id_token that is forged or does not repeat the nonce. A code works once, so nothing is tried again.
	Exchange(ctx context.Context, grant Grant) (tokens.Set, error)
}

// Grant is a code, and the attempt that it was given for: everything else about it was pinned when that began.
type Grant struct {
	Attempt  Attempt
	Code     secret.Text
	Verifier secret.Text // the attempt's, opened; empty where no challenge was sent
}

// Enqueuer tells the webhook worker about an event.
type Enqueuer interface {
	EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error
}
