package operator

import (
	"context"
	"errors"
	"fmt"

	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Log searches webhook delivery logs and shows single deliveries.
type Log struct{ rows DeliveryLog }

// DeliverySearch searches delivery logs. deliverylog.Log implements it.
type DeliverySearch interface {
	Search(ctx context.Context, tenant org.Tenant, q deliverylog.Query) (deliverylog.Page, error)
}

// DeliveryLog reads delivery logs. deliverylog.Details implements it.
type DeliveryLog interface {
	DeliverySearch
	// Show returns a delivery with its attempts. It returns fault.NotFound if the delivery does not exist.
	Show(ctx context.Context, tenant org.Tenant, id string) (deliverylog.Detail, error)
}

// NewLog returns a Log with the given dependencies.
func NewLog(rows DeliveryLog) Log { return Log{rows: rows} }

// Search searches a tenant's delivery log and returns the newest deliveries first. It returns fault.Invalid for an
// invalid query.
func (o Log) Search(ctx context.Context, tenant org.Tenant, q deliverylog.Query) (deliverylog.Page, error) {
	page, err := o.rows.Search(ctx, tenant, q)
	if err != nil {
		return deliverylog.Page{}, fmt.Errorf("search deliveries: %w", err)
	}
	return page, nil
}

// Show returns a delivery with its attempts. It returns fault.NotFound if the delivery does not exist.
func (o Log) Show(ctx context.Context, tenant org.Tenant, id string) (deliverylog.Detail, error) {
	detail, err := o.rows.Show(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) {
		return deliverylog.Detail{}, fault.Missing(
			fmt.Sprintf("Delivery %q not found for %s.", id, ownerName(tenant))).About("delivery")
	}
	if err != nil {
		return deliverylog.Detail{}, fmt.Errorf("read delivery: %w", err)
	}
	return detail, nil
}
