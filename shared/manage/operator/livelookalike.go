package operator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"recordbridge/shared/catalog/lookalike"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Alike describes an organisation or a catalogue institution that resembles a given organisation.
type Alike struct {
	OrgID   string   // ID of the organisation; empty for an institution
	BrandID string   // ID of the institution; empty for an organisation
	Mode    org.Mode // catalogue mode; empty for an organisation
	Name    string
	Ways    []string // similarities as returned by lookalike.Comparer.Alike
}

// known describes an organisation or institution to compare with others.
type known struct {
	Alike

	face lookalike.Face
}

// alike returns the other organisations and institutions that resemble the given organisation.
func alike(of org.Organisation, all []known) []Alike {
	comparer := lookalike.NewComparer(faceOf(of))
	found := []Alike{}
	for _, other := range all {
		if other.OrgID == of.ID {
			continue
		}
		if other.Ways = comparer.Alike(other.face); len(other.Ways) > 0 {
			found = append(found, other.Alike)
		}
	}
	return found
}

func faceOf(o org.Organisation) lookalike.Face {
	return lookalike.Face{Names: []string{o.Name}, Site: o.WebsiteURI, Logo: o.LogoURI}
}

// faces returns every organisation, regardless of its stage, and the brands that patients see in either mode.
func (o LiveReviews) faces(ctx context.Context) ([]known, error) {
	listed, err := listOrganisations(ctx, o.rows)
	if err != nil {
		return nil, err
	}
	var all []known
	for _, l := range listed {
		if l.Tenant.Mode == org.Live {
			all = append(all, known{Alike{OrgID: l.Organisation.ID, Name: l.Organisation.Name}, faceOf(l.Organisation)})
		}
	}
	for _, mode := range []org.Mode{org.Test, org.Live} {
		brands, err := o.brandFaces(ctx, mode)
		if err != nil {
			return nil, err
		}
		all = append(all, brands...)
	}
	return all, nil
}

// brandFaces returns the published brands of a mode, or no brands before the first publication.
func (o LiveReviews) brandFaces(ctx context.Context, mode org.Mode) ([]known, error) {
	catalogue, err := o.catalog.published(ctx, string(mode))
	if errors.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the %s catalogue: %w", mode, err)
	}
	var all []known
	for _, id := range slices.Sorted(maps.Keys(catalogue.Brands)) {
		if b := catalogue.Brands[id]; b.RemovedAt == nil {
			face := lookalike.Face{Names: append([]string{b.Name}, b.Aliases...), Site: b.BrandWebsite, Logo: b.LogoURI}
			all = append(all, known{Alike{BrandID: b.ID, Mode: mode, Name: b.Name}, face})
		}
	}
	return all, nil
}
