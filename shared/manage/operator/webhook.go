package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// MaxWebhooks is the maximum number of webhooks per tenant. The limit ensures that all of an event's deliveries
// fit in one transaction.
const MaxWebhooks = 25

// Webhooks creates, changes and tests webhooks.
type Webhooks struct {
	rows    WebhookRows
	editor  webhook.Editor
	notices Notices
	log     DeliverySearch
	by      Journal
}

// WebhookReader reads webhooks.
type WebhookReader interface {
	OrganisationReader
	// Subscriptions performs a consistent read of a tenant's webhooks and their health.
	Subscriptions(ctx context.Context, tenant org.Tenant) ([]webhook.Subscription, error)
}

// WebhookRows stores tenants' webhooks.
type WebhookRows interface {
	WebhookReader
	// CreateSubscription stores a new webhook.
	CreateSubscription(ctx context.Context, sub webhook.Subscription) error
	// SaveSubscription, DisableSubscription and EnableSubscription change a webhook. They return fault.Conflict if the
	// webhook has changed since it was read.
	SaveSubscription(ctx context.Context, sub webhook.Subscription) error
	DisableSubscription(ctx context.Context, tenant org.Tenant, id string, reason webhook.Reason, at time.Time) error
	EnableSubscription(ctx context.Context, sub webhook.Subscription) error
	// MoveSubscription is like SaveSubscription, but stores a webhook with a new URL and resets its health.
	MoveSubscription(ctx context.Context, sub webhook.Subscription) error
	// RemoveSubscription removes a disabled webhook and its health. It returns fault.Conflict if the webhook has
	// changed since it was read.
	RemoveSubscription(ctx context.Context, sub webhook.Subscription) error
}

// NewWebhooks returns a Webhooks with the given dependencies.
func NewWebhooks(rows WebhookRows, editor webhook.Editor, notices Notices, log DeliverySearch, by Journal) Webhooks {
	return Webhooks{rows: rows, editor: editor, notices: notices, log: log, by: by}
}

// As returns a copy of o that records actor in audit rows.
func (o Webhooks) As(actor string) Webhooks {
	o.by = o.by.As(actor)
	return o
}

// Create creates a webhook, assigns its ID, and notifies the organisation by email. It returns the webhook and its
// signing secret. Create returns fault.Invalid, fault.Conflict if the tenant has too many webhooks, or fault.NotFound.
func (o Webhooks) Create(ctx context.Context, d webhook.Draft) (webhook.Subscription, secret.Text, error) {
	if err := checkNote(d.Note); err != nil {
		return webhook.Subscription{}, secret.Text{}, err
	}
	d.ID = o.by.newID()
	sub, signing, err := o.editor.Create(ctx, d)
	if err != nil {
		return webhook.Subscription{}, secret.Text{}, fmt.Errorf("webhook: %w", err)
	}
	owner, err := findOrganisation(ctx, o.rows, d.Tenant)
	if err != nil {
		return webhook.Subscription{}, secret.Text{}, err
	}
	known, err := o.rows.Subscriptions(ctx, d.Tenant)
	if err != nil {
		return webhook.Subscription{}, secret.Text{}, fmt.Errorf("list webhooks: %w", err)
	}
	if len(known) >= MaxWebhooks {
		return webhook.Subscription{}, secret.Text{},
			refused("The organisation already has 25 webhooks, the maximum.")
	}
	if err = o.rows.CreateSubscription(ctx, sub); err != nil {
		return webhook.Subscription{}, secret.Text{}, fmt.Errorf("create webhook: %w", err)
	}
	err = errors.Join(
		notify(ctx, o.notices, owner, notice.WebhookCreated(sub)),
		o.by.record(ctx, d.Tenant, "webhook.created", sub.ID, webhookChanges(webhook.Subscription{}, sub)...),
	)
	return sub, signing, err
}

// List returns a tenant's webhooks with their health. It returns fault.NotFound if the tenant does not exist.
func (o Webhooks) List(ctx context.Context, tenant org.Tenant) ([]webhook.Subscription, error) {
	return listWebhooks(ctx, o.rows, tenant)
}

// Rotate replaces a webhook's signing secret and notifies the organisation by email. It returns the new secret. The
// former secret remains in use for another 24 hours or, if atOnce is set, is retired immediately. Rotate returns
// fault.NotFound or fault.Conflict on failure.
func (o Webhooks) Rotate(ctx context.Context, tenant org.Tenant, id string,
	atOnce bool,
) (webhook.Subscription, secret.Text, error) {
	sub, err := findWebhook(ctx, o.rows, tenant, id)
	if err != nil {
		return webhook.Subscription{}, secret.Text{}, err
	}
	owner, err := findOrganisation(ctx, o.rows, tenant)
	if err != nil {
		return webhook.Subscription{}, secret.Text{}, err
	}
	rotated, signing, err := o.editor.Rotate(ctx, sub, atOnce)
	if err != nil {
		return webhook.Subscription{}, secret.Text{}, fmt.Errorf("webhook: %w", err)
	}
	if err = o.rows.SaveSubscription(ctx, rotated); err != nil {
		return webhook.Subscription{}, secret.Text{}, changed("webhook", err)
	}
	return rotated, signing, errors.Join(
		notify(ctx, o.notices, owner, notice.SecretRotated(sub, o.by.now())), o.by.record(ctx, tenant, "webhook.rotated", id),
	)
}

