package operator

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"recordbridge/shared/deliverylog"
	"recordbridge/shared/fault"
	"recordbridge/shared/notice"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/webhook"
)

// maxSubscriptions bounds what one event fans out to, so that it stays one transaction.
const maxSubscriptions = 25

// Webhooks makes, changes and tries webhooks.
type Webhooks struct{ *core }

// WebhookRows keeps webhooks.
type WebhookRows interface {
	// Subscriptions lists a tenant's with their health, consistently.
	Subscriptions(ctx context.Context, tenant org.Tenant) ([]webhook.Subscription, error)
	// CreateSubscription stores a new one.
	CreateSubscription(ctx context.Context, sub webhook.Subscription) error
	// SaveSubscription, DisableSubscription and EnableSubscription change one; fault.Conflict when it was changed meanwhile.
	SaveSubscription(ctx context.Context, sub webhook.Subscription) error
	DisableSubscription(ctx context.Context, tenant org.Tenant, id string, reason webhook.Reason, at time.Time) error
	EnableSubscription(ctx context.Context, sub webhook.Subscription) error
	// MoveSubscription is SaveSubscription of one with another address, whose health knows nothing.
	MoveSubscription(ctx context.Context, sub webhook.Subscription) error
	// RemoveSubscription removes a disabled one with its health, as it was read; fault.Conflict.
	RemoveSubscription(ctx context.Context, sub webhook.Subscription) error
}

// Work keeps events with their deliveries, notices, and exports.
type Work interface {
	webhook.Replays
	notice.Rows
	ExportRows
	// CreateEvent stores an event that is to be fanned out.
	CreateEvent(ctx context.Context, event webhook.Event) error
	// CreateDirectedEvent stores an event together with its only delivery.
	CreateDirectedEvent(ctx context.Context, event webhook.Event, d webhook.Delivery) error
}

// Queue has a worker look at what was stored. What it loses, the sweeper makes up for.
type Queue interface {
	webhook.Queue
	EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error
	EnqueueNotice(ctx context.Context, tenant org.Tenant, id string) error
}

// Create makes a webhook, whose id is chosen here, and has its organisation told by e-mail. The signing secret is
// returned here and can never be shown again. Errors are fault.Invalid, fault.Conflict (too many) and fault.NotFound.
func (o Webhooks) Create(ctx context.Context, d webhook.Draft) (webhook.Subscription, secret.Text, error) {
	if err := checkNote(d.Note); err != nil {
		return webhook.Subscription{}, secret.Text{}, err
	}
	d.ID = o.deps.NewID()
	sub, signing, err := o.editor().Create(ctx, d)
	if err != nil {
		return webhook.Subscription{}, secret.Text{}, fmt.Errorf("webhook: %w", err)
	}
	owner, err := o.organisation(ctx, d.Tenant)
	if err != nil {
		return webhook.Subscription{}, secret.Text{}, err
	}
	known, err := o.deps.Store.Subscriptions(ctx, d.Tenant)
	if err != nil {
		return webhook.Subscription{}, secret.Text{}, fmt.Errorf("list webhooks: %w", err)
	}
	if len(known) >= maxSubscriptions {
		return webhook.Subscription{}, secret.Text{}, refused("The organisation has 25 webhooks already, and can have no more.")
	}
	if err = o.deps.Store.CreateSubscription(ctx, sub); err != nil {
		return webhook.Subscription{}, secret.Text{}, fmt.Errorf("create webhook: %w", err)
	}
	err = errors.Join(o.tell(ctx, owner, notice.WebhookCreated(sub)), o.record(ctx, d.Tenant, "webhook.created", sub.ID))
	return sub, signing, err
}

