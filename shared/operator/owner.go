package operator

import (
	"context"
	"errors"
	"fmt"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
)

// checkOwner wants an organisation that exists, or the zero tenant.
func (c *core) checkOwner(ctx context.Context, owner org.Tenant) error {
	if owner == (org.Tenant{}) {
		return nil
	}
	_, err := c.organisation(ctx, owner)
	return err
}

// ownerKey names an owner as catalog.CallbackOf wants it.
func ownerKey(owner org.Tenant) string {
	if owner == (org.Tenant{}) {
		return "*"
	}
	return owner.Key()
}

func ownerName(owner org.Tenant) string {
	if owner == (org.Tenant{}) {
		return "everybody"
	}
	return fmt.Sprintf("organisation %s in %s mode", owner.OrgID, owner.Mode)
}

// changed says what to do about a lost compare-and-swap.
func changed(what string, err error) error {
	if errors.Is(err, fault.Conflict) {
		return fault.New(fault.Conflict, fault.CodeUnavailable,
			fmt.Sprintf("Somebody else changed the %s at the same time, and nothing was saved. Look at it and try again.", what))
	}
	return fmt.Errorf("save %s: %w", what, err)
}

// refused is the answer to what cannot be done as things are.
func refused(public string) error { return fault.New(fault.Conflict, fault.CodeConflict, public) }
