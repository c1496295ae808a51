// Package wiring connects the jwks function to its adapters. The function links only those imported here. Production
// and tests run the same wiring; only the Process differs.
package wiring

import (
	"context"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/functions/jwks"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/smart/clientauth"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.Env

	ClientKeys  []string `env:"CLIENT_KEYS"` // ARNs, the signing keys first; if empty, the set is empty
	LimitSecret string   `env:"LIMIT_SECRET,required"`
}

// Build returns the function's handler. It reads secrets once per cold start, and the keys only with the first request.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.New(ctx, env.Env, p, "jwks", env.LimitSecret)
	if err != nil {
		return nil, err
	}
	return lambdarun.HTTP(p.Logger, jwks.New(jwks.Deps{
		API: e.API, Limiter: e.Limiter,
		Keys: clientauth.NewKeyring(kms.SigningKeys{Client: awskms.NewFromConfig(p.AWS)}, env.ClientKeys),
	})), nil
}
