// Package wiring builds the getattempt function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"recordbridge/functions/getattempt"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.PublicEnv
}

// Build reads secrets and returns the getattempt function's handler. Build is called once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewPublic(ctx, env.PublicEnv, p, "getattempt")
	if err != nil {
		return nil, err
	}
	return lambdarun.HTTP(p.Logger, getattempt.New(getattempt.Deps{
		API: e.API, Auth: e.Auth, Flows: flow.Watcher{Attempts: store.Flow{DB: e.DB, Table: env.FlowTable}, Now: p.Now},
	})), nil
}
