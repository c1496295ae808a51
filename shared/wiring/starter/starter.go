// Package starter wires the common parts of connect, reconnect and createattempt: they begin an attempt for the
// organisation of a public id, at a portal whose discovery document they read. It links the Parameter Store, for the
// service's base URL (ADR 7).
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

// Env holds these functions' environment variables, as set in template.yaml.
type Env struct {
	edge.PublicEnv
	outbound.Env
	ownurls.URLEnv
}

// New returns the dependencies for preparing attempts of a function with the edge e, and makes e refuse redirects to
// the service itself. connections are the existing ones that a reconnect starts from.
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
