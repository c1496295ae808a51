package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"recordbridge/shared/manage/audit"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/words/org"
)

// WebhookChange describes a change to a webhook. Nil fields leave the webhook unchanged.
type WebhookChange struct {
	URL      *string
	Optional []webhook.Type // event types to receive in addition to the required types
	Edit     webhook.Edit
}

// Change applies change to a webhook in a single write. If the URL changes, the organisation is notified by email and
// due attempts are sent to the new URL. If the origin changes, the webhook keeps only the headers in change, because
// its earlier headers were intended for the previous receiver. Change returns fault.Invalid, fault.NotFound or
// fault.Conflict on failure.
func (o Webhooks) Change(ctx context.Context, tenant org.Tenant, id string,
	change WebhookChange,
) (webhook.Subscription, error) {
	sub, err := findWebhook(ctx, o.rows, tenant, id)
	if err != nil {
		return webhook.Subscription{}, err
	}
	owner, err := findOrganisation(ctx, o.rows, tenant)
	if err != nil {
		return webhook.Subscription{}, err
	}
	if change.Edit.Note != nil {
		if err = checkNote(*change.Edit.Note); err != nil {
			return webhook.Subscription{}, err
		}
	}
	was := sub
	isMoved := change.URL != nil && !o.editor.Own.IsSameOrigin(sub.URL, *change.URL)
	if isMoved && change.Edit.Headers == nil && len(sub.HeaderNames) > 0 {
		change.Edit.Headers = map[string]string{}
	}
	if sub, err = o.editor.Edited(ctx, sub, change.Edit); err != nil {
		return webhook.Subscription{}, fmt.Errorf("webhook: %w", err)
	}
	if change.Optional != nil {
		sub = sub.WithTypes(change.Optional)
	}
	if change.URL == nil || *change.URL == sub.URL {
		if err = o.rows.SaveSubscription(ctx, sub); err != nil {
			return webhook.Subscription{}, changed("webhook", err)
		}
		return sub, o.by.record(ctx, tenant, "webhook.changed", id, change.recorded(was, sub)...)
	}
	if sub, err = o.editor.WithURL(sub, *change.URL); err != nil {
		return webhook.Subscription{}, fmt.Errorf("webhook: %w", err)
	}
	if err = o.rows.MoveSubscription(ctx, sub); err != nil {
		return webhook.Subscription{}, changed("webhook", err)
	}
	sub.Health = webhook.Health{} // the stored health describes the previous URL
	told := notice.WebhookMoved(sub, o.by.now())
	return sub, errors.Join(
		notify(ctx, o.notices, owner, told),
		o.by.record(ctx, tenant, "webhook.moved", id, change.recorded(was, sub)...),
	)
}

// recorded returns the changes between two revisions of a webhook. Header values are encrypted, so a header that was
// given again counts as changed.
func (c WebhookChange) recorded(was, is webhook.Subscription) []audit.Change {
	changes := webhookChanges(was, is)
	isKept := func(name string) bool { return slices.Contains(was.HeaderNames, name) }
	if c.Edit.Headers != nil && slices.ContainsFunc(is.HeaderNames, isKept) {
		changes = append(changes, audit.Change{Field: "header_values", New: audit.Hidden, Old: audit.Hidden})
	}
	return changes
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
