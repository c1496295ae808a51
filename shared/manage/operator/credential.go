package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/weburl"
)

const (
	maxRedirectURIs = 25 // limit from docs/reference/deviations.md, section Connecting
	maxLiveKeys     = 2  // limit from docs/reference/deviations.md, for rotation without downtime
)

// Credentials creates and changes the credentials of organisations.
type Credentials struct {
	rows    CredentialRows
	notices Notices
	hashing secret.Keyring
	own     weburl.Own
	random  io.Reader
	by      Journal
	within  org.Tenant // tenant whose credentials are visible; zero for all tenants
}

// NewCredentials returns a Credentials that generates private keys from random and hashes them with hashing. It rejects
// URLs that point to the service itself, as determined by own.
func NewCredentials(
	rows CredentialRows, notices Notices, hashing secret.Keyring, own weburl.Own, random io.Reader, by Journal,
) Credentials {
	return Credentials{
		rows: rows, notices: notices, hashing: hashing, own: own, random: random, by: by, within: org.Tenant{},
	}
}

// As returns a copy of o that records actor in audit rows.
func (o Credentials) As(actor string) Credentials {
	o.by = o.by.As(actor)
	return o
}

// Within returns a copy of o that is limited to the credentials of a single tenant.
func (o Credentials) Within(tenant org.Tenant) Credentials {
	o.within = tenant
	return o
}

// CredentialRows stores the credentials of organisations.
type CredentialRows interface {
	OrganisationReader
	// CreateCredential stores a credential so that its public ID can be resolved.
	CreateCredential(ctx context.Context, c org.Credential) error
	// SaveCredential stores a changed credential. It returns fault.Conflict if the credential has changed since it was
	// read.
	SaveCredential(ctx context.Context, c org.Credential) error
	// TenantOf returns the tenant that owns a credential. Credential reads a credential. Both methods return
	// fault.NotFound if the credential does not exist.
	TenantOf(ctx context.Context, credentialID string) (org.Tenant, error)
	Credential(ctx context.Context, tenant org.Tenant, id string) (org.Credential, error)
	// Credentials returns a tenant's credentials.
	Credentials(ctx context.Context, tenant org.Tenant) ([]org.Credential, error)
	// KeyUses maps the ID of each of a tenant's keys to the hour in which the key was last used.
	KeyUses(ctx context.Context, tenant org.Tenant) (map[string]time.Time, error)
	// RemoveCredential removes a credential and its public ID. It returns fault.Conflict if the credential has changed
	// since it was read.
	RemoveCredential(ctx context.Context, c org.Credential) error
}

// CredentialDraft describes a new credential.
type CredentialDraft struct {
	Tenant    org.Tenant
	Note      string
	Redirects []string
	Origins   []string
}

// Create creates a credential with its first private key and notifies the organisation by email. No other call returns
// the key. The error is fault.Invalid, fault.NotFound, or fault.Forbidden for a live credential without live access.
func (o Credentials) Create(ctx context.Context, d CredentialDraft) (org.Credential, secret.Text, error) {
	redirects, wrongRedirect := o.checkedRedirects(d.Tenant.Mode, d.Redirects, "redirect")
	origins, wrongOrigin := o.checkedOrigins(d.Origins, "origin")
	if err := errors.Join(checkNote(d.Note), wrongRedirect, wrongOrigin); err != nil {
		return org.Credential{}, secret.Text{}, err
	}
	credential := org.Credential{
		ID: o.by.newID(), Tenant: d.Tenant, Note: d.Note, RedirectURIs: redirects, AllowedOrigins: origins,
		CreatedAt: o.by.now(),
	}
	owner, err := findOrganisation(ctx, o.rows, d.Tenant)
	if err == nil {
		err = owner.CheckMode(d.Tenant.Mode)
	}
	if err != nil {
		return org.Credential{}, secret.Text{}, err
	}
	key, private, err := o.newKey(d.Tenant.Mode)
	if err != nil {
		return org.Credential{}, secret.Text{}, err
	}
	credential.Keys = []org.Key{key}
	if err = o.rows.CreateCredential(ctx, credential); err != nil {
		return org.Credential{}, secret.Text{}, fmt.Errorf("create credential: %w", err)
	}
	err = errors.Join(
		notify(ctx, o.notices, owner, notice.CredentialCreated(credential)),
		o.by.record(ctx, d.Tenant, "credential.created", credential.ID,
			credentialChanges(org.Credential{}, credential)...),
	)
	return credential, private, err
}

