// Package wiring connects the getconnection function to its adapters. The function links only those imported here.
// Production and tests run the same wiring; only the Process differs.
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

// Build returns the function's handler. It reads secrets, once per cold start.
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
