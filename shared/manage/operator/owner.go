package operator

import (
	"context"
	"errors"
	"fmt"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// OrganisationReader reads organisations.
type OrganisationReader interface {
	// Organisation reads an organisation. It returns fault.NotFound if the organisation does not exist.
	Organisation(ctx context.Context, tenant org.Tenant) (org.Organisation, error)
}

// TenantLister lists every organisation's tenants.
type TenantLister interface {
	Tenants(ctx context.Context) ([]org.Tenant, error)
}

func findOrganisation(ctx context.Context, rows OrganisationReader, tenant org.Tenant) (org.Organisation, error) {
	found, err := rows.Organisation(ctx, tenant)
	if errors.Is(err, fault.NotFound) {
		return org.Organisation{}, fault.Missing(fmt.Sprintf("Organisation %s not found.", tenant.OrgID)).About("org")
	}
	if err != nil {
		return org.Organisation{}, fmt.Errorf("read organisation: %w", err)
	}
	return found, nil
}

// checkOwner returns fault.NotFound unless owner is an existing organisation or the zero tenant.
func checkOwner(ctx context.Context, rows OrganisationReader, owner org.Tenant) error {
	if owner == (org.Tenant{}) {
		return nil
	}
	_, err := findOrganisation(ctx, rows, owner)
	return err
}

// ownerKey returns the key that identifies an owner in catalog.CallbackOf.
func ownerKey(owner org.Tenant) string {
	if owner == (org.Tenant{}) {
		return "*"
	}
	return owner.Key()
}

func ownerName(owner org.Tenant) string {
	if owner == (org.Tenant{}) {
		return "all organisations"
	}
	return fmt.Sprintf("organisation %s in %s mode", owner.OrgID, owner.Mode)
}

// changed replaces a write conflict with an error that explains the conflict to the caller.
func changed(what string, err error) error {
	if errors.Is(err, fault.Conflict) {
		return fault.New(fault.Conflict, fault.CodeUnavailable,
			fmt.Sprintf("The %s changed at the same time, so nothing was saved. Review it and try again.", what))
	}
	return fmt.Errorf("save %s: %w", what, err)
}

// refused returns the error for an operation that the current state does not allow.
func refused(public string) error { return fault.New(fault.Conflict, fault.CodeConflict, public) }
