// Package clientauth proves to authorization servers who our client is (RFC 6749 section 2.3, SMART App Launch 2.2,
// "Client authentication"): it adds the secret or the signed assertion to a request, and it owns the set of public keys
// that servers check assertions with. Private keys stay in a vault, secrets stay sealed until they are sent. It sends
// nothing and knows neither grants nor answers; those are package smart's.
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
)

// Store reads how clients authenticate.
type Store interface {
	// ClientAuthOf reads a client's authentication of exactly this owner, with a zero tenant that of everybody;
	// fault.NotFound.
	ClientAuthOf(ctx context.Context, owner org.Tenant, id string) (catalog.ClientAuth, error)
}

// Opener opens client secrets: a kms.Sealer of catalog.ClientSecretPurpose. What is everybody's is sealed for the zero
// tenant.
type Opener interface {
	Open(ctx context.Context, tenant org.Tenant, boundTo string, sealed []byte) ([]byte, error)
}

// Deps are what a Registry works with.
type Deps struct {
	Store  Store
	Opener Opener
	Keys   *Keyring
	Now    func() time.Time
	NewID  ids.Source // of the jti of assertions
}

// Registry authenticates our clients. It implements smart.Clients, is safe for concurrent use, and keeps what it read
// for a minute, secrets as they are sealed.
type Registry struct {
	deps  Deps
	known *cache.Cache[place, entry]
}

const (
	// cacheFor bounds how long a secret or a method that was replaced goes on being used.
	cacheFor = time.Minute
	// cacheSize bounds the memory of a warm function.
	cacheSize = 256
)

type place struct {
	tenant org.Tenant
	id     string
}

// entry is a client's authentication and whose it is: its secret opens for that owner only.
type entry struct {
	auth  catalog.ClientAuth
	owner org.Tenant
}

// NewRegistry makes a Registry.
func NewRegistry(d Deps) *Registry {
	return &Registry{deps: d, known: cache.New[place, entry](cacheSize, cacheFor, d.Now)}
}

var (
	errUnknown = errors.New("the registration names a client authentication that does not exist")
	errMethod  = errors.New("the method of client authentication is not known")
	errSecret  = errors.New("the client secret is empty")
	errOrigin  = errors.New("is not one of the origins it may be sent to; to list them, run ctl client origins")
)

// Authenticate adds to form and header what proves that use.ClientID is the client of use.AuthID, the tenant's own or
// everybody's; a public client is only named. It is the last to decide whether a secret goes out: to no address but one
// at an origin that the operator has allowed, whatever a discovery, an attempt or a token set says (RFC 9700 section
// 4.4). Assertions are for the token endpoint (RFC 7523 section 3). Errors show no secret and no assertion, form and
// header are unchanged then, and none is a fault of the request that is served.
func (r *Registry) Authenticate(ctx context.Context, tenant org.Tenant, use catalog.ClientUse, form url.Values,
	header http.Header,
) error {
	if use.AuthID == "" {
		form.Set("client_id", use.ClientID) // RFC 6749 section 3.2.1
		return nil
	}
	found, err := r.find(ctx, tenant, use.AuthID)
	if err == nil {
		err = mayBeShown(found.auth, use.Address)
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

// mayBeShown refuses an address that what proves the client must not reach. A secret without origins reaches none; an
// assertion is of use at its audience alone, and is held back only where origins are given.
func mayBeShown(auth catalog.ClientAuth, address string) error {
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
	// Both are form-encoded first (RFC 6749 section 2.3.1, appendix B), so a colon in the id does not end it, but for
	// servers that are known not to decode them. The id is not said again in the form: some servers take that for a
	// second way of authenticating.
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
	assertion, err := r.deps.Keys.sign(ctx, auth.Algorithm, auth.KeyID, claims{
		Issuer: use.ClientID, Subject: use.ClientID, Audience: use.TokenEndpoint, ID: r.deps.NewID(),
		IssuedAt: now.Unix(), Expires: now.Add(assertionLife).Unix(),
	})
	if err != nil {
		return err
	}
	// client_id is redundant beside an assertion, but allowed (RFC 7521 section 4.2), and some servers need it: Spring
	// Authorization Server finds the client by it.
	form.Set("client_id", use.ClientID)
	form.Set("client_assertion_type", assertionType)
	form.Set("client_assertion", assertion)
	return nil
}

// find reads a client's authentication, unless it did within the last minute: the tenant's own wins over everybody's.
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
			return entry{}, errUnknown // not the store's error: nothing that the caller asked for is missing
		}
		return found, err
	})
}
