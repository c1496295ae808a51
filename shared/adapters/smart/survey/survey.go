// Package survey reads a health system's self-description for the operator who will pin the system's URLs
// (shared/manage/operator). The package doesn't trust or store any of the data. Operators' tools link this package, but
// functions that serve patients don't.
package survey

import (
	"context"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/fhir"
	"recordbridge/shared/manage/operator"
)

// Servers implements operator.Servers.
type Servers struct {
	HTTP smart.Doer // client with the same guard as the functions' clients
}

// Survey implements operator.Servers. The survey succeeds even without a CapabilityStatement, because every export
// requests the statement again.
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
