// Package wiring builds the revokevault function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"recordbridge/functions/revokevault"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/config/awsparam"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/wiring/disconnector"
	"recordbridge/shared/wiring/edge"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.KeyedEnv
	disconnector.Env

	BaseURLParameter string `env:"BASE_URL_PARAMETER,required"`
}

// Build reads secrets and an SSM parameter, and returns the revokevault function's handler. Build is called once per
// cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewKeyed(ctx, env.KeyedEnv, p)
	if err != nil {
		return nil, err
	}
	baseURL, err := awsparam.Read(ctx, p.AWS, p.Now, env.BaseURLParameter)
	if err != nil {
		return nil, err
	}
	return lambdarun.HTTP(p.Logger, revokevault.New(revokevault.Deps{
		API: e.API, Auth: e.Auth,
		Revoker: attempt.Revoker{
			Persons: store.Connections{DB: e.DB, Table: env.ConnectionTable}, Issuer: identity.Simulated(baseURL).Issuer,
			Disconnector: disconnector.New(env.Env, p, e.DB),
		},
	})), nil
}
