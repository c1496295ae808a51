// Package survey reads a health system's metadata for the operator who will pin the system's URLs
// (shared/manage/operator). The package neither trusts nor stores the metadata. Only operators' tools link this
// package, not the functions that serve patients.
package survey

import (
	"context"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/fhir"
	"recordbridge/shared/manage/operator"
)

// Servers implements operator.Servers.
type Servers struct {
	HTTP smart.Doer // client with the same network guard as production
}

// Survey implements operator.Servers. Survey succeeds even without a CapabilityStatement, because every export requests
// the statement again.
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
