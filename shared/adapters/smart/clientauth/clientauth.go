// Package clientauth authenticates the service's OAuth clients to authorization servers (RFC 6749 section 2.3, SMART
// App Launch 2.2, "Client authentication"). The package adds the client's secret or signed assertion to a request.
// Private keys stay in a vault, and secrets stay encrypted until they are sent. Package smart sends the requests and
// handles grants and responses.
package clientauth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"recordbridge/shared/catalog"
	"recordbridge/shared/words/cache"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret/jws"
)

// Store reads clients' authentication settings.
type Store interface {
	// ClientAuthOf reads the authentication settings of a client that belongs to owner. If owner is the zero tenant,
	// ClientAuthOf reads the shared settings. ClientAuthOf returns fault.NotFound if the owner has no such client.
	ClientAuthOf(ctx context.Context, owner org.Tenant, id string) (catalog.ClientAuth, error)
}

// Opener decrypts client secrets. In production, the Opener is a kms.Sealer with the purpose
// catalog.ClientSecretPurpose. Shared secrets are sealed for the zero tenant.
type Opener interface {
	Open(ctx context.Context, tenant org.Tenant, boundTo string, sealed []byte) ([]byte, error)
}

// Deps holds the dependencies of a Registry.
type Deps struct {
	Store  Store
	Opener Opener
	Keys   *jws.Keyring
	Now    func() time.Time
	NewID  ids.Source // source of jti values for assertions
}

// Registry authenticates the service's OAuth clients. It implements smart.Clients and is safe for concurrent use. A
// Registry caches rows, including encrypted secrets, for a minute.
type Registry struct {
	deps  Deps
	known *cache.Cache[place, entry]
}

const (
	// cacheFor is the cache lifetime of a row. A replaced secret or authentication method may remain in use for up to
	// cacheFor.
	cacheFor = time.Minute
	// cacheSize is the maximum number of cached rows per process.
	cacheSize = 256
)

type place struct {
	tenant org.Tenant
	id     string
}

// entry holds a client's authentication settings. The encrypted secret can be decrypted only for owner.
type entry struct {
	auth  catalog.ClientAuth
	owner org.Tenant
}

// NewRegistry returns a Registry.
func NewRegistry(d Deps) *Registry {
	return &Registry{deps: d, known: cache.New[place, entry](cacheSize, cacheFor, d.Now)}
}

var (
	errUnknown = errors.New("the registration names a client authentication that does not exist")
	errMethod  = errors.New("the method of client authentication is not known")
	errSecret  = errors.New("the client secret is empty")
	errOrigin  = errors.New("is not one of the origins it may be sent to; to list them, run ctl client list")
)

// Authenticate adds the credentials identified by use.AuthID to form and header, authenticating the client as
// use.ClientID. The credentials belong to the tenant or are shared by all tenants. For a public client, Authenticate
// adds only the client ID. Authenticate adds a secret only if the operator has allowed the URL's origin, regardless of
// any discovery, attempt or token set (RFC 9700 section 4.4). An assertion's audience is always the token endpoint (RFC
// 7523 section 3). If Authenticate fails, form and header are unchanged. Errors never contain a secret or an assertion,
// and are never attributed to the request being served.
func (r *Registry) Authenticate(ctx context.Context, tenant org.Tenant, use catalog.ClientUse, form url.Values,
	header http.Header,
) error {
	if use.AuthID == "" {
		form.Set("client_id", use.ClientID) // RFC 6749 section 3.2.1
		return nil
	}
	found, err := r.find(ctx, tenant, use.AuthID)
	if err == nil {
		err = checkDestination(found.auth, use.Address)
	}
	if err != nil {
		return fmt.Errorf("client authentication %s: %w", use.AuthID, err)
	}
	switch found.auth.Method {
	case catalog.AuthSecretBasic, catalog.AuthSecretPost:
		err = r.bySecret(ctx, found, use, form, header)
	case catalog.AuthPrivateKey:
		err = r.byAssertion(ctx, found.auth, use, form)
	default:
		err = errMethod
	}
	if err != nil {
		return fmt.Errorf("client authentication %s: %w", use.AuthID, err)
	}
	return nil
}

// checkDestination rejects a URL that must not receive the client's credentials. A secret is never sent if its allowed
// origins are empty. An assertion is valid only for its audience, so it may be sent to any URL unless allowed origins
// are set.
func checkDestination(auth catalog.ClientAuth, address string) error {
	origin := catalog.Origin(address)
	if origin != "" && slices.Contains(auth.Origins, origin) || auth.Method == catalog.AuthPrivateKey &&
		len(auth.Origins) == 0 {
		return nil
	}
	return fmt.Errorf("%q %w", origin, errOrigin)
}

func (r *Registry) bySecret(ctx context.Context, found entry, use catalog.ClientUse, form url.Values,
	header http.Header,
) error {
	secret, err := r.deps.Opener.Open(ctx, found.owner, found.auth.SecretBinding(), found.auth.Secret)
	if err != nil {
		return fmt.Errorf("client secret: %w", err)
	}
	if len(secret) == 0 {
		return errSecret
	}
	if found.auth.Method == catalog.AuthSecretPost {
		form.Set("client_id", use.ClientID)
		form.Set("client_secret", string(secret))
		return nil
	}
	// The client ID and the secret are form-encoded (RFC 6749 section 2.3.1, appendix B), so that a colon in the ID is
	// not mistaken for the separator. Servers known not to form-decode credentials receive both values unencoded. The
	// form omits the client ID, because some servers would treat it as a second authentication method.
	form.Del("client_id")
	pair := url.QueryEscape(use.ClientID) + ":" + url.QueryEscape(string(secret))
	if use.RawBasic {
		pair = use.ClientID + ":" + string(secret)
	}
	header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
	return nil
}

func (r *Registry) byAssertion(ctx context.Context, auth catalog.ClientAuth, use catalog.ClientUse,
	form url.Values,
) error {
	now := r.deps.Now()
	assertion, err := sign(ctx, r.deps.Keys, auth.Algorithm, auth.KeyID, claims{
		Issuer: use.ClientID, Subject: use.ClientID, Audience: use.TokenEndpoint, ID: r.deps.NewID(),
		IssuedAt: now.Unix(), Expires: now.Add(assertionLife).Unix(),
	})
	if err != nil {
		return err
	}
	// client_id is redundant in a request with an assertion, but it is allowed (RFC 7521 section 4.2). Some servers
	// require client_id: Spring Authorization Server uses it to look up the client.
	form.Set("client_id", use.ClientID)
	form.Set("client_assertion_type", assertionType)
	form.Set("client_assertion", assertion)
	return nil
}

// find returns a client's authentication settings, which may have been cached up to a minute ago. The tenant's own
// settings take precedence over shared settings.
func (r *Registry) find(ctx context.Context, tenant org.Tenant, id string) (entry, error) {
	return r.known.Load(place{tenant: tenant, id: id}, func() (entry, error) {
		found := entry{owner: tenant}
		var err error
		found.auth, err = r.deps.Store.ClientAuthOf(ctx, tenant, id)
		if errors.Is(err, fault.NotFound) {
			found.owner = org.Tenant{}
			found.auth, err = r.deps.Store.ClientAuthOf(ctx, found.owner, id)
		}
		if errors.Is(err, fault.NotFound) {
			return entry{}, errUnknown // replaces NotFound, because the resource that the caller requested exists
		}
		return found, err
	})
}