// Show returns a webhook. It returns fault.NotFound if the webhook does not exist.
func (o Webhooks) Show(ctx context.Context, tenant org.Tenant, id string) (webhook.Subscription, error) {
	return findWebhook(ctx, o.rows, tenant, id)
}

// Disable stops all deliveries to a webhook and notifies the organisation by email. While the webhook is disabled, new
// deliveries are held for a replay. Disable returns fault.NotFound, or fault.Conflict if the webhook is already
// disabled.
func (o Webhooks) Disable(ctx context.Context, tenant org.Tenant, id string) error {
	sub, err := findWebhook(ctx, o.rows, tenant, id)
	if err != nil {
		return err
	}
	if sub.Disabled {
		return refused("The webhook is already disabled.")
	}
	owner, err := findOrganisation(ctx, o.rows, tenant)
	if err != nil {
		return err
	}
	now := o.by.now()
	if err := o.rows.DisableSubscription(ctx, tenant, id, webhook.ReasonByHand, now); err != nil {
		return changed("webhook", err)
	}
	return errors.Join(
		notify(ctx, o.notices, owner, notice.DisabledByHand(sub, now)),
		o.by.record(ctx, tenant, "webhook.disabled", id, statusChange(true)),
	)
}

// Enable enables a disabled webhook. It returns the webhook's previous state and the time, at most 15 days ago, since
// which the webhook has missed events. Failed and held deliveries are sent only by a replay. Enable returns
// fault.NotFound or fault.Conflict on failure.
func (o Webhooks) Enable(ctx context.Context, tenant org.Tenant,
	id string,
) (was webhook.Subscription, missedSince time.Time, err error) {
	sub, err := findWebhook(ctx, o.rows, tenant, id)
	if err != nil {
		return webhook.Subscription{}, time.Time{}, err
	}
	if !sub.Disabled {
		return webhook.Subscription{}, time.Time{}, refused("The webhook is not disabled.")
	}
	// Determine missedSince before the change, so that the caller can retry if the lookup fails.
	if missedSince, err = o.missedSince(ctx, sub); err != nil {
		return webhook.Subscription{}, time.Time{}, err
	}
	if err := o.rows.EnableSubscription(ctx, sub); err != nil {
		return webhook.Subscription{}, time.Time{}, changed("webhook", err)
	}
	return sub, missedSince, o.by.record(ctx, tenant, "webhook.enabled", id, statusChange(false))
}

// Remove removes a disabled webhook. Its held deliveries can't be sent but remain in the delivery log until they
// expire. Remove returns fault.NotFound, or fault.Conflict if the webhook is not disabled.
func (o Webhooks) Remove(ctx context.Context, tenant org.Tenant, id string) error {
	sub, err := findWebhook(ctx, o.rows, tenant, id)
	if err != nil {
		return err
	}
	if !sub.Disabled {
		return refused("The webhook is not disabled. Disable it first, so that its owner is notified.")
	}
	if err := o.rows.RemoveSubscription(ctx, sub); err != nil {
		return changed("webhook", err)
	}
	return o.by.record(ctx, tenant, "webhook.removed", id, webhookChanges(sub, webhook.Subscription{})...)
}

// missedSince returns the creation time of a webhook's oldest failed or held delivery, because replays select
// deliveries by creation time. If the webhook was disabled earlier or has no such delivery, missedSince returns the
// time at which it was disabled.
func (o Webhooks) missedSince(ctx context.Context, sub webhook.Subscription) (time.Time, error) {
	since := sub.DisabledAt
	for _, status := range []webhook.DeliveryStatus{webhook.Exhausted, webhook.Held} {
		q := deliverylog.Query{SubscriptionID: sub.ID, Status: status, Limit: 100}
		for {
			page, err := o.log.Search(ctx, sub.Tenant, q)
			if err != nil {
				return time.Time{}, fmt.Errorf("search deliveries: %w", err)
			}
			for _, e := range page.Entries {
				if e.CreatedAt.Before(since) {
					since = e.CreatedAt
				}
			}
			if page.Next == "" {
				break
			}
			q.After = page.Next
		}
	}
	return since, nil
}

func listWebhooks(ctx context.Context, rows WebhookReader, tenant org.Tenant) ([]webhook.Subscription, error) {
	if err := checkOwner(ctx, rows, tenant); err != nil {
		return nil, err
	}
	all, err := rows.Subscriptions(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	return all, nil
}

func findWebhook(ctx context.Context, rows WebhookReader, tenant org.Tenant, id string) (webhook.Subscription, error) {
	all, err := listWebhooks(ctx, rows, tenant)
	if err != nil {
		return webhook.Subscription{}, err
	}
	i := slices.IndexFunc(all, func(s webhook.Subscription) bool { return s.ID == id })
	if i < 0 {
		return webhook.Subscription{}, fault.Missing(
			fmt.Sprintf("Webhook %q not found for %s.", id, ownerName(tenant))).About("id")
	}
	return all[i], nil
}
