// Package starter wires what connect, reconnect and createattempt have in common: they begin an attempt for an
// organisation that a public id names, at a portal whose discovery they read. It links the Parameter Store, for
// our own base URL (ADR 7).
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

// Env is what they read of template.yaml.
type Env struct {
	edge.PublicEnv
	outbound.Env
	ownurls.URLEnv
}

// New makes what the attempts of a function with that edge are prepared with, and has e redirect nobody to the service
// itself. connections are those that reconnects begin for.
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