// List returns a tenant's credentials. It returns fault.NotFound if the tenant does not exist.
func (o Credentials) List(ctx context.Context, tenant org.Tenant) ([]org.Credential, error) {
	if err := checkOwner(ctx, o.rows, tenant); err != nil {
		return nil, err
	}
	all, err := o.rows.Credentials(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("list credentials: %w", err)
	}
	return all, nil
}

// Uses maps the ID of each of a tenant's keys to the hour in which the key was last used. It omits unused keys.
func (o Credentials) Uses(ctx context.Context, tenant org.Tenant) (map[string]time.Time, error) {
	uses, err := o.rows.KeyUses(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("read uses of keys: %w", err)
	}
	return uses, nil
}

// Show returns a credential. The error is fault.Invalid or fault.NotFound.
func (o Credentials) Show(ctx context.Context, publicID string) (org.Credential, error) {
	return o.credential(ctx, publicID)
}

// AddKey adds a second private key to a credential, for rotation without downtime, and notifies the organisation by
// email. It returns fault.Conflict if the credential already has two live keys. It returns fault.Forbidden in live mode
// without live access.
func (o Credentials) AddKey(ctx context.Context, publicID string) (org.Key, secret.Text, error) {
	credential, err := o.credential(ctx, publicID)
	if err != nil {
		return org.Key{}, secret.Text{}, err
	}
	if liveKeys(credential) >= maxLiveKeys {
		return org.Key{}, secret.Text{}, refused("The credential already has two live keys. Revoke one first.")
	}
	owner, err := findOrganisation(ctx, o.rows, credential.Tenant)
	if err == nil {
		err = owner.CheckMode(credential.Tenant.Mode)
	}
	if err != nil {
		return org.Key{}, secret.Text{}, err
	}
	key, private, err := o.newKey(credential.Tenant.Mode)
	if err != nil {
		return org.Key{}, secret.Text{}, err
	}
	credential.Keys = append(credential.Keys, key)
	if err = o.rows.SaveCredential(ctx, credential); err != nil {
		return org.Key{}, secret.Text{}, changed("credential", err)
	}
	err = errors.Join(
		notify(ctx, o.notices, owner, notice.KeyCreated(credential, key)),
		o.by.record(ctx, credential.Tenant, "key.created", key.ID),
	)
	return key, private, err
}

// Revocation selects keys of a credential to revoke.
type Revocation struct {
	KeyID     string // key to revoke; if empty, all live keys
	AllowNone bool   // revoke the keys even if the credential has no live key afterwards
}

// Revoke revokes a credential's keys. Revoked keys stop working within 30 seconds. Revoke returns the credential and
// the keys that it revoked. If all selected keys are already revoked, Revoke changes nothing. Revoke returns
// fault.NotFound for an unknown key. It returns fault.Conflict if no live key would remain, unless r allows that.
func (o Credentials) Revoke(ctx context.Context, publicID string, r Revocation) (org.Credential, []org.Key, error) {
	credential, chosen, err := o.Revocable(ctx, publicID, r)
	if err != nil || len(chosen) == 0 {
		return credential, nil, err
	}
	credential.Keys = slices.Clone(credential.Keys)
	var gone []org.Key
	for i, key := range credential.Keys {
		if slices.ContainsFunc(chosen, func(k org.Key) bool { return k.ID == key.ID }) {
			credential.Keys[i].RevokedAt = o.by.now()
			gone = append(gone, credential.Keys[i])
		}
	}
	if err := o.rows.SaveCredential(ctx, credential); err != nil {
		return org.Credential{}, nil, changed("credential", err)
	}
	return credential, gone, o.by.record(ctx, credential.Tenant, "key.revoked", credential.ID)
}

// Revocable returns a credential and the keys that Revoke would revoke. It returns the same errors as Revoke.
func (o Credentials) Revocable(ctx context.Context, publicID string, r Revocation) (org.Credential, []org.Key, error) {
	credential, err := o.credential(ctx, publicID)
	if err != nil {
		return org.Credential{}, nil, err
	}
	var chosen []org.Key
	isKnown := r.KeyID == ""
	for _, key := range credential.Keys {
		isChosen := r.KeyID == "" || key.ID == r.KeyID
		isKnown = isKnown || isChosen
		if isChosen && key.RevokedAt.IsZero() {
			chosen = append(chosen, key)
		}
	}
	switch {
	case !isKnown:
		return org.Credential{}, nil, fault.Missing("The credential has no such key.").About("key")
	case len(chosen) > 0 && len(chosen) == liveKeys(credential) && !r.AllowNone:
		return org.Credential{}, nil, refused("No live key would remain, so all API requests with this credential would " +
			"fail. Create a key first (credential add-key), or pass -allow-none.")
	}
	return credential, chosen, nil
}

