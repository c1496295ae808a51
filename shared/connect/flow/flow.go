// Package flow runs connect attempts. When a patient is redirected to the portal, the package pins the attempt's
// values; when the patient returns, it checks the browser's state and cookie. It ensures that each attempt can be
// completed only once, and stores the outcome. It accesses the portal through an interface and doesn't depend on HTTP
// or AWS.
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
	// CallbackPath is the path, below the base URL, to which portals redirect patients. The rest of a callback URL's
	// path identifies the registration.
	CallbackPath = "/bridge/callback"
	// ConnectPath is the path, below the base URL, that redirects a browser to a portal.
	ConnectPath = "/bridge/connect"
	// PagePath is the path, below the base URL, of the page on which a patient selects the institution.
	PagePath = "/widget/connect"
)

// VerifierPurpose is the encryption context's purpose for sealed PKCE verifiers.
const VerifierPurpose = "pkce-verifier"

// Attempt is a patient's sign-in at a portal. It pins every value that is needed when the browser returns, so the
// browser's parameters can't choose where a code or token is sent (RFC 9700 section 4.4).
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
	Look      binding.Look // appearance of the windows; zero in redirect mode
	RequestID string
	CreatedAt time.Time
	ExpiresAt time.Time
	Ending    Ending // outcome; zero until the attempt succeeds or fails
}

// Requester identifies the patient to the organisation and specifies where to send the result.
type Requester struct {
	RedirectURI   string // redirect URI that was registered when the attempt began; empty for a widget's attempt
	TokenHash     string // hex SHA-256 of the token with which the widget polls; empty in redirect mode
	ExternalID    string
	ExternalState string
}

// Institution identifies the attempt's institution in the catalogue.
type Institution struct {
	EndpointID   string
	BrandID      string
	PortalID     string
	PlatformType string
}

// Renewal identifies the connection that a patient is reauthorizing. The zero Renewal means a new connection.
type Renewal struct {
	Reconnect string // ID of the connection
	WasEnded  string // value of RefreshState.Ended when the attempt began; empty if the connection was active
}

// Server holds the portal's URLs, as discovered when the attempt began.
type Server struct {
	FHIRBase              string
	Issuer                string
	IssRequired           bool // whether the portal advertises that its responses include iss (RFC 9207)
	AuthorizationEndpoint string
	TokenEndpoint         string
	KeySet                string // URL of the keys that sign id_tokens; empty if unknown
	Userinfo              string // URL of the userinfo endpoint; empty if the portal doesn't have one
	Upstream              Upstream
}

// Client identifies Recordbridge to the portal.
type Client struct {
	ClientID     string
	ClientAuthID string // ID of the client authentication; empty for a public client
	Callback     string // redirect URI that was sent to the portal
	RawBasic     bool   // whether HTTP Basic sends the client ID and secret unencoded; copied to the token set
}

// Parameters holds the remaining authorization request parameters and related settings.
type Parameters struct {
	Aud         string   // aud parameter; not sent if empty
	Scope       string   // requested scopes
	RepeatScope bool     // whether every refresh must repeat the scope; copied to the token set
	Extra       []string // token response fields that the token set retains (tokens.Set)
	Nonce       bool     // whether the request includes a nonce
	NoChallenge bool     // whether the request omits the PKCE challenge
}

// Secrets holds the values that prove that a returning browser belongs to the attempt. The values are created when the
// browser is redirected to the portal.
type Secrets struct {
	NonceHash string // HashNonce of the nonce expected in the id_token; empty if no nonce was sent
	Verifier  []byte // sealed PKCE verifier
}

// Status is an attempt's status.
type Status string

// Attempt statuses. An attempt has expired if its status is still created or open at the end of its lifetime. Readers
// detect expiry themselves; the store never records it.
const (
	Created Status = "created" // created by a widget; the browser has not been redirected yet
	Open    Status = "open"    // the browser is at the portal
	Done    Status = "done"
	Failed  Status = "failed"
	Expired Status = "expired"
)

// Ending holds an attempt's outcome: either a connection or an error with its cause (see causes.go).
type Ending struct {
	ConnectionID     string
	ConnectionStatus connection.Status
	Scope            string    // granted scopes
	ConsentExpiresAt time.Time // end of consent; zero if unknown
	Initials         string    // patient's initials for the widget, for example "A. S."; empty if unknown

	Error       string
	Description string
	Cause       string
	RequestID   string // ID of the request that failed the attempt
}

