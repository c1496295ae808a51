// Package wiring chooses the adapters of the getattempt function, and no others: what is not wired here is not linked.
// Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"

	"recordbridge/functions/getattempt"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	edge.PublicEnv
}

// Build makes the function. It reads secrets, once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewPublic(ctx, env.PublicEnv, p, "getattempt")
	if err != nil {
		return nil, err
	}
	return lambdarun.HTTP(p.Logger, getattempt.New(getattempt.Deps{
		API: e.API, Auth: e.Auth, Flows: flow.Watcher{Attempts: store.Flow{DB: e.DB, Table: env.FlowTable}, Now: p.Now},
	})), nil
}
