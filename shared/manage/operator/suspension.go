package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/manage/deletion"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Suspensions suspends and resumes organisations and removes suspended organisations.
type Suspensions struct {
	orgEditor

	rows        SuspensionRows
	connections ConnectionCheck
	deletions   DeletionReader
}

// SuspensionRows stores organisations and the rows that operators create for them.
type SuspensionRows interface {
	OrganisationSaver
	// RemoveOrganisation removes an organisation in both modes. It returns fault.Conflict if the organisation has
	// changed since it was read.
	RemoveOrganisation(ctx context.Context, o org.Organisation) error
	// Credentials returns a tenant's credentials.
	Credentials(ctx context.Context, tenant org.Tenant) ([]org.Credential, error)
	// Subscriptions returns a tenant's webhooks.
	Subscriptions(ctx context.Context, tenant org.Tenant) ([]webhook.Subscription, error)
	// Registrations returns the registrations of all owners.
	Registrations(ctx context.Context) ([]catalog.OwnedRegistration, error)
	// ClientAuths returns the clients of all owners.
	ClientAuths(ctx context.Context) ([]catalog.OwnedClient, error)
}

// ConnectionCheck reports whether a tenant has connections.
type ConnectionCheck interface {
	// HasConnections reports whether a tenant has ever had a connection.
	HasConnections(ctx context.Context, tenant org.Tenant) (bool, error)
}

// DeletionReader reads organisations' deletions. deletion.Requests implements it.
type DeletionReader interface {
	// Show returns an organisation's deletion. It returns fault.NotFound if the organisation has no deletion.
	Show(ctx context.Context, orgID string) (deletion.Deletion, error)
}

// NewSuspensions returns a Suspensions with the given dependencies.
func NewSuspensions(
	rows SuspensionRows, connections ConnectionCheck, deletions DeletionReader, by Journal,
) Suspensions {
	return Suspensions{
		orgEditor: orgEditor{saver: rows, by: by}, rows: rows, connections: connections, deletions: deletions,
	}
}

// Suspend suspends an organisation in both modes, effective within 30 seconds. Requests that use the organisation's
// keys or public IDs are rejected as if these did not exist. Operations in progress finish, connections are maintained,
// and events are delivered (docs/operate/ctl.md, "Stop and remove"). Suspend returns fault.NotFound or fault.Conflict
// on failure.
func (o Suspensions) Suspend(ctx context.Context, tenant org.Tenant) error {
	return o.setStatus(ctx, tenant, org.Inactive, "organisation.suspended")
}

// Resume reactivates a suspended organisation. It returns fault.NotFound or fault.Conflict on failure.
func (o Suspensions) Resume(ctx context.Context, tenant org.Tenant) error {
	deleting, err := o.isDeleting(ctx, tenant.OrgID)
	if err != nil {
		return err
	}
	if deleting {
		return refused("The organisation is being deleted.")
	}
	return o.setStatus(ctx, tenant, org.Active, "organisation.resumed")
}

// Remove removes a suspended organisation that owns no resources in either mode. It returns fault.NotFound if the
// organisation does not exist. It returns fault.Conflict if the organisation is active or still owns resources. The
// error lists the remaining items.
func (o Suspensions) Remove(ctx context.Context, tenant org.Tenant) error {
	found, err := findOrganisation(ctx, o.rows, tenant)
	if err != nil {
		return err
	}
	if found.Status != org.Inactive {
		return refused("The organisation is active. Suspend it first.")
	}
	left, err := o.left(ctx, found)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return refused(fmt.Sprintf("The organisation still has %s.", strings.Join(left, ", ")))
	}
	if err := o.rows.RemoveOrganisation(ctx, found); err != nil {
		return changed("organisation", err)
	}
	return o.by.record(ctx, tenant, "organisation.removed", tenant.OrgID)
}

func (o Suspensions) setStatus(ctx context.Context, tenant org.Tenant, status org.Status, action string) error {
	_, err := o.save(ctx, tenant, action, func(found *org.Organisation) error {
		if found.Status == status {
			return refused(fmt.Sprintf("The organisation is already %s.", status))
		}
		found.Status = status
		return nil
	})
	return err
}

// left describes the items that an organisation still owns in either mode.
func (o Suspensions) left(ctx context.Context, of org.Organisation) ([]string, error) {
	var left []string
	for _, tenant := range of.Tenants() {
		own, err := o.leftIn(ctx, tenant)
		if err != nil {
			return nil, err
		}
		left = append(left, own...)
	}
	registrations, err := o.rows.Registrations(ctx)
	if err != nil {
		return nil, fmt.Errorf("list registrations: %w", err)
	}
	clients, err := o.rows.ClientAuths(ctx)
	if err != nil {
		return nil, fmt.Errorf("list clients: %w", err)
	}
	for _, r := range registrations {
		if r.Owner.OrgID == of.ID {
			left = append(left, "the registration "+r.Registration.ClientID)
		}
	}
	for _, c := range clients {
		if c.Owner.OrgID == of.ID {
			left = append(left, "the client "+c.Auth.ID)
		}
	}
	return left, nil
}

func (o Suspensions) leftIn(ctx context.Context, tenant org.Tenant) ([]string, error) {
	credentials, err := o.rows.Credentials(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("list credentials: %w", err)
	}
	webhooks, err := o.rows.Subscriptions(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	connected, err := o.connections.HasConnections(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("look for connections: %w", err)
	}
	var left []string
	if len(credentials) > 0 {
		left = append(left, fmt.Sprintf("%d credentials in %s mode", len(credentials), tenant.Mode))
	}
	if len(webhooks) > 0 {
		left = append(left, fmt.Sprintf("%d webhooks in %s mode", len(webhooks), tenant.Mode))
	}
	if connected {
		left = append(left, fmt.Sprintf("connections in %s mode, which can't be removed", tenant.Mode))
	}
	return left, nil
}

// isDeleting reports whether an organisation's deletion can no longer be cancelled.
func (o Suspensions) isDeleting(ctx context.Context, orgID string) (bool, error) {
	d, err := o.deletions.Show(ctx, orgID)
	if errors.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil && !d.CanCancel(o.by.now()), err
}
