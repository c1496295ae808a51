package operator

import (
	"context"
	"errors"
	"fmt"

	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
	"recordbridge/shared/words/version"
)

// WebhookChange describes a change to a webhook. Nil fields leave the webhook unchanged.
type WebhookChange struct {
	URL      *string
	Optional []webhook.Type // event types to receive in addition to the required types
	Edit     webhook.Edit
	From     version.Match // versions of the webhook that may be changed
}

// Change applies change to a webhook in a single write. If the URL changes, the organisation is notified by email and
// due attempts are sent to the new URL. If the origin changes, the webhook keeps only the headers in change, because
// its earlier headers were intended for the previous receiver. Change returns fault.Invalid, fault.NotFound, or
// fault.Conflict if the version doesn't match.
func (o Webhooks) Change(ctx context.Context, tenant org.Tenant, id string,
	change WebhookChange,
) (webhook.Subscription, error) {
	owner, err := findOrganisation(ctx, o.rows, tenant)
	if err != nil {
		return webhook.Subscription{}, err
	}
	if change.Edit.Note != nil {
		if err = checkNote(*change.Edit.Note); err != nil {
			return webhook.Subscription{}, err
		}
	}
	var sub webhook.Subscription
	var isMoved bool
	err = retry.OnConflict(ctx, retry.Tries, func() (err error) {
		sub, isMoved, err = o.save(ctx, tenant, id, change)
		return err
	})
	if err != nil {
		return webhook.Subscription{}, err
	}
	if !isMoved {
		return sub, o.by.record(ctx, tenant, "webhook.changed", id)
	}
	told := notice.WebhookMoved(sub, o.by.now())
	return sub, errors.Join(notify(ctx, o.notices, owner, told), o.by.record(ctx, tenant, "webhook.moved", id))
}

// save reads a webhook, changes it and stores it. It reports whether the URL changed. It returns fault.Conflict if the
// webhook has changed since it was read.
func (o Webhooks) save(
	ctx context.Context, tenant org.Tenant, id string, change WebhookChange,
) (sub webhook.Subscription, isMoved bool, err error) {
	if sub, err = findWebhook(ctx, o.rows, tenant, id); err != nil {
		return webhook.Subscription{}, false, err
	}
	if err = change.From.Check("webhook", sub.Version()); err != nil {
		return webhook.Subscription{}, false, err
	}
	isLeaving := change.URL != nil && !o.editor.Own.IsSameOrigin(sub.URL, *change.URL)
	if isLeaving && change.Edit.Headers == nil && len(sub.HeaderNames) > 0 {
		change.Edit.Headers = map[string]string{}
	}
	if sub, err = o.editor.Edited(ctx, sub, change.Edit); err != nil {
		return webhook.Subscription{}, false, fmt.Errorf("webhook: %w", err)
	}
	if change.Optional != nil {
		sub = sub.WithTypes(change.Optional)
	}
	if change.URL == nil || *change.URL == sub.URL {
		if err = o.rows.SaveSubscription(ctx, sub); err != nil {
			return webhook.Subscription{}, false, changed("webhook", err)
		}
		return sub, false, nil
	}
	if sub, err = o.editor.WithURL(sub, *change.URL); err != nil {
		return webhook.Subscription{}, false, fmt.Errorf("webhook: %w", err)
	}
	if err = o.rows.MoveSubscription(ctx, sub); err != nil {
		return webhook.Subscription{}, false, changed("webhook", err)
	}
	sub.Health = webhook.Health{} // the stored health applies to the previous URL
	return sub, true, nil
}

// Reveal returns a webhook's active signing secrets, newest first. It returns fault.NotFound if the webhook does not
// exist.
func (o Webhooks) Reveal(ctx context.Context, tenant org.Tenant, id string) ([]webhook.Revealed, error) {
	sub, err := findWebhook(ctx, o.rows, tenant, id)
	if err != nil {
		return nil, err
	}
	// Write the audit row first, so that no secret is revealed without one.
	if err = o.by.record(ctx, tenant, "webhook.secret_revealed", id); err != nil {
		return nil, err
	}
	shown, err := o.editor.Reveal(ctx, sub)
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	return shown, nil
}
