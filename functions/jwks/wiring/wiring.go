// Package wiring builds the jwks function's handler and its adapters. The function's binary links only the adapters
// that this package imports.
package wiring

import (
	"context"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/functions/jwks"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/words/secret/jws"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.Env

	ClientKeys   []string `env:"CLIENT_KEYS"`            // key ARNs, signing keys first; may be empty
	ManifestKeys []string `env:"MANIFEST_KEYS,required"` // key ARNs, the signing key first
	FormerKeys   []string `env:"FORMER_MANIFEST_KEYS"`   // public keys of former manifest keys, as KMS returns them
	LimitSecret  string   `env:"LIMIT_SECRET,required"`
}

// Build reads a secret and returns the jwks function's handler. Build is called once per cold start. The handler reads
// the keys only when the first request arrives.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.New(ctx, env.Env, p, "jwks", env.LimitSecret)
	if err != nil {
		return nil, err
	}
	vault := awskms.NewFromConfig(p.AWS)
	return lambdarun.HTTP(p.Logger, jwks.New(jwks.Deps{
		API: e.API, Limiter: e.Limiter,
		Keys:      jws.NewKeyring(kms.ClientKeys(vault), env.ClientKeys),
		Manifests: jws.NewKeyring(kms.ManifestKeys(vault), env.ManifestKeys, env.FormerKeys...),
	})), nil
}
