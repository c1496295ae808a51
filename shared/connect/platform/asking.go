package platform

import (
	"maps"
	"slices"

	"recordbridge/shared/catalog"
	"recordbridge/shared/fhir/plan"
)

// Asking implements source.Platforms. It returns the profile's fhir section with the endpoint's overrides applied. A
// Query value may refer to a token response field as {name}, which the caller replaces with the value from
// tokens.Set.Extra.
func (r Registry) Asking(endpoint catalog.Endpoint) (plan.Profile, error) {
	profile, err := r.Of(endpoint).With(endpoint.Overrides)
	if err != nil {
		return plan.Profile{}, err
	}
	asked := profile.FHIR
	asking := plan.Profile{
		Everything: asked.Everything, NoCount: slices.Clone(asked.NoCount), Needs: maps.Clone(asked.Needs),
		Ways:     maps.Clone(asked.Ways),
		OnceNext: asked.OnceNext, Query: maps.Clone(asked.Query), Headers: maps.Clone(asked.Headers),
		InFlight: asked.Rate.InFlight, PageSize: asked.PageSize, ByID: slices.Clone(asked.ByID),
	}
	for _, d := range asked.Denials {
		asking.Denials = append(asking.Denials, plan.Denial{Status: d.Status, Body: d.Body})
	}
	return asking, nil
}
