package operator

import (
	"context"
	"errors"
	"fmt"

	"recordbridge/shared/fault"
	"recordbridge/shared/notice"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
)

const (
	maxRedirectURIs = 25 // docs/deviations.md, Connecting
	maxLiveKeys     = 2  // docs/deviations.md: rotation without downtime
)

// Credentials makes and changes organisations' credentials.
type Credentials struct{ *core }

// CredentialRows keeps credentials.
type CredentialRows interface {
	// CreateCredential stores a credential and makes its public id findable.
	CreateCredential(ctx context.Context, c org.Credential) error
	// SaveCredential stores a changed credential; fault.Conflict when it was changed since it was read.
	SaveCredential(ctx context.Context, c org.Credential) error
	// TenantOf and Credential read; fault.NotFound.
	TenantOf(ctx context.Context, credentialID string) (org.Tenant, error)
	Credential(ctx context.Context, tenant org.Tenant, id string) (org.Credential, error)
}

// Create makes a credential with its first private key, which is returned here and can never be shown
// again, and has its organisation told by e-mail. Errors are fault.Invalid and fault.NotFound.
func (o Credentials) Create(ctx context.Context, tenant org.Tenant, redirects, origins []string) (org.Credential, secret.Text, error) {
	if len(redirects) == 0 || len(redirects) > maxRedirectURIs {
		return org.Credential{}, secret.Text{}, fault.BadRequest("A credential needs 1 to 25 redirect URIs: -redirect.")
	}
	for _, uri := range redirects {
		if err := org.CheckRedirectURI(tenant.Mode, uri); err != nil {
			return org.Credential{}, secret.Text{}, fmt.Errorf("redirect URI %q: %w", uri, err)
		}
	}
	owner, err := o.deps.Store.Organisation(ctx, tenant)
	if err != nil {
		return org.Credential{}, secret.Text{}, fmt.Errorf("read organisation: %w", err)
	}
	key, private, err := o.newKey(tenant.Mode)
	if err != nil {
		return org.Credential{}, secret.Text{}, err
	}
	credential := org.Credential{
		ID: o.deps.NewID(), Tenant: tenant, Keys: []org.Key{key}, RedirectURIs: redirects, AllowedOrigins: origins, CreatedAt: o.deps.Now(),
	}
	if err = o.deps.Store.CreateCredential(ctx, credential); err != nil {
		return org.Credential{}, secret.Text{}, fmt.Errorf("create credential: %w", err)
	}
	err = errors.Join(o.tell(ctx, owner, notice.CredentialCreated(credential)), o.record(ctx, tenant, "credential.created", credential.ID))
	return credential, private, err
}

// AddKey gives a credential a second private key, for a rotation without downtime, and has its organisation told by
// e-mail. With two live keys already it answers fault.Conflict.
func (o Credentials) AddKey(ctx context.Context, publicID string) (secret.Text, error) {
	credential, err := o.credential(ctx, publicID)
	if err != nil {
		return secret.Text{}, err
	}
	live := 0
	for _, key := range credential.Keys {
		if key.RevokedAt.IsZero() {
			live++
		}
	}
	if live >= maxLiveKeys {
		return secret.Text{}, fault.New(fault.Conflict, fault.CodeInvalidRequest, "The credential has two live keys. Revoke one first.")
	}
	owner, err := o.deps.Store.Organisation(ctx, credential.Tenant)
	if err != nil {
		return secret.Text{}, fmt.Errorf("read organisation: %w", err)
	}
	key, private, err := o.newKey(credential.Tenant.Mode)
	if err != nil {
		return secret.Text{}, err
	}
	credential.Keys = append(credential.Keys, key)
	if err = o.deps.Store.SaveCredential(ctx, credential); err != nil {
		return secret.Text{}, fmt.Errorf("save credential: %w", err)
	}
	err = errors.Join(o.tell(ctx, owner, notice.KeyCreated(credential, key)), o.record(ctx, credential.Tenant, "key.created", key.ID))
	return private, err
}

// RevokeKeys revokes the oldest live key of a credential, or all of them. They stop working within 30 seconds.
func (o Credentials) RevokeKeys(ctx context.Context, publicID string, all bool) error {
	credential, err := o.credential(ctx, publicID)
	if err != nil {
		return err
	}
	revoked := 0
	for i := range credential.Keys {
		if credential.Keys[i].RevokedAt.IsZero() && (all || revoked == 0) {
			credential.Keys[i].RevokedAt = o.deps.Now()
			revoked++
		}
	}
	if revoked == 0 {
		return fault.Missing("The credential has no live key, so there is none to revoke.")
	}
	if err := o.deps.Store.SaveCredential(ctx, credential); err != nil {
		return fmt.Errorf("save credential: %w", err)
	}
	return o.record(ctx, credential.Tenant, "key.revoked", credential.ID)
}

func (o Credentials) credential(ctx context.Context, publicID string) (org.Credential, error) {
	id, _, ok := org.ParsePublicID(publicID)
	if !ok {
		return org.Credential{}, fault.BadRequest("A public id looks like public_test_<uuid> or public_live_<uuid>.")
	}
	tenant, err := o.deps.Store.TenantOf(ctx, id)
	if err != nil {
		return org.Credential{}, fmt.Errorf("find public id: %w", err)
	}
	credential, err := o.deps.Store.Credential(ctx, tenant, id)
	if err != nil {
		return org.Credential{}, fmt.Errorf("read credential: %w", err)
	}
	return credential, nil
}

func (o Credentials) newKey(mode org.Mode) (org.Key, secret.Text, error) {
	private, err := org.NewPrivateKey(mode, o.deps.Random)
	if err != nil {
		return org.Key{}, secret.Text{}, fmt.Errorf("make private key: %w", err)
	}
	mark := o.deps.Hashing.Sign([]byte(private.Reveal()))
	return org.Key{ID: o.deps.NewID(), HashVersion: mark.Version, Hash: mark.Sum, CreatedAt: o.deps.Now()}, private, nil
}
