// Package wiring chooses the adapters of the deleteconnection function, and no others: what is not wired here is not
// linked. Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"

	"recordbridge/functions/deleteconnection"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/disconnector"
	"recordbridge/shared/wiring/edge"
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	edge.KeyedEnv
	disconnector.Env
}

// Build makes the function. It reads secrets, once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewKeyed(ctx, env.KeyedEnv, p)
	if err != nil {
		return nil, err
	}
	return lambdarun.HTTP(p.Logger, deleteconnection.New(deleteconnection.Deps{
		API: e.API, Auth: e.Auth, Disconnector: disconnector.New(env.Env, p, e.DB),
	})), nil
}
