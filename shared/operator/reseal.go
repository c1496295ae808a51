package operator

import (
	"context"
	"errors"
	"fmt"

	"recordbridge/shared/catalog"
	"recordbridge/shared/fault"
	"recordbridge/shared/org"
)

// Reseals seals anew what is sealed for good under SecretsKey, so that nothing stands under an old version of it.
type Reseals struct{ *core }

// Resealed is what was sealed anew.
type Resealed struct {
	Webhooks int      `json:"webhooks"` // secrets, signing key and headers of each
	Clients  int      `json:"clients"`  // client secrets
	Changed  []string `json:"changed"`  // ids of what somebody else changed at the same time; it is sealed anew by that, or by the next run
}

// All seals everything anew. It may be repeated: what was done before is done again. Each row is written over the revision
// that was read. An error tells what could not be; what went before it is done.
func (o Reseals) All(ctx context.Context) (Resealed, error) {
	done := Resealed{Changed: []string{}}
	tenants, err := o.deps.Store.Tenants(ctx)
	if err != nil {
		return done, fmt.Errorf("list organisations: %w", err)
	}
	for _, tenant := range tenants {
		if err = o.webhookSecrets(ctx, tenant, &done); err != nil {
			return done, err
		}
	}
	clients, err := o.deps.Store.ClientAuths(ctx)
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
	return done, o.record(ctx, org.Tenant{}, "secrets.resealed", fmt.Sprintf("webhooks=%d clients=%d", done.Webhooks, done.Clients))
}

func (o Reseals) webhookSecrets(ctx context.Context, tenant org.Tenant, done *Resealed) error {
	all, err := o.deps.Store.Subscriptions(ctx, tenant)
	if err != nil {
		return fmt.Errorf("list webhooks: %w", err)
	}
	for _, sub := range all {
		sealed, err := Webhooks(o).editor().Reseal(ctx, sub)
		if err == nil {
			err = o.deps.Store.SaveSubscription(ctx, sealed)
		}
		if err = counted(err, &done.Webhooks, done, sub.ID); err != nil {
			return err
		}
	}
	return nil
}

func (o Reseals) clientSecret(ctx context.Context, c catalog.OwnedClient) error {
	auth := c.Auth
	plain, err := o.deps.Clients.Open(ctx, c.Owner, auth.SecretBinding(), auth.Secret)
	if err != nil {
		return fmt.Errorf("open client secret: %w", err)
	}
	if auth.Secret, err = o.deps.Clients.Seal(ctx, c.Owner, auth.SecretBinding(), plain); err != nil {
		return fmt.Errorf("seal client secret: %w", err)
	}
	return o.deps.Store.SaveClientAuth(ctx, c.Owner, auth)
}

// counted counts one that was sealed anew, and notes one that somebody else has changed meanwhile.
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
