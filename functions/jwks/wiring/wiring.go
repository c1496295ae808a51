// Package wiring chooses the adapters of the jwks function, and no others: what is not wired here is not linked.
// Production and tests run the same wiring; only the Process around it differs.
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

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	edge.Env

	ClientKeys  []string `env:"CLIENT_KEYS"` // ARNs, the signing ones first; none: the set is empty
	LimitSecret string   `env:"LIMIT_SECRET,required"`
}

// Build makes the function. It reads secrets, once per cold start; for the keys it asks with the
// first request, and only then.
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
