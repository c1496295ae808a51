// Package survey reads a health system's self-description for the operator who will pin it (shared/manage/operator). It
// trusts nothing, stores nothing, and is linked into operators' tools only, not into a function that serves patients.
package survey

import (
	"context"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/fhir"
	"recordbridge/shared/manage/operator"
)

// Servers implements operator.Servers.
type Servers struct {
	HTTP smart.Doer // client with the same guard as the functions
}

// Survey implements operator.Servers. A missing CapabilityStatement does not fail the survey: every export requests it
// again.
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
