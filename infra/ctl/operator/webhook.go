package operator

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/webhook"
)

// maxSubscriptions bounds what one event fans out to, so that it stays one transaction.
const maxSubscriptions = 25

// CreateWebhook subscribes a URL to the required event types and to those of optional. The signing secret is returned
// here and can never be shown again. Errors are fault.Invalid, fault.Conflict (too many) and fault.NotFound.
func (o *Operator) CreateWebhook(ctx context.Context, tenant org.Tenant, address string, optional []webhook.Type) (webhook.Subscription, secret.Text, error) {
	if err := webhook.CheckURL(tenant.Mode, address); err != nil {
		return webhook.Subscription{}, secret.Text{}, fmt.Errorf("webhook: %w", err)
	}
	if _, err := o.control.Organisation(ctx, tenant); err != nil {
		return webhook.Subscription{}, secret.Text{}, fmt.Errorf("read organisation: %w", err)
	}
	known, err := o.control.Subscriptions(ctx, tenant)
	if err != nil {
		return webhook.Subscription{}, secret.Text{}, fmt.Errorf("list webhooks: %w", err)
	}
	if len(known) >= maxSubscriptions {
		return webhook.Subscription{}, secret.Text{}, fault.New(fault.Conflict, fault.CodeInvalidRequest, "There are 25 webhooks already.")
	}
	types := webhook.Required()
	for _, t := range optional {
		if !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	sub := webhook.Subscription{ID: o.NewID(), Tenant: tenant, URL: address, Types: types, CreatedAt: o.Now()}
	signing, err := webhook.NewSecret(o.Random)
	if err != nil {
		return webhook.Subscription{}, secret.Text{}, fmt.Errorf("make webhook secret: %w", err)
	}
	sealed, err := o.sealer.Seal(ctx, tenant, sub.SecretBinding(), []byte(signing.Reveal()))
	if err != nil {
		return webhook.Subscription{}, secret.Text{}, fmt.Errorf("seal webhook secret: %w", err)
	}
	sub.Secrets = []webhook.SealedSecret{{Sealed: sealed}}
	if err := o.control.CreateSubscription(ctx, sub); err != nil {
		return webhook.Subscription{}, secret.Text{}, fmt.Errorf("create webhook: %w", err)
	}
	return sub, signing, o.record(ctx, tenant, "webhook.created", sub.ID)
}

// SendTest sends a webhook.test event to every webhook of a tenant and returns its id.
func (o *Operator) SendTest(ctx context.Context, tenant org.Tenant) (string, error) {
	random := make([]byte, 16)
	if _, err := io.ReadFull(o.Random, random); err != nil {
		return "", fmt.Errorf("random bytes: %w", err)
	}
	event, err := webhook.NewEvent(tenant, webhook.TestEvent, o.NewID(), 0, o.Now(),
		webhook.Test{Hello: "world", Random: hex.EncodeToString(random)})
	if err != nil {
		return "", fmt.Errorf("make test event: %w", err)
	}
	if err := o.work.CreateEvent(ctx, event); err != nil {
		return "", fmt.Errorf("store test event: %w", err)
	}
	if err := o.queue.NudgeEvent(ctx, tenant, event.ID); err != nil {
		return "", fmt.Errorf("nudge test event: %w", err)
	}
	return event.ID, nil
}
