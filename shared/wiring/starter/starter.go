// Package starter wires the parts shared by connect, reconnect and createattempt. These functions start an attempt for
// an organisation identified by its public ID, and fetch the discovery document of the attempt's portal. The package
// links code that reads the Parameter Store, which contains the service's base URL (ADR 7).
package starter

import (
	"context"
	"crypto/rand"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/outbound"
	"recordbridge/shared/wiring/ownurls"
	"recordbridge/shared/words/ids"
)

// Env holds the environment variables of functions that start attempts, as set in template.yaml.
type Env struct {
	edge.PublicEnv
	outbound.Env
	ownurls.URLEnv
}

// New returns the dependencies for starting attempts in a function with the edge e. New also makes e reject redirect
// URIs that point to the service itself. connections holds the existing connections from which a reconnect can start.
func New(ctx context.Context, env Env, p outbound.Process, e *edge.Public,
	connections flow.Connections,
) (flow.Preparation, error) {
	baseURL, own, err := ownurls.Read(ctx, p.Process, env.URLEnv)
	if err != nil {
		return flow.Preparation{}, err
	}
	e.Auth.Own = own
	platforms, err := platform.NewRegistry()
	if err != nil {
		return flow.Preparation{}, err
	}
	return flow.Preparation{
		Catalog: e.Portals, Connections: connections, Portal: smart.NewAuthorizer(p.HTTP, rand.Reader, p.Now),
		Platforms: platforms, BaseURL: baseURL, Now: p.Now, NewID: ids.Random, Random: rand.Reader,
	}, nil
}