// RevokeKey revokes a live key of a credential. The key stops working within 30 seconds. The error is fault.NotFound or
// fault.Conflict.
func (o Credentials) RevokeKey(ctx context.Context, publicID, keyID string) error {
	const none = "The credential has no such live key."
	return o.revoke(ctx, publicID, none, func(k org.Key) bool { return k.ID == keyID })
}

// Change adds and removes a credential's URLs. A removed URL stops working within 30 seconds, except for sign-ins that
// have already begun. The error is fault.Invalid, fault.NotFound, or fault.Conflict if the version doesn't match.
func (o Credentials) Change(ctx context.Context, publicID string, change CredentialChange) (org.Credential, error) {
	var found, saved org.Credential
	err := retry.OnConflict(ctx, retry.Tries, func() (err error) {
		if found, err = o.credential(ctx, publicID); err != nil {
			return err
		}
		if err = change.From.Check("credential", found.Version()); err != nil {
			return err
		}
		if saved, err = o.changedCredential(found, change); err != nil {
			return err
		}
		if err = o.rows.SaveCredential(ctx, saved); err != nil {
			return changed("credential", err)
		}
		return nil
	})
	if err != nil {
		return org.Credential{}, err
	}
	return saved, o.by.record(ctx, saved.Tenant, "credential.changed", saved.ID, credentialChanges(found, saved)...)
}

// Remove removes a credential that has no live keys, along with its public ID. The public ID stops working in browsers
// within 30 seconds, except for sign-ins that have already begun. The error is fault.Invalid, fault.NotFound or
// fault.Conflict.
func (o Credentials) Remove(ctx context.Context, publicID string) error {
	found, err := o.credential(ctx, publicID)
	if err != nil {
		return err
	}
	if liveKeys(found) > 0 {
		return refused("The credential still has a live key. Revoke all its keys first.")
	}
	if err := o.rows.RemoveCredential(ctx, found); err != nil {
		return changed("credential", err)
	}
	return o.by.record(ctx, found.Tenant, "credential.removed", found.ID, credentialChanges(found, org.Credential{})...)
}

// revoke revokes the live keys for which isChosen returns true.
func (o Credentials) revoke(ctx context.Context, publicID, none string, isChosen func(org.Key) bool) error {
	credential, err := o.credential(ctx, publicID)
	if err != nil {
		return err
	}
	revoked := 0
	for i, key := range credential.Keys {
		if key.RevokedAt.IsZero() && isChosen(key) {
			credential.Keys[i].RevokedAt = o.by.now()
			revoked++
		}
	}
	if revoked == 0 {
		return fault.Missing(none).About("key")
	}
	if err := o.rows.SaveCredential(ctx, credential); err != nil {
		return changed("credential", err)
	}
	return o.by.record(ctx, credential.Tenant, "key.revoked", credential.ID)
}

func (o Credentials) credential(ctx context.Context, publicID string) (org.Credential, error) {
	id, mode, ok := org.ParsePublicID(publicID)
	if !ok {
		return org.Credential{}, fault.BadRequest(
			"A public id looks like public_test_<uuid> or public_live_<uuid>.").About("public-id")
	}
	tenant, err := o.rows.TenantOf(ctx, id)
	var found org.Credential
	if err == nil {
		found, err = o.rows.Credential(ctx, tenant, id)
	}
	isOthers := o.within != (org.Tenant{}) && o.within != tenant
	if errors.Is(err, fault.NotFound) || err == nil && (isOthers || mode != "" && mode != tenant.Mode) {
		return org.Credential{}, fault.Missing("Unknown public ID.").About("public-id")
	}
	if err != nil {
		return org.Credential{}, fmt.Errorf("read credential: %w", err)
	}
	return found, nil
}

func (o Credentials) newKey(mode org.Mode) (org.Key, secret.Text, error) {
	private, err := org.NewPrivateKey(mode, o.random)
	if err != nil {
		return org.Key{}, secret.Text{}, fmt.Errorf("make private key: %w", err)
	}
	mark := o.hashing.Sign([]byte(private.Reveal()))
	return org.Key{ID: o.by.newID(), HashVersion: mark.Version, Hash: mark.Sum, CreatedAt: o.by.now()}, private, nil
}

func liveKeys(c org.Credential) int {
	live := 0
	for _, key := range c.Keys {
		if key.RevokedAt.IsZero() {
			live++
		}
	}
	return live
}
