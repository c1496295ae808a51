package org

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/words/cache"
	"recordbridge/shared/words/fault"
)

// Store reads the rows that a Directory needs. Every method returns fault.NotFound if the row does not exist.
type Store interface {
	// TenantOf returns the tenant that owns the credential with this ID. The ID is the UUID contained in a public ID.
	TenantOf(ctx context.Context, credentialID string) (Tenant, error)
	// Credential returns one of a tenant's credentials, using a consistent read.
	Credential(ctx context.Context, tenant Tenant, id string) (Credential, error)
	// Organisation returns a tenant's organisation.
	Organisation(ctx context.Context, tenant Tenant) (Organisation, error)
}

// cacheFor is the maximum time for which a revoked key or credential still works.
const cacheFor = 30 * time.Second

// cacheSize is the maximum number of cached entries, which limits a warm function's memory use.
const cacheSize = 1024

// Directory looks up callers by public ID and caches the rows for 30 seconds. A Directory is safe for concurrent use.
type Directory struct {
	store Store
	known *cache.Cache[string, entry] // entries by credential ID
}

type entry struct {
	credential   Credential
	organisation Organisation
}

// NewDirectory returns a Directory that reads from store.
func NewDirectory(store Store, now func() time.Time) *Directory {
	return &Directory{store: store, known: cache.New[string, entry](cacheSize, cacheFor, now)}
}

// ByPublicID returns the caller with the given public ID. For an unknown, revoked or inactive ID, it returns
// fault.Unauthenticated. If a live public ID belongs to an organisation without live access, the error is
// fault.Forbidden.
func (d *Directory) ByPublicID(ctx context.Context, publicID string) (Caller, error) {
	found, err := d.find(ctx, publicID)
	if err != nil {
		return Caller{}, err
	}
	caller := found.credential.caller()
	caller.Brand = Brand{
		Name: found.organisation.Name, LogoURI: found.organisation.LogoURI, Accent: found.organisation.Accent,
	}
	return caller, nil
}

// Organisation returns a public ID's organisation, for GET /bridge/org.
func (d *Directory) Organisation(ctx context.Context, publicID string) (Organisation, error) {
	found, err := d.find(ctx, publicID)
	if err != nil {
		return Organisation{}, err
	}
	return found.organisation, nil
}

// find returns a public ID's credential and organisation. It returns the entry even with fault.Forbidden, so that an
// Authenticator can check the key before it reports that the organisation has no live access.
func (d *Directory) find(ctx context.Context, publicID string) (entry, error) {
	id, mode, ok := ParsePublicID(publicID)
	if !ok {
		return entry{}, refused(nil)
	}
	found, err := d.load(ctx, id)
	switch {
	case errors.Is(err, fault.NotFound):
		return entry{}, refused(err)
	case err != nil:
		return entry{}, err
	case mode != "" && mode != found.credential.Tenant.Mode,
		!found.credential.RevokedAt.IsZero(),
		found.organisation.Status != Active:
		return entry{}, refused(nil)
	}
	return found, found.organisation.CheckMode(found.credential.Tenant.Mode)
}

func (d *Directory) load(ctx context.Context, id string) (entry, error) {
	return d.known.Load(id, func() (found entry, err error) {
		tenant, err := d.store.TenantOf(ctx, id)
		if err != nil {
			return entry{}, err
		}
		if found.credential, err = d.store.Credential(ctx, tenant, id); err != nil {
			return entry{}, err
		}
		found.organisation, err = d.store.Organisation(ctx, tenant)
		return found, err
	})
}

func (c Credential) caller() Caller {
	return Caller{Tenant: c.Tenant, CredentialID: c.ID, RedirectURIs: c.RedirectURIs, AllowedOrigins: c.AllowedOrigins}
}

func refused(cause error) error {
	return fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient, "The credentials are not valid.").Because(cause)
}
