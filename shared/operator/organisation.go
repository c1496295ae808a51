package operator

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strings"

	"recordbridge/shared/fault"
	"recordbridge/shared/notice"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
)

const (
	maxRedirectURIs = 25 // docs/deviations.md, Connecting
	maxLiveKeys     = 2  // docs/deviations.md: rotation without downtime
	maxEmails       = 10
)

// Organisations keeps organisations and their credentials.
type Organisations interface {
	// CreateOrganisation stores an organisation in both modes; fault.Conflict when it is there already.
	CreateOrganisation(ctx context.Context, o org.Organisation) error
	// Organisation reads an organisation; fault.NotFound.
	Organisation(ctx context.Context, tenant org.Tenant) (org.Organisation, error)
	// SetEmails changes where an organisation's notices go; fault.Conflict when there is no such organisation.
	SetEmails(ctx context.Context, o org.Organisation) error
	// Tenants lists every organisation's tenants.
	Tenants(ctx context.Context) ([]org.Tenant, error)
	// CreateCredential stores a credential and makes its public id findable.
	CreateCredential(ctx context.Context, c org.Credential) error
	// SaveCredential stores a changed credential; fault.Conflict when it was changed since it was read.
	SaveCredential(ctx context.Context, c org.Credential) error
	// TenantOf and Credential read; fault.NotFound.
	TenantOf(ctx context.Context, credentialID string) (org.Tenant, error)
	Credential(ctx context.Context, tenant org.Tenant, id string) (org.Credential, error)
}

// CreateOrganisation makes an active organisation in both modes; its id is chosen here. Errors are fault.Invalid.
func (o *Operator) CreateOrganisation(ctx context.Context, made org.Organisation) (org.Organisation, error) {
	if strings.TrimSpace(made.Name) == "" {
		return org.Organisation{}, fault.BadRequest("An organisation needs a name.")
	}
	if made.Plan != org.Free && made.Plan != org.Paid {
		return org.Organisation{}, fault.BadRequest("The plan must be free or paid: -plan.")
	}
	for _, address := range []string{made.LogoURI, made.PrivacyPolicyURI, made.WebsiteURI} {
		if u, err := url.Parse(address); address != "" && (err != nil || u.Scheme != "https" || u.Host == "") {
			return org.Organisation{}, fault.BadRequest("The organisation's addresses must be https URLs: -website, -privacy, -logo.")
		}
	}
	if err := checkEmails(made.Emails); err != nil {
		return org.Organisation{}, err
	}
	made.ID, made.Status, made.CreatedAt = o.deps.NewID(), org.Active, o.deps.Now()
	if err := o.deps.Store.CreateOrganisation(ctx, made); err != nil {
		return org.Organisation{}, fmt.Errorf("create organisation: %w", err)
	}
	return made, o.record(ctx, org.Tenant{Mode: org.Live, OrgID: made.ID}, "organisation.created", made.ID)
}

// Emails returns where an organisation's notices go. Errors are fault.NotFound.
func (o *Operator) Emails(ctx context.Context, tenant org.Tenant) ([]string, error) {
	found, err := o.deps.Store.Organisation(ctx, tenant)
	if errors.Is(err, fault.NotFound) {
		return nil, fault.Missing("There is no such organisation.")
	}
	if err != nil {
		return nil, fmt.Errorf("read organisation: %w", err)
	}
	return found.Emails, nil
}

// SetEmails changes where an organisation's notices go. Errors are fault.Invalid and fault.NotFound.
func (o *Operator) SetEmails(ctx context.Context, tenant org.Tenant, emails []string) error {
	if err := checkEmails(emails); err != nil {
		return err
	}
	err := o.deps.Store.SetEmails(ctx, org.Organisation{ID: tenant.OrgID, Emails: emails})
	if errors.Is(err, fault.Conflict) {
		return fault.Missing("There is no such organisation.")
	}
	if err != nil {
		return fmt.Errorf("change e-mail addresses: %w", err)
	}
	return o.record(ctx, tenant, "organisation.emails_changed", tenant.OrgID)
}

// checkEmails takes addresses alone, without names, and as many as one e-mail has room for.
func checkEmails(emails []string) error {
	if len(emails) > maxEmails {
		return fault.BadRequest("An organisation can have at most 10 e-mail addresses.")
	}
	for _, text := range emails {
		if parsed, err := mail.ParseAddress(text); err != nil || parsed.Address != text || len(text) > 254 {
			return fault.BadRequest("An e-mail address is not valid.")
		}
	}
	return nil
}

// Listed is one organisation in one mode.
type Listed struct {
	Tenant       org.Tenant
	Organisation org.Organisation
}

// Organisations lists all organisations in both modes.
func (o *Operator) Organisations(ctx context.Context) ([]Listed, error) {
	tenants, err := o.deps.Store.Tenants(ctx)
	if err != nil {
		return nil, fmt.Errorf("list organisations: %w", err)
	}
	listed := make([]Listed, 0, len(tenants))
	for _, tenant := range tenants {
		found, err := o.deps.Store.Organisation(ctx, tenant)
		if err != nil {
			return nil, fmt.Errorf("read organisation %s: %w", tenant.OrgID, err)
		}
		listed = append(listed, Listed{Tenant: tenant, Organisation: found})
	}
	return listed, nil
}

// CreateCredential makes a credential with its first private key, which is returned here and can never be shown
// again, and has its organisation told by e-mail. Errors are fault.Invalid and fault.NotFound.
func (o *Operator) CreateCredential(ctx context.Context, tenant org.Tenant, redirects, origins []string) (org.Credential, secret.Text, error) {
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
func (o *Operator) AddKey(ctx context.Context, publicID string) (secret.Text, error) {
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
func (o *Operator) RevokeKeys(ctx context.Context, publicID string, all bool) error {
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

func (o *Operator) credential(ctx context.Context, publicID string) (org.Credential, error) {
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

func (o *Operator) newKey(mode org.Mode) (org.Key, secret.Text, error) {
	private, err := org.NewPrivateKey(mode, o.deps.Random)
	if err != nil {
		return org.Key{}, secret.Text{}, fmt.Errorf("make private key: %w", err)
	}
	mark := o.deps.Hashing.Sign([]byte(private.Reveal()))
	return org.Key{ID: o.deps.NewID(), HashVersion: mark.Version, Hash: mark.Sum, CreatedAt: o.deps.Now()}, private, nil
}
