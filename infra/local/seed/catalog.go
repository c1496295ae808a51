package seed

import (
	"context"
	"fmt"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/sandbox"
	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/org"
)

// publish imports the institution lists for a new stack and publishes the test mode catalogue. Sandbox institutions use
// their platform's client registration.
func publish(ctx context.Context, o *wiring.Operator, to Options) error {
	lists := to.Catalog.Lists(to.BaseURL + "/sandbox")
	if len(lists) == 0 {
		return nil
	}
	for _, list := range lists {
		if _, err := o.CatalogSources.Set(ctx, list.ID, func(source *intake.Source) { *source = list.Source }); err != nil {
			return fmt.Errorf("seed the source %s: %w", list.ID, err)
		}
		row, outcome, err := o.CatalogSources.Import(ctx, list.ID, list.Body)
		if err != nil {
			return fmt.Errorf("seed the list %s: %w", list.ID, err)
		}
		if outcome != intake.Accepted {
			return fmt.Errorf("seed the list %s: it is %s (%s %v)", list.ID, outcome, row.State.Reason, row.State.Guards)
		}
	}
	place := catalog.Place{Mode: string(org.Test), PlatformType: "sandbox"}
	if _, err := o.Registrations.Set(ctx, org.Tenant{}, place,
		operator.Change{ClientID: new(sandbox.DefaultClientID), Scope: new(scope)}); err != nil {
		return fmt.Errorf("seed the registration of the sandbox's institutions: %w", err)
	}
	if _, err := o.Catalog.Publish(ctx, place.Mode, false); err != nil {
		return fmt.Errorf("seed the catalogue: %w", err)
	}
	return nil
}
