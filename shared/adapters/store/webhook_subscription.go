package store

import (
	"context"
	"strings"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// Hooks stores webhook subscriptions and their health.
type Hooks Control

// OrganisationHooks stores subscriptions and their organisations.
type OrganisationHooks struct {
	Organisations
	Hooks
}

// NewOrganisationHooks returns an OrganisationHooks that uses the Control table.
func NewOrganisationHooks(control Control) OrganisationHooks {
	return OrganisationHooks{Organisations: Organisations(control), Hooks: Hooks(control)}
}

// Setup stores an organisation's credentials and subscriptions.
type Setup struct {
	Callers
	Hooks
}

// NewSetup returns a Setup that uses the Control table.
func NewSetup(control Control) Setup {
	return Setup{Callers: Callers(control), Hooks: Hooks(control)}
}

// Subscriptions implements webhook.Store.
func (s Hooks) Subscriptions(ctx context.Context, tenant org.Tenant) ([]webhook.Subscription, error) {
	rows, err := list(ctx, s.DB, s.Table, subscriptionsPartition(tenant), subscriptionPrefix)
	if err != nil {
		return nil, err
	}
	health := map[string]webhook.Health{} // keyed by the subscription's sort key
	for _, row := range rows {
		if of, ok := strings.CutSuffix(row.text("sk"), healthSuffix); ok {
			health[of] = healthOf(row)
		}
	}
	subscriptions := make([]webhook.Subscription, 0, len(rows)-len(health))
	for _, row := range rows {
		if strings.HasSuffix(row.text("sk"), healthSuffix) {
			continue
		}
		sub, err := subscriptionOf(tenant, row)
		if err != nil {
			return nil, err
		}
		sub.Health = health[row.text("sk")]
		subscriptions = append(subscriptions, sub)
	}
	return subscriptions, nil
}

func subscriptionOf(tenant org.Tenant, row item) (webhook.Subscription, error) {
	sub := webhook.Subscription{
		ID: row.text("id"), Tenant: tenant, URL: row.text("url"), Note: row.text("note"), Private: row.bytes("private"),
		PublicKey: row.text("public_key"), Rate: int(row.int("rate")), HeaderRev: row.int("header_rev"),
		Disabled: row.flag("disabled"), DisabledAt: row.time("disabled_at"),
		DisabledFor: webhook.Reason(row.text("disabled_for")),
		CreatedAt:   row.time("created_at"), Rev: row.int("rev"),
	}
	if err := row.json("types", &sub.Types); err != nil {
		return webhook.Subscription{}, err
	}
	if err := row.json("header_names", &sub.HeaderNames); err != nil {
		return webhook.Subscription{}, err
	}
	return sub, row.json("secrets", &sub.Secrets)
}

// CreateSubscription stores a new subscription. It returns fault.Conflict if the subscription exists.
func (s Hooks) CreateSubscription(ctx context.Context, sub webhook.Subscription) error {
	row, err := subscriptionItem(sub)
	if err != nil {
		return err
	}
	row.setInt("rev", 1)
	return create(ctx, s.DB, s.Table, row)
}

// CreateDirectedEvent stores an event and its only delivery, without fan-out. The organisation's event list omits the
// event.
func (s Events) CreateDirectedEvent(ctx context.Context, event webhook.Event, d webhook.Delivery) error {
	row := eventItem(event)
	row.setFlag("settled", true)
	for _, name := range []string{"due_shard", "due_at", "org_list", "org_order"} {
		delete(row, name)
	}
	return transact(ctx, s.DB, append(newDelivery(s.Table, event, d), putNew(s.Table, row))...)
}

// SaveSubscription stores a changed subscription. It returns fault.Conflict if the subscription has been changed or
// disabled since it was read.
func (s Hooks) SaveSubscription(ctx context.Context, sub webhook.Subscription) error {
	row, err := subscriptionItem(sub)
	if err != nil {
		return err
	}
	return replace(ctx, s.DB, s.Table, row, sub.Rev)
}

// MoveSubscription stores a subscription with a new URL and resets its health. It returns fault.Conflict if the
// subscription has changed since it was read.
func (s Hooks) MoveSubscription(ctx context.Context, sub webhook.Subscription) error {
	row, err := subscriptionItem(sub)
	if err != nil {
		return err
	}
	return transact(ctx, s.DB, putOver(s.Table, row, sub.Rev), unlist(s.Table, healthKey(sub.Tenant, sub.ID)))
}

// RemoveSubscription removes a subscription and its health. It returns fault.Conflict if the subscription has changed
// since it was read.
func (s Hooks) RemoveSubscription(ctx context.Context, sub webhook.Subscription) error {
	return transact(ctx, s.DB, removal(s.Table, subscriptionKey(sub.Tenant, sub.ID), sub.Rev),
		unlist(s.Table, healthKey(sub.Tenant, sub.ID)))
}

func subscriptionItem(sub webhook.Subscription) (item, error) {
	row := newItem(subscriptionKey(sub.Tenant, sub.ID))
	row.setText("id", sub.ID)
	row.setText("url", sub.URL)
	row.setText("note", sub.Note)
	row.setBytes("private", sub.Private)
	row.setText("public_key", sub.PublicKey)
	row.setInt("rate", int64(sub.Rate))
	row.setInt("header_rev", sub.HeaderRev)
	row.setFlag("disabled", sub.Disabled)
	row.setTime("disabled_at", sub.DisabledAt)
	row.setText("disabled_for", string(sub.DisabledFor))
	row.setTime("created_at", sub.CreatedAt)
	if err := row.setJSON("types", sub.Types); err != nil {
		return nil, err
	}
	if len(sub.HeaderNames) > 0 {
		if err := row.setJSON("header_names", sub.HeaderNames); err != nil {
			return nil, err
		}
	}
	return row, row.setJSON("secrets", sub.Secrets)
}
