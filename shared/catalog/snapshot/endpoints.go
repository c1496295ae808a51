package snapshot

import (
	"context"
	"errors"

	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/record"
)

// Endpoints returns a version's endpoints with their FHIR bases, without reading the version's other records. It
// returns fault.NotFound if the version does not exist.
func (s Snapshots) Endpoints(ctx context.Context, mode string, v ledger.Version) (map[string]record.Endpoint, error) {
	var all map[string]record.Endpoint
	var addresses map[string]string
	err := errors.Join(read(ctx, s, Key(mode, v, Endpoints), &all), read(ctx, s, Key(mode, v, bases), &addresses))
	for id, e := range all {
		e.FHIRBase = addresses[id]
		all[id] = e
	}
	return all, err
}
