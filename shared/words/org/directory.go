package org

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/words/cache"
	"recordbridge/shared/words/fault"
)

// Store reads the rows that the directory needs. Every method returns fault.NotFound for a missing row.
type Store interface {
	// TenantOf resolves the UUID of a public id to its tenant.
	TenantOf(ctx context.Context, credentialID string) (Tenant, error)
	// Credential reads one credential of a tenant with a consistent read.
	Credential(ctx context.Context, tenant Tenant, id string) (Credential, error)
	// Organisation reads the organisation of a tenant.
	Organisation(ctx context.Context, tenant Tenant) (Organisation, error)
}

// cacheFor limits how long a revoked key or credential continues to work.
const cacheFor = 30 * time.Second

// cacheSize limits the memory that a warm function uses.
const cacheSize = 1024

// Directory finds callers by public id. It is safe for concurrent use and caches rows for 30 seconds.
type Directory struct {
	store Store
	known *cache.Cache[string, entry] // by credential id
}

type entry struct {
	credential   Credential
	organisation Organisation
}

// NewDirectory returns a Directory.
func NewDirectory(store Store, now func() time.Time) *Directory {
	return &Directory{store: store, known: cache.New[string, entry](cacheSize, cacheFor, now)}
}

// ByPublicID returns the caller that a public id belongs to. Unknown, revoked and inactive ids all return
// fault.Unauthenticated. A live public id of an organisation without live access returns fault.Forbidden.
func (d *Directory) ByPublicID(ctx context.Context, publicID string) (Caller, error) {
	found, err := d.find(ctx, publicID)
	if err != nil {
		return Caller{}, err
	}
	return found.credential.caller(), nil
}

// Organisation returns the organisation behind a public id, for GET /bridge/org.
func (d *Directory) Organisation(ctx context.Context, publicID string) (Organisation, error) {
	found, err := d.find(ctx, publicID)
	if err != nil {
		return Organisation{}, err
	}
	return found.organisation, nil
}

// find returns the credential of a public id with its organisation. The entry is also set with fault.Forbidden, so that
// an Authenticator can check the key before it reports that the mode is closed.
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
