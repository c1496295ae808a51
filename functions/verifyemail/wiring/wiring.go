// Package wiring builds the verifyemail function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"
	"crypto/rand"

	"recordbridge/functions/verifyemail"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.PublicEnv
}

// Build reads secrets and returns the verifyemail function's handler. Build is called once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewPublic(ctx, env.PublicEnv, p, "verifyemail")
	if err != nil {
		return nil, err
	}
	checker := verification.Checker{
		Store: store.Flow{DB: e.DB, Table: env.FlowTable}, Keys: e.Limiter.Hashing, Random: rand.Reader, Now: p.Now,
	}
	return lambdarun.HTTP(p.Logger, verifyemail.New(verifyemail.Deps{API: e.API, Auth: e.Auth, Codes: checker})), nil
}