// Conclusion holds all data stored in a single transaction when an attempt ends.
type Conclusion struct {
	Attempt     Attempt
	Error       string // error code of the attempt's failure; empty on success
	Description string // error description, as shown in the browser
	Cause       string // failure cause (see causes.go)
	RequestID   string // ID of the request that failed the attempt
	Initials    string // patient's initials; empty if the portal did not provide a name, or in redirect mode
	// Connection.ID is empty if the attempt yields no connection. A Connection with a revision is a reconnect and
	// replaces the stored connection with that revision.
	Connection connection.Connection
	// Tokens.Sealed is empty if the conclusion includes no tokens. On a reconnect, the tokens replace the preceding
	// version. If their version is 1, they are the connection's first tokens. The write also deletes any remaining data
	// from an earlier grant (refresh.Store, Upstream).
	Tokens tokens.Row
	Events []webhook.Event
}

// Attempts reads attempts from the store.
type Attempts interface {
	// Attempt reads an attempt with a consistent read. It returns fault.NotFound if the attempt does not exist.
	Attempt(ctx context.Context, tenant org.Tenant, id string) (Attempt, error)
}

// StartStore stores attempts when they begin.
type StartStore interface {
	Attempts
	// BeginAttempt creates an attempt with status open and the attempt's state in a single transaction.
	BeginAttempt(ctx context.Context, attempt Attempt, state binding.State) error
	// Ticket returns an unexpired ticket, using a consistent read. It returns fault.NotFound if the ticket does not
	// exist or has expired at now.
	Ticket(ctx context.Context, hash string, now time.Time) (binding.Ticket, error)
	// OpenAttempt consumes a ticket, opens its attempt with the given Verifier and NonceHash, and creates the state,
	// all in one transaction. It returns fault.Conflict if the ticket no longer exists or the attempt has changed since
	// its creation.
	OpenAttempt(ctx context.Context, ticket binding.Ticket, attempt Attempt, state binding.State) error
}

// CreateStore stores attempts before the patients' browsers are redirected.
type CreateStore interface {
	// CreateAttempt stores a widget's attempt, with status created, and its ticket in a single transaction.
	// CreateAttempt may replace an attempt with the same ID and token hash if that attempt's browser has not been
	// redirected yet. It returns fault.Conflict if the ID belongs to another attempt.
	CreateAttempt(ctx context.Context, attempt Attempt, ticket binding.Ticket) error
}

// EndStore stores attempts when they end.
type EndStore interface {
	Attempts
	binding.States

	// TokenVersion returns the version of a connection's token set, using a consistent read, even if the connection has
	// ended. It returns 0 if the connection has never had any tokens. TokenVersion does not decrypt the token set.
	TokenVersion(ctx context.Context, tenant org.Tenant, connectionID string) (int64, error)
	// ConcludeAttempt stores a conclusion in a single transaction. It returns fault.Conflict if the attempt is not open
	// or a row to be replaced has changed since it was read.
	ConcludeAttempt(ctx context.Context, c Conclusion) error
}

