// Package flow owns one connect attempt: the values pinned when the patient leaves for the portal, the state and
// browser binding that the return must present, single use, and the result. It reaches the portal through an interface
// and depends on neither HTTP nor AWS.
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
	// CallbackPath is the path to which portals return, below the base URL; the part after it names the registration.
	CallbackPath = "/bridge/callback"
	// ConnectPath is the path from which a browser leaves for a portal, below the base URL.
	ConnectPath = "/bridge/connect"
	// PagePath is the path of the page where a patient first picks the institution, below the base URL.
	PagePath = "/widget/connect"
)

// VerifierPurpose is the purpose in the encryption context of sealed PKCE verifiers.
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

// Requester identifies the patient to the organisation and holds the result's destination.
type Requester struct {
	RedirectURI   string // verified as registered when the attempt began; empty for a widget's attempt
	TokenHash     string // SHA-256, hex, of the token with which the widget polls; empty in redirect mode
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

// Renewal names the connection that a patient is reauthorizing. It is zero for a new connection.
type Renewal struct {
	Reconnect string // the connection's id
	WasEnded  string // why it had ended when the attempt began (connection.RefreshState); empty if active
}

// Server holds the portal's URLs, as discovery stated them when the attempt began.
type Server struct {
	FHIRBase              string
	Issuer                string
	IssRequired           bool // the portal promises iss on its return (RFC 9207)
	AuthorizationEndpoint string
	TokenEndpoint         string
	KeySet                string // URL of the keys that sign id_tokens; empty if unknown
	Userinfo              string // empty if there is none
	Upstream              Upstream
}

// Client identifies Recordbridge to the portal.
type Client struct {
	ClientID     string
	ClientAuthID string // of the client authentication; empty for a public client
	Callback     string // the redirect URI sent to the portal, the only one that may receive its response
	RawBasic     bool   // HTTP Basic carries client id and secret unencoded; copied to the token set
}

// Parameters holds the rest of the authorization request and the settings that follow from it.
type Parameters struct {
	Aud         string   // sent as aud; empty: not sent
	Scope       string   // requested
	RepeatScope bool     // every refresh must repeat the scope; copied to the token set
	Extra       []string // fields of the token response that the token set keeps (tokens.Set)
	Nonce       bool     // a nonce is sent
	NoChallenge bool     // no PKCE challenge is sent
}

// Secrets proves that the return belongs to the attempt. It is created when the browser leaves.
type Secrets struct {
	NonceHash string // HashNonce of the nonce that the id_token must repeat; empty if none was sent
	Verifier  []byte // PKCE verifier, sealed
}

// Status is the progress of an attempt.
type Status string

// The statuses. An attempt that is created or open after its lifetime is expired; that is determined on reading and
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

// Conclusion holds everything that the end of an attempt stores, in one transaction.
type Conclusion struct {
	Attempt     Attempt
	Error       string // error code the attempt ended with, empty on success
	Description string // of the error, as the browser shows it
	Cause       string // of the error
	RequestID   string // of the request that ended in the error
	// Connection has no id if the attempt yields no connection. One with a revision is a reconnect: it replaces that
	// revision.
	Connection connection.Connection
	// Tokens has no Sealed if there are none. The tokens of a reconnect replace the preceding version, or are the first if
	// they have version 1. Leftovers of an earlier grant are deleted with the write (refresh.Store, Upstream).
	Tokens tokens.Row
	Events []webhook.Event
}

// Attempts reads attempts.
type Attempts interface {
	// Attempt reads an attempt, consistently; fault.NotFound.
	Attempt(ctx context.Context, tenant org.Tenant, id string) (Attempt, error)
}

// StartStore stores attempts when they begin.
type StartStore interface {
	Attempts
	// BeginAttempt creates the attempt, open, and its state in one transaction.
	BeginAttempt(ctx context.Context, attempt Attempt, state binding.State) error
	// Ticket reads a ticket that has not expired at now, consistently; fault.NotFound.
	Ticket(ctx context.Context, hash string, now time.Time) (binding.Ticket, error)
	// OpenAttempt consumes a ticket, sets its attempt to open with the attempt's Verifier and NonceHash, and creates the
	// state, in one transaction. It returns fault.Conflict if the ticket is gone or the attempt changed since its
	// creation.
	OpenAttempt(ctx context.Context, ticket binding.Ticket, attempt Attempt, state binding.State) error
}

// CreateStore stores attempts whose browser leaves later.
type CreateStore interface {
	// CreateAttempt stores a widget's attempt, with status created, and its ticket in one transaction. It may replace an
	// attempt with the same id and token hash with which no browser has left. It returns fault.Conflict if the id belongs
	// to another attempt.
	CreateAttempt(ctx context.Context, attempt Attempt, ticket binding.Ticket) error
}

// EndStore stores attempts when they end.
type EndStore interface {
	Attempts
	binding.States

	// TokenVersion reads the version of a connection's token set, even of an ended one, consistently; 0 if it never had
	// any. The set is not decrypted.
	TokenVersion(ctx context.Context, tenant org.Tenant, connectionID string) (int64, error)
	// ConcludeAttempt stores a conclusion in one transaction. It returns fault.Conflict if the attempt is not open, or if
	// a row that it replaces changed since it was read.
	ConcludeAttempt(ctx context.Context, c Conclusion) error
}

// Connections reads connections.
type Connections interface {
	// Connection reads a connection, consistently; fault.NotFound.
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// NoConnections implements Connections for functions that begin no reconnect. It contains no connections.
type NoConnections struct{}

// Connection implements Connections.
func (NoConnections) Connection(context.Context, org.Tenant, string) (connection.Connection, error) {
	return connection.Connection{}, connection.Missing()
}

// Catalog finds institutions.
type Catalog interface {
	// Endpoint reads an endpoint; fault.NotFound.
	Endpoint(ctx context.Context, id string) (catalog.Endpoint, error)
	// Way reads how patients of a brand, given by its own or a merged id, reach an endpoint; fault.NotFound.
	Way(ctx context.Context, endpointID, brandID string) (catalog.Way, error)
	// Registration reads our registration at an endpoint, for the tenant or the shared one; fault.NotFound.
	Registration(ctx context.Context, tenant org.Tenant, endpoint catalog.Endpoint) (catalog.Registration, error)
}

// Authority holds the validated discovery results of a portal's authorization server: URLs are absolute, and values not
// stated are empty.
type Authority struct {
	Issuer                string
	IssRequired           bool // responses to our redirect URI must carry iss, equal to Issuer (RFC 9207 section 2.4)
	AuthorizationEndpoint string
	TokenEndpoint         string
	KeySet                string // jwks_uri: the keys that sign id_tokens
	// Userinfo describes the patient of an access token, Revocation revokes tokens (RFC 7009), and Introspection returns
	// their expiry (RFC 7662). Each is kept only if it is at the token endpoint's own origin, which sees the tokens
	// anyway.
	Userinfo      string
	Revocation    string
	Introspection string
	// data scopes to request if nothing else specifies them, space-separated, most needed first
	Scope  string
	Access string // the server's scope suffix for "read and search": "read" (version 1) or "rs" (version 2)
	S256   bool   // the server advertises PKCE S256; challenges are sent either way
	// Methods lists the client authentication methods that both the server advertises and we support, and Algorithms those
	// for private_key_jwt. Servers often state them wrongly, so they only help the operator who registers a client.
	Methods    []string
	Algorithms []string
	// Substitute reports that the configuration was unavailable for a possibly temporary reason, and that the less
	// detailed CapabilityStatement was used instead.
	Substitute bool
	// BrandBundle is the URL at which the server says its institutions publish their list (SMART App Launch 2.2,
	// user_access_brand_bundle). Nothing is fetched from it merely because a server names it.
	BrandBundle string
}

// Profile holds a platform's requirements for the authorization request.
type Profile struct {
	Aud   string // empty: not sent
	Scope string // scopes to request if the registration names none
	// Listed reports that the types in Scope come from the server's own list, most needed first. The last ones are dropped
	// if the request would be too long (MaxQuery).
	Listed bool
	Nonce  bool // required even if openid is not requested
	// RawBasic reports that HTTP Basic carries client id and secret unencoded, contrary to RFC 6749 section 2.3.1.
	RawBasic bool
	// RepeatScope reports that the platform refuses a refresh without scope, contrary to RFC 6749 section 6.
	RepeatScope bool
	// NoChallenge reports that the platform refuses a PKCE challenge; neither challenge nor verifier is then sent.
	NoChallenge bool
	// Extra names the fields of the token response that the platform needs on later calls.
	Extra    []string
	Known    []string // origins in this discovery that the platform's profile confirms
	Upstream Upstream
}

// Upstream holds the endpoints that take a token after the code exchange.
type Upstream struct {
	Revocation       string // revocation_endpoint (RFC 7009), or empty
	Introspection    string // introspection_endpoint (RFC 7662), or empty
	IntrospectBearer bool   // introspection authenticates with the access token, not as the client
	// Consent is the duration of the patient's consent if neither response nor introspection states it; zero for unknown.
	Consent time.Duration
}

// Platforms returns the platforms' profiles with an endpoint's overrides applied. An unknown platform gets the defaults
// of SMART App Launch 2.2. An error means that the endpoint's overrides are invalid.
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

// PortalError is a health system's refusal, as one of the codes that Recordbridge passes through (docs/openapi.yaml).
type PortalError struct {
	Code string
	// AmbiguousBasic reports, for an invalid_client, that client id and secret would differ for a server that decodes HTTP
	// Basic the other way (Profile.RawBasic).
	AmbiguousBasic bool
}

// Error implements error.
func (e *PortalError) Error() string { return "the health system answered " + e.Code }

// Authorizer builds authorization requests (smart.Authorizer).
type Authorizer interface {
	Discover(ctx context.Context, fhirBase string) (Authority, error)
	// AuthorizeURL adds the request to the authorization endpoint.
	AuthorizeURL(request Authorization) (string, error)
	// NewVerifier returns a PKCE verifier and its S256 challenge.
	NewVerifier() (verifier secret.Text, challenge string, err error)
}

// Exchanger exchanges codes (smart.Portal).
type Exchanger interface {
	// Exchange gets tokens for a code, and the patient they are for. A refusal is a *PortalError. fault.Unavailable means
	// that our client could not authenticate and nothing was sent. Any other error is a failed exchange, such as a forged
	// id_token or one that does not repeat the nonce. A code works once, so nothing is retried.
	Exchange(ctx context.Context, grant Grant) (tokens.Set, error)
}

// Grant holds a code and the attempt that it was issued for. Everything else about it was pinned when the attempt
// began.
type Grant struct {
	Attempt  Attempt
	Code     secret.Text
	Verifier secret.Text // the attempt's, decrypted; empty if no challenge was sent
}

// Enqueuer notifies the webhook worker of an event.
type Enqueuer interface {
	EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error
}
