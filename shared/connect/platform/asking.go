package platform

import (
	"maps"
	"slices"

	"recordbridge/shared/catalog"
	"recordbridge/shared/fhir/plan"
)

// Asking implements source.Platforms: the section fhir of the profile, with the endpoint's own overrides. A value of
// Query may hold fields of the token answer as {name}: tokens.Set.Extra has them, and who asks fills them in.
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