// Connections reads connections from the store.
type Connections interface {
	// Connection reads a connection with a consistent read. It returns fault.NotFound if the connection does not exist.
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// NoConnections is an empty Connections for functions that never begin a reconnect.
type NoConnections struct{}

// Connection implements Connections.
func (NoConnections) Connection(context.Context, org.Tenant, string) (connection.Connection, error) {
	return connection.Connection{}, connection.Missing()
}

// Catalog looks up institutions.
type Catalog interface {
	// Endpoint reads an endpoint. It returns fault.NotFound if the endpoint does not exist.
	Endpoint(ctx context.Context, id string) (catalog.Endpoint, error)
	// Way returns the portals through which a brand's patients reach an endpoint. brandID is the brand's current ID or
	// an ID that was merged into it. It returns fault.NotFound if there is no such Way.
	Way(ctx context.Context, endpointID, brandID string) (catalog.Way, error)
	// Registration returns Recordbridge's registration at an endpoint: either the tenant's own or the shared one. It
	// returns fault.NotFound if there is no registration.
	Registration(ctx context.Context, tenant org.Tenant, endpoint catalog.Endpoint) (catalog.Registration, error)
}

// Authority holds the validated results of discovering a portal's authorization server. URLs are absolute. A field is
// empty if the server does not advertise its value.
type Authority struct {
	Issuer                string
	IssRequired           bool // whether responses must contain iss, equal to Issuer (RFC 9207 section 2.4)
	AuthorizationEndpoint string
	TokenEndpoint         string
	KeySet                string // jwks_uri, the URL of the keys that sign id_tokens
	// Userinfo describes the access token's patient. Revocation revokes tokens (RFC 7009). Introspection returns a
	// token's expiry (RFC 7662). A URL is retained only if it has the same origin as the token endpoint, which receives
	// the tokens in any case.
	Userinfo      string
	Revocation    string
	Introspection string
	// data scopes to request if no other setting specifies any, separated by spaces, most needed first
	Scope  string
	Access string // scope suffix for read and search: "read" (version 1) or "rs" (version 2)
	S256   bool   // whether the server advertises PKCE S256; challenges are sent regardless
	// Methods lists the client authentication methods that the server advertises and Recordbridge supports. Algorithms
	// lists the signing algorithms for private_key_jwt. Servers often advertise incorrect authentication methods and
	// algorithms, so these lists serve only to help the operator who registers a client.
	Methods    []string
	Algorithms []string
	// Substitute reports whether the less detailed CapabilityStatement was used because the SMART configuration was
	// unavailable, perhaps only temporarily.
	Substitute bool
	// BrandBundle is the advertised URL of the list of the server's institutions (SMART App Launch 2.2,
	// user_access_brand_bundle). The service doesn't fetch the URL merely because a server advertises it.
	BrandBundle string
}

// Profile holds a platform's requirements for the authorization request.
type Profile struct {
	Aud   string // aud parameter; not sent if empty
	Scope string // scopes to request if the registration doesn't specify any
	// Listed reports whether the types in Scope come from the server's own list. They are ordered by need, with the
	// most needed first. If the request would be too long (MaxQuery), the last types are dropped.
	Listed bool
	Nonce  bool // whether a nonce is required even if openid is not requested
	// RawBasic reports whether HTTP Basic sends the client ID and secret unencoded, contrary to RFC 6749 section 2.3.1.
	RawBasic bool
	// RepeatScope reports whether the platform rejects a refresh without scope, contrary to RFC 6749 section 6.
	RepeatScope bool
	// NoChallenge reports whether the platform rejects a PKCE challenge. If NoChallenge is true, requests contain
	// neither a challenge nor a verifier.
	NoChallenge bool
	// Extra lists the token response fields that later calls to the platform need.
	Extra    []string
	Known    []string // origins in this discovery that the platform's profile confirms
	Upstream Upstream
}

// Upstream holds the endpoints to which tokens are sent after the code exchange.
type Upstream struct {
	Revocation       string // revocation_endpoint (RFC 7009); empty if not stated
	Introspection    string // introspection_endpoint (RFC 7662); empty if not stated
	IntrospectBearer bool   // whether introspection authenticates with the access token, not the client's credentials
	// Consent is the assumed duration of the patient's consent if neither the token response nor introspection states
	// one. Zero means unknown.
	Consent time.Duration
}

// Platforms returns the platforms' profiles with an endpoint's overrides applied. An unknown platform uses the defaults
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
	Aud         string // aud parameter; not sent if empty
	Challenge   string // PKCE challenge; not sent if empty
	Nonce       string // nonce; not sent if empty
}

// PortalError is a health system's refusal, with one of the error codes that Recordbridge forwards (docs/openapi.yaml).
type PortalError struct {
	Code string
	// AmbiguousBasic reports, for an invalid_client error, whether a server that decodes HTTP Basic the other way
	// (Profile.RawBasic) would read a different client ID or secret.
	AmbiguousBasic bool
}

// Error implements error.
func (e *PortalError) Error() string { return "the health system answered " + e.Code }

// Authorizer builds authorization requests (smart.Authorizer).
type Authorizer interface {
	Discover(ctx context.Context, fhirBase string) (Authority, error)
	// AuthorizeURL returns the authorization endpoint's URL with the request's parameters added.
	AuthorizeURL(request Authorization) (string, error)
	// NewVerifier returns a PKCE verifier and its S256 challenge.
	NewVerifier() (verifier secret.Text, challenge string, err error)
}

// Exchanger exchanges authorization codes for tokens (smart.Portal).
type Exchanger interface {
	// Exchange exchanges a code for tokens that identify the patient. A refusal is a *PortalError. fault.Unavailable
	// means that Recordbridge's client could not authenticate and that no request was sent. Any other error means that
	// the exchange failed, for example because an id_token was forged or did not repeat the nonce. Exchange never
	// retries, because a code can be used only once.
	Exchange(ctx context.Context, grant Grant) (tokens.Set, error)
	// Initials returns the patient's initials, for example "A. S.", from the Patient resource that the tokens can read.
	// It returns "" if the granted scopes don't include the resource, the request fails or the resource has no usable
	// name.
	Initials(ctx context.Context, set tokens.Set) string
}

// Grant holds an authorization code and the attempt for which the portal issued it. All other values for the exchange
// were pinned when the attempt began.
type Grant struct {
	Attempt  Attempt
	Code     secret.Text
	Verifier secret.Text // the attempt's PKCE verifier, decrypted; empty if no challenge was sent
}

// Enqueuer queues events for the webhook worker.
type Enqueuer interface {
	EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error
}
