// Package survey asks a health system's server what it says of itself, for the operator who is to pin it
// (shared/manage/operator). It believes nothing, keeps nothing, and is linked where operators work, in no
// function that serves patients.
package survey

import (
	"context"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/fhir"
	"recordbridge/shared/manage/operator"
)

// Servers implements operator.Servers.
type Servers struct {
	HTTP smart.Doer // with the guard that the functions have
}

// Survey implements operator.Servers. A server without a CapabilityStatement that can be read has a survey all the
// same: it is asked for again whenever somebody exports.
func (s Servers) Survey(ctx context.Context, base string) (operator.Survey, error) {
	found, err := smart.Discover(ctx, s.HTTP, base)
	if err != nil {
		return operator.Survey{}, err
	}
	seen := operator.Survey{Addresses: found.Addresses(), Methods: found.Methods, Algorithms: found.Algorithms}
	metadata, err := smart.Metadata(ctx, s.HTTP, base)
	if err != nil {
		return seen, nil //nolint:nilerr // see above
	}
	if capability, err := fhir.ParseCapability(metadata); err == nil {
		seen.Software = capability.Software
	}
	return seen, nil
}
