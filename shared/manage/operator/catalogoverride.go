package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// CatalogOverrides changes operators' overrides of catalogue sources. Overrides persist across imports and take effect
// with the next publication.
type CatalogOverrides struct {
	rows    OverrideRows
	catalog Catalog
	by      Journal
}

// OverrideRows stores operators' overrides of the catalogue.
type OverrideRows interface {
	// Overrides returns all overrides in a mode.
	Overrides(ctx context.Context, mode string) ([]ledger.Override, error)
	// PutOverride stores an override. It returns fault.Conflict if the same override already exists.
	PutOverride(ctx context.Context, mode string, o ledger.Override) error
	// DropOverride removes an override. It returns fault.Conflict if the override does not exist.
	DropOverride(ctx context.Context, mode string, o ledger.Override) error
}

// NewCatalogOverrides returns a CatalogOverrides with the given dependencies.
func NewCatalogOverrides(rows OverrideRows, of Catalog, by Journal) CatalogOverrides {
	return CatalogOverrides{rows: rows, catalog: of, by: by}
}

// Hide removes an institution from search results. The institution can still be looked up by ID. The error is
// fault.Invalid, fault.NotFound or fault.Conflict.
func (o CatalogOverrides) Hide(ctx context.Context, mode, brand string) error {
	if err := o.drop(ctx, mode, ledger.Override{Kind: ledger.Show, ID: brand}); err != nil {
		return err
	}
	return o.putBrandOverride(ctx, mode, ledger.Override{Kind: ledger.Hide, ID: brand}, "catalog.hidden")
}

// Unhide makes an institution visible in search results again after an operator or its list has hidden it. It returns
// the same errors as Hide.
func (o CatalogOverrides) Unhide(ctx context.Context, mode, brand string) error {
	if err := o.drop(ctx, mode, ledger.Override{Kind: ledger.Hide, ID: brand}); err != nil {
		return err
	}
	return o.putBrandOverride(ctx, mode, ledger.Override{Kind: ledger.Show, ID: brand}, "catalog.unhidden")
}

// Merge merges the institution brand into the institution into. After the merge, brand's ID resolves to into. It
// returns the same errors as Hide.
func (o CatalogOverrides) Merge(ctx context.Context, mode, brand, into string) error {
	if brand == into {
		return fault.BadRequest("An institution can't be merged into itself.").About("merge-into")
	}
	found, err := o.catalog.Show(ctx, mode, into)
	if at := fault.Of(err); err != nil && at.Field == "id" {
		return fault.New(at.Kind, at.Code, at.Public).About("merge-into")
	}
	if err != nil {
		return err
	}
	if found.Brand == nil {
		return fault.BadRequest("Only institutions can be merged; this is not an institution.").About("merge-into")
	}
	if found.Brand.ID == brand {
		return fault.BadRequest("That institution was already merged into this one.").About("merge-into")
	}
	return o.putBrandOverride(ctx, mode,
		ledger.Override{Kind: ledger.Merge, ID: brand, Value: found.Brand.ID}, "catalog.merged")
}

// Unmerge reverts the merge of an institution. It returns the same errors as Hide.
func (o CatalogOverrides) Unmerge(ctx context.Context, mode, brand string) error {
	return o.dropBrandOverride(ctx, mode, ledger.Override{Kind: ledger.Merge, ID: brand}, "catalog.unmerged")
}

// AddAlias makes an institution searchable by an additional name. It returns the same errors as Hide.
func (o CatalogOverrides) AddAlias(ctx context.Context, mode, brand, alias string) error {
	if alias = strings.TrimSpace(alias); alias == "" || len(alias) > longestName {
		return fault.BadRequest(fmt.Sprintf("A name must have 1 to %d bytes.", longestName)).About("alias")
	}
	return o.putBrandOverride(ctx, mode,
		ledger.Override{Kind: ledger.Alias, ID: brand, Value: alias}, "catalog.alias_added")
}

// RemoveAlias removes a name that AddAlias added. It returns the same errors as Hide.
func (o CatalogOverrides) RemoveAlias(ctx context.Context, mode, brand, alias string) error {
	return o.dropBrandOverride(ctx, mode, ledger.Override{Kind: ledger.Alias, ID: brand, Value: strings.TrimSpace(alias)},
		"catalog.alias_removed")
}

// Rename replaces an institution's name from the lists. An empty name restores the name from the lists. Rename returns
// the same errors as Hide.
func (o CatalogOverrides) Rename(ctx context.Context, mode, brand, name string) error {
	if name != "" && strings.TrimSpace(name) == "" {
		return fault.BadRequest("A name can't be blank.").About("name")
	}
	override := ledger.Override{Kind: ledger.Name, ID: brand, Value: name}
	switch {
	case len(name) > longestName:
		return fault.BadRequest(fmt.Sprintf("A name must have 1 to %d bytes.", longestName)).About("name")
	case name == "":
		return o.dropBrandOverride(ctx, mode, override, "catalog.name_restored")
	}
	return o.putBrandOverride(ctx, mode, override, "catalog.renamed")
}

// longestName is the maximum length, in bytes, of a name that an operator chooses.
const longestName = 200

// putBrandOverride stores an override of an existing institution.
func (o CatalogOverrides) putBrandOverride(
	ctx context.Context, mode string, override ledger.Override, action string,
) error {
	found, err := o.catalog.Show(ctx, mode, override.ID)
	if err != nil {
		return err
	}
	if found.Brand == nil || !strings.EqualFold(found.Brand.ID, override.ID) {
		return fault.BadRequest(
			"Not the ID of a current institution (brand). To find one, run catalog search.").About("id")
	}
	override.ID = found.Brand.ID
	err = o.rows.PutOverride(ctx, mode, override)
	if errors.Is(err, fault.Conflict) {
		return refused("This decision already exists. It takes effect with the next publication: catalog publish.")
	}
	if err != nil {
		return fmt.Errorf("save override: %w", err)
	}
	return o.by.record(ctx, org.Tenant{}, action, mode+" "+override.ID)
}

// dropBrandOverride removes an override of an institution.
func (o CatalogOverrides) dropBrandOverride(
	ctx context.Context, mode string, override ledger.Override, action string,
) error {
	if err := checkMode(mode); err != nil {
		return err
	}
	id, ok := ids.ParseUUID(override.ID)
	if !ok {
		return fault.BadRequest("A record's ID must be a UUID.").About("id")
	}
	override.ID = id
	err := o.rows.DropOverride(ctx, mode, override)
	if errors.Is(err, fault.Conflict) {
		return fault.Missing("There is no such operator decision. To list the decisions, run catalog " +
			"report.").About("id")
	}
	if err != nil {
		return fmt.Errorf("take the override back: %w", err)
	}
	return o.by.record(ctx, org.Tenant{}, action, mode+" "+id)
}

// drop removes the overrides that the new override contradicts.
func (o CatalogOverrides) drop(ctx context.Context, mode string, override ledger.Override) error {
	err := checkMode(mode)
	if err == nil {
		err = o.rows.DropOverride(ctx, mode, override)
	}
	if errors.Is(err, fault.Conflict) {
		return nil
	}
	return err
}