// List lists a tenant's webhooks with how they fare. Errors are fault.NotFound.
func (o Webhooks) List(ctx context.Context, tenant org.Tenant) ([]webhook.Subscription, error) {
	if err := o.checkOwner(ctx, tenant); err != nil {
		return nil, err
	}
	all, err := o.deps.Store.Subscriptions(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	return all, nil
}

// Rotate gives a webhook a new signing secret, which is returned here and can never be shown again, and has its
// organisation told by e-mail. The one before goes on to sign for 24 hours; with atOnce it ends now. Errors are fault.NotFound and fault.Conflict.
func (o Webhooks) Rotate(ctx context.Context, tenant org.Tenant, id string, atOnce bool) (webhook.Subscription, secret.Text, error) {
	sub, err := o.webhook(ctx, tenant, id)
	if err != nil {
		return webhook.Subscription{}, secret.Text{}, err
	}
	owner, err := o.organisation(ctx, tenant)
	if err != nil {
		return webhook.Subscription{}, secret.Text{}, err
	}
	rotated, signing, err := o.editor().Rotate(ctx, sub, atOnce)
	if err != nil {
		return webhook.Subscription{}, secret.Text{}, fmt.Errorf("webhook: %w", err)
	}
	if err = o.deps.Store.SaveSubscription(ctx, rotated); err != nil {
		return webhook.Subscription{}, secret.Text{}, changed("webhook", err)
	}
	return rotated, signing, errors.Join(o.tell(ctx, owner, notice.SecretRotated(sub, o.deps.Now())), o.record(ctx, tenant, "webhook.rotated", id))
}

// SetTypes makes a webhook be for the required event types and those of optional, and no other. Errors are
// fault.NotFound and fault.Conflict.
func (o Webhooks) SetTypes(ctx context.Context, tenant org.Tenant, id string, optional []webhook.Type) (webhook.Subscription, error) {
	sub, err := o.webhook(ctx, tenant, id)
	if err != nil {
		return webhook.Subscription{}, err
	}
	sub = sub.WithTypes(optional)
	if err := o.deps.Store.SaveSubscription(ctx, sub); err != nil {
		return webhook.Subscription{}, changed("webhook", err)
	}
	return sub, o.record(ctx, tenant, "webhook.types_changed", id)
}

// SetURL changes a webhook's URL as Change does. Errors are fault.Invalid, fault.NotFound and fault.Conflict.
func (o Webhooks) SetURL(ctx context.Context, tenant org.Tenant, id, address string) (webhook.Subscription, error) {
	return o.Change(ctx, tenant, id, WebhookChange{URL: &address})
}

// Show reads a webhook. Errors are fault.NotFound.
func (o Webhooks) Show(ctx context.Context, tenant org.Tenant, id string) (webhook.Subscription, error) {
	return o.webhook(ctx, tenant, id)
}

// Disable stops everything to a webhook, which is then held, and has its organisation told by e-mail. Errors are
// fault.NotFound, and fault.Conflict when it is disabled.
func (o Webhooks) Disable(ctx context.Context, tenant org.Tenant, id string) error {
	sub, err := o.webhook(ctx, tenant, id)
	if err != nil {
		return err
	}
	if sub.Disabled {
		return refused("The webhook is disabled already.")
	}
	owner, err := o.organisation(ctx, tenant)
	if err != nil {
		return err
	}
	now := o.deps.Now()
	if err := o.deps.Store.DisableSubscription(ctx, tenant, id, webhook.ReasonByHand, now); err != nil {
		return changed("webhook", err)
	}
	return errors.Join(o.tell(ctx, owner, notice.DisabledByHand(sub, now)), o.record(ctx, tenant, "webhook.disabled", id))
}

// Enable makes a disabled webhook work again and returns it as it was, and since when there are events that it has
// missed, up to 15 days ago: those that have failed or are held wait for a replay. Errors are fault.NotFound and
// fault.Conflict.
func (o Webhooks) Enable(ctx context.Context, tenant org.Tenant, id string) (was webhook.Subscription, missedSince time.Time, err error) {
	sub, err := o.webhook(ctx, tenant, id)
	if err != nil {
		return webhook.Subscription{}, time.Time{}, err
	}
	if !sub.Disabled {
		return webhook.Subscription{}, time.Time{}, refused("The webhook is not disabled.")
	}
	// Before anything is changed, so that who could not be told can ask again.
	if missedSince, err = o.missedSince(ctx, sub); err != nil {
		return webhook.Subscription{}, time.Time{}, err
	}
	if err := o.deps.Store.EnableSubscription(ctx, sub); err != nil {
		return webhook.Subscription{}, time.Time{}, changed("webhook", err)
	}
	return sub, missedSince, o.record(ctx, tenant, "webhook.enabled", id)
}

// Remove removes a disabled webhook. What was held for it stays in the delivery log until it expires, and can be sent to
// nobody. Errors are fault.NotFound, and fault.Conflict for one that is not disabled.
func (o Webhooks) Remove(ctx context.Context, tenant org.Tenant, id string) error {
	sub, err := o.webhook(ctx, tenant, id)
	if err != nil {
		return err
	}
	if !sub.Disabled {
		return refused("The webhook is not disabled. Disable it first, so that its owner is told.")
	}
	if err := o.deps.Store.RemoveSubscription(ctx, sub); err != nil {
		return changed("webhook", err)
	}
	return o.record(ctx, tenant, "webhook.removed", id)
}

// SendTest sends a webhook.test event to every webhook of a tenant and returns its id. Errors are fault.NotFound.
func (o Webhooks) SendTest(ctx context.Context, tenant org.Tenant) (string, error) {
	if err := o.checkOwner(ctx, tenant); err != nil {
		return "", err
	}
	data, err := o.testData()
	if err != nil {
		return "", err
	}
	event, err := webhook.NewEvent(tenant, webhook.TestEvent, o.deps.NewID(), 0, o.deps.Now(), data)
	if err != nil {
		return "", fmt.Errorf("make test event: %w", err)
	}
	if err := o.emit(ctx, event); err != nil {
		return event.ID, err
	}
	return event.ID, o.record(ctx, tenant, "webhook.tested", event.ID)
}

// testData is the data of a test, a different one each time.
func (o Webhooks) testData() (webhook.Test, error) {
	random := make([]byte, 16)
	if _, err := io.ReadFull(o.deps.Random, random); err != nil {
		return webhook.Test{}, fmt.Errorf("random bytes: %w", err)
	}
	return webhook.Test{Hello: "world", Random: hex.EncodeToString(random)}, nil
}

// missedSince is when the oldest delivery was made that has failed or is held, whenever that was; that is what a replay
// goes by. Where there is none yet, it is when the webhook was disabled.
func (o Webhooks) missedSince(ctx context.Context, sub webhook.Subscription) (time.Time, error) {
	since := sub.DisabledAt
	for _, status := range []webhook.DeliveryStatus{webhook.Exhausted, webhook.Held} {
		q := deliverylog.Query{SubscriptionID: sub.ID, Status: status, Limit: 100}
		for {
			page, err := o.deps.Log.Search(ctx, sub.Tenant, q)
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

func (o Webhooks) editor() webhook.Editor {
	return webhook.Editor{Vault: o.deps.Vault, Reach: o.deps.Reach, Own: o.deps.Own, Random: o.deps.Random, Now: o.deps.Now}
}

// webhook reads one webhook of a tenant; fault.NotFound.
func (o Webhooks) webhook(ctx context.Context, tenant org.Tenant, id string) (webhook.Subscription, error) {
	all, err := o.List(ctx, tenant)
	if err != nil {
		return webhook.Subscription{}, err
	}
	i := slices.IndexFunc(all, func(s webhook.Subscription) bool { return s.ID == id })
	if i < 0 {
		return webhook.Subscription{}, fault.Missing(fmt.Sprintf("There is no webhook %q of %s.", id, ownerName(tenant))).About("id")
	}
	return all[i], nil
}
