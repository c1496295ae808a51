// Package wiring builds the createattempt function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"recordbridge/functions/createattempt"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/outbound"
	"recordbridge/shared/wiring/starter"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	starter.Env

	ConnectionTable string `env:"CONNECTION_TABLE,required"`
}

// Build reads secrets and an SSM parameter, and returns the createattempt function's handler. Build is called once per
// cold start.
func Build(ctx context.Context, env Environment, p outbound.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewPublic(ctx, env.PublicEnv, p.Process, "createattempt")
	if err != nil {
		return nil, err
	}
	preparation, err := starter.New(ctx, env.Env, p, &e, store.Connections{DB: e.DB, Table: env.ConnectionTable})
	if err != nil {
		return nil, err
	}
	flows := flow.Creator{Preparation: preparation, Store: store.Flow{DB: e.DB, Table: env.FlowTable}}
	deps := createattempt.Deps{API: e.API, Auth: e.Auth, BaseURL: preparation.BaseURL, Flows: flows}
	return lambdarun.HTTP(p.Logger, createattempt.New(deps)), nil
}
