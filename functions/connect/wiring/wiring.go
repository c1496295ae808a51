// Package wiring builds the connect function's handler and its adapters. The function's binary links only the adapters
// that this package imports.
package wiring

import (
	"context"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/functions/connect"
	"recordbridge/shared/adapters/kms"
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

	SecretsKey string `env:"SECRETS_KEY,required"`
}

// Build reads secrets and an SSM parameter, and returns the connect function's handler. Build is called once per cold
// start.
func Build(ctx context.Context, env Environment, p outbound.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewPublic(ctx, env.PublicEnv, p.Process, "connect")
	if err != nil {
		return nil, err
	}
	preparation, err := starter.New(ctx, env.Env, p, &e, flow.NoConnections{})
	if err != nil {
		return nil, err
	}
	flows := flow.Starter{
		Preparation: preparation, Store: store.Flow{DB: e.DB, Table: env.FlowTable},
		Sealer: kms.New(awskms.NewFromConfig(p.AWS), kms.SecretsKey(env.SecretsKey), flow.VerifierPurpose, p.Now),
	}
	deps := connect.Deps{API: e.API, Auth: e.Auth, Limiter: e.Limiter, Flows: flows, BaseURL: preparation.BaseURL}
	return lambdarun.HTTP(p.Logger, connect.New(deps)), nil
}
