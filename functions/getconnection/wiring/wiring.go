// Package wiring builds the getconnection function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"recordbridge/functions/getconnection"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.KeyedEnv

	ConnectionTable string `env:"CONNECTION_TABLE,required"`
}

// Build reads secrets and returns the getconnection function's handler. Build is called once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewKeyed(ctx, env.KeyedEnv, p)
	if err != nil {
		return nil, err
	}
	deps := getconnection.Deps{
		API: e.API, Auth: e.Auth,
		Connections: store.Connections{DB: e.DB, Table: env.ConnectionTable},
	}
	return lambdarun.HTTP(p.Logger, getconnection.New(deps)), nil
}
