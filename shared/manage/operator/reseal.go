package operator

import (
	"context"
	"errors"
	"fmt"

	"recordbridge/shared/catalog"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Reseals encrypts stored secrets again, so that none depends on an old version of SecretsKey.
type Reseals struct {
	rows   ResealRows
	editor webhook.Editor
	sealer Sealer
	by     Journal
}

// ResealRows stores the rows that contain sealed secrets.
type ResealRows interface {
	TenantLister
	// Subscriptions returns a tenant's webhooks.
	Subscriptions(ctx context.Context, tenant org.Tenant) ([]webhook.Subscription, error)
	// SaveSubscription stores a webhook. It returns fault.Conflict if the webhook has changed since it was read.
	SaveSubscription(ctx context.Context, sub webhook.Subscription) error
	// ClientAuths returns the clients of all owners.
	ClientAuths(ctx context.Context) ([]catalog.OwnedClient, error)
	// SaveClientAuth stores a client. It returns fault.Conflict if the client has changed since it was read.
	SaveClientAuth(ctx context.Context, owner org.Tenant, a catalog.ClientAuth) error
}

// NewReseals returns a Reseals. The editor seals webhooks' secrets, and the sealer seals clients' secrets.
func NewReseals(rows ResealRows, editor webhook.Editor, sealer Sealer, by Journal) Reseals {
	return Reseals{rows: rows, editor: editor, sealer: sealer, by: by}
}

// Resealed counts the resealed rows of each kind and lists the rows that changed concurrently.
type Resealed struct {
	Webhooks int `json:"webhooks"` // number of webhooks whose secrets, signing key and headers were re-encrypted
	Clients  int `json:"clients"`  // number of resealed client secrets
	// Changed lists the IDs of rows that changed while they were being resealed. Either the concurrent change or the
	// next run reseals each of these rows.
	Changed []string `json:"changed"`
}

// All reseals every stored secret. It is idempotent and replaces a row only if the row has not changed since it was
// read. An error names the row that failed. All rows before that one have been processed.
func (o Reseals) All(ctx context.Context) (Resealed, error) {
	done := Resealed{Changed: []string{}}
	tenants, err := o.rows.Tenants(ctx)
	if err != nil {
		return done, fmt.Errorf("list organisations: %w", err)
	}
	for _, tenant := range tenants {
		if err = o.webhookSecrets(ctx, tenant, &done); err != nil {
			return done, err
		}
	}
	clients, err := o.rows.ClientAuths(ctx)
	if err != nil {
		return done, fmt.Errorf("list clients: %w", err)
	}
	for _, c := range clients {
		if len(c.Auth.Secret) == 0 {
			continue
		}
		if err = counted(o.clientSecret(ctx, c), &done.Clients, &done, c.Auth.ID); err != nil {
			return done, err
		}
	}
	return done, o.by.record(
		ctx, org.Tenant{}, "secrets.resealed", fmt.Sprintf("webhooks=%d clients=%d", done.Webhooks, done.Clients),
	)
}

func (o Reseals) webhookSecrets(ctx context.Context, tenant org.Tenant, done *Resealed) error {
	all, err := o.rows.Subscriptions(ctx, tenant)
	if err != nil {
		return fmt.Errorf("list webhooks: %w", err)
	}
	for _, sub := range all {
		sealed, err := o.editor.Reseal(ctx, sub)
		if err == nil {
			err = o.rows.SaveSubscription(ctx, sealed)
		}
		if err = counted(err, &done.Webhooks, done, sub.ID); err != nil {
			return err
		}
	}
	return nil
}

func (o Reseals) clientSecret(ctx context.Context, c catalog.OwnedClient) error {
	auth := c.Auth
	plain, err := o.sealer.Open(ctx, c.Owner, auth.SecretBinding(), auth.Secret)
	if err != nil {
		return fmt.Errorf("open client secret: %w", err)
	}
	if auth.Secret, err = o.sealer.Seal(ctx, c.Owner, auth.SecretBinding(), plain); err != nil {
		return fmt.Errorf("seal client secret: %w", err)
	}
	return o.rows.SaveClientAuth(ctx, c.Owner, auth)
}

// counted increments *into if a row was resealed, or records the row's ID if it was changed concurrently.
func counted(err error, into *int, done *Resealed, id string) error {
	switch {
	case errors.Is(err, fault.Conflict):
		done.Changed = append(done.Changed, id)
	case err != nil:
		return fmt.Errorf("%s: %w", id, err)
	default:
		*into++
	}
	return nil
}
