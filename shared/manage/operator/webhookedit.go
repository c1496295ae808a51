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
	var was, is webhook.Subscription
	err = retry.OnConflict(ctx, retry.Tries, func() (err error) {
		was, is, err = o.save(ctx, tenant, id, change)
		return err
	})
	if err != nil {
		return webhook.Subscription{}, err
	}
	changes := change.recorded(was, is)
	if is.URL == was.URL {
		return is, o.by.record(ctx, tenant, "webhook.changed", id, changes...)
	}
	told := notice.WebhookMoved(is, o.by.now())
	return is, errors.Join(
		notify(ctx, o.notices, owner, told), o.by.record(ctx, tenant, "webhook.moved", id, changes...),
	)
}

// save reads a webhook, changes it and stores it. It returns both revisions. It returns fault.Conflict if the webhook
// has changed since it was read.
func (o Webhooks) save(
	ctx context.Context, tenant org.Tenant, id string, change WebhookChange,
) (was, is webhook.Subscription, err error) {
	if was, err = findWebhook(ctx, o.rows, tenant, id); err != nil {
		return was, is, err
	}
	if err = change.From.Check("webhook", was.Version()); err != nil {
		return was, is, err
	}
	isLeaving := change.URL != nil && !o.editor.Own.IsSameOrigin(was.URL, *change.URL)
	if isLeaving && change.Edit.Headers == nil && len(was.HeaderNames) > 0 {
		change.Edit.Headers = map[string]string{}
	}
	if is, err = o.editor.Edited(ctx, was, change.Edit); err != nil {
		return was, is, fmt.Errorf("webhook: %w", err)
	}
	if change.Optional != nil {
		is = is.WithTypes(change.Optional)
	}
	if change.URL == nil || *change.URL == is.URL {
		if err = o.rows.SaveSubscription(ctx, is); err != nil {
			return was, is, changed("webhook", err)
		}
		return was, is, nil
	}
	if is, err = o.editor.WithURL(is, *change.URL); err != nil {
		return was, is, fmt.Errorf("webhook: %w", err)
	}
	if err = o.rows.MoveSubscription(ctx, is); err != nil {
		return was, is, changed("webhook", err)
	}
	is.Health = webhook.Health{} // the stored health describes the previous URL
	return was, is, nil
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
