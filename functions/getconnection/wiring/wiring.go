// Package wiring chooses the adapters of the getconnection function, and no others: what is not wired here is not
// linked. Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"

	"recordbridge/functions/getconnection"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	edge.KeyedEnv

	ConnectionTable string `env:"CONNECTION_TABLE,required"`
}

// Build makes the function. It reads secrets, once per cold start.
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
