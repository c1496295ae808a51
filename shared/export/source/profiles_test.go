package source_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

var errTrouble = errors.New("trouble on our side")

// directory implements the Connections, Endpoints and Platforms interfaces. Each field holds the error returned by the
// read of the same name.
type directory struct{ connection, endpoint, platform error }

func (d directory) Connection(context.Context, org.Tenant, string) (connection.Connection, error) {
	return connection.Connection{EndpointID: "e"}, d.connection
}

func (d directory) Endpoint(_ context.Context, id string) (catalog.Endpoint, error) {
	return catalog.Endpoint{FHIRBase: "https://" + id + ".example"}, d.endpoint
}

func (d directory) Asking(catalog.Endpoint) (plan.Profile, error) {
	return plan.Profile{Everything: true}, d.platform
}

func TestProfilesReturnsPlatformProfile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		directory directory
		want      plan.Profile
		err       error
	}{
		"known": {
			directory{},
			plan.Profile{Everything: true, Endpoint: "e", Base: "https://e.example"},
			nil,
		},
		"a connection that has gone":    {directory{connection: fault.Missing("gone")}, plan.Profile{}, nil},
		"an endpoint that has gone":     {directory{endpoint: fault.Missing("gone")}, plan.Profile{}, nil},
		"connections cannot be read":    {directory{connection: errTrouble}, plan.Profile{}, errTrouble},
		"the catalog cannot be read":    {directory{endpoint: errTrouble}, plan.Profile{}, errTrouble},
		"the profile cannot be applied": {directory{platform: errTrouble}, plan.Profile{}, errTrouble},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profiles := source.Profiles{Connections: c.directory, Endpoints: c.directory, Platforms: c.directory}
			got, err := profiles.Of(t.Context(), org.Tenant{}, "c")
			if diff := cmp.Diff(c.want, got); diff != "" || !errors.Is(err, c.err) {
				t.Errorf("error %v, profile (-want +got):\n%s", err, diff)
			}
		})
	}
}
