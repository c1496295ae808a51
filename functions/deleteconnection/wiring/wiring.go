// Package wiring builds the deleteconnection function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"recordbridge/functions/deleteconnection"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/disconnector"
	"recordbridge/shared/wiring/edge"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.KeyedEnv
	disconnector.Env
}

// Build reads secrets and returns the deleteconnection function's handler. Build is called once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewKeyed(ctx, env.KeyedEnv, p)
	if err != nil {
		return nil, err
	}
	return lambdarun.HTTP(p.Logger, deleteconnection.New(deleteconnection.Deps{
		API: e.API, Auth: e.Auth, Disconnector: disconnector.New(env.Env, p, e.DB),
	})), nil
}
