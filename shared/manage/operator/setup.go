package operator

import (
	"context"
	"fmt"

	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/org"
)

// Setup reads a tenant's setup progress.
type Setup struct {
	rows        SetupRows
	connections ConnectionCheck
	exports     TaskLister
	log         DeliverySearch
}

// SetupRows lists a tenant's credentials and webhooks.
type SetupRows interface {
	// Credentials returns a tenant's credentials.
	Credentials(ctx context.Context, tenant org.Tenant) ([]org.Credential, error)
	// Subscriptions returns a tenant's webhooks with their health.
	Subscriptions(ctx context.Context, tenant org.Tenant) ([]webhook.Subscription, error)
}

// Progress holds a tenant's setup progress.
type Progress struct {
	Credentials  []org.Credential
	Webhooks     []webhook.Subscription
	HasDelivered bool // a receiver has accepted a delivery
	HasConnected bool // a patient has, or previously had, a connection
	HasExported  bool // an export was requested
}

// NewSetup returns a Setup with the given dependencies.
func NewSetup(rows SetupRows, connections ConnectionCheck, exports TaskLister, log DeliverySearch) Setup {
	return Setup{rows: rows, connections: connections, exports: exports, log: log}
}

// Show returns a tenant's setup progress.
func (o Setup) Show(ctx context.Context, tenant org.Tenant) (Progress, error) {
	var p Progress
	var err error
	if p.Credentials, err = o.rows.Credentials(ctx, tenant); err != nil {
		return Progress{}, fmt.Errorf("list credentials: %w", err)
	}
	if p.Webhooks, err = o.rows.Subscriptions(ctx, tenant); err != nil {
		return Progress{}, fmt.Errorf("list webhooks: %w", err)
	}
	delivered, err := o.log.Search(ctx, tenant, deliverylog.Query{Status: webhook.Delivered, Limit: 1})
	if err != nil {
		return Progress{}, fmt.Errorf("look for a delivery: %w", err)
	}
	p.HasDelivered = len(delivered.Entries) > 0
	if p.HasConnected, err = o.connections.HasConnections(ctx, tenant); err != nil {
		return Progress{}, fmt.Errorf("look for connections: %w", err)
	}
	exports, _, err := o.exports.TasksBefore(ctx, tenant, "", 1)
	if err != nil {
		return Progress{}, fmt.Errorf("list exports: %w", err)
	}
	p.HasExported = len(exports) > 0
	return p, nil
}
