package edge

import (
	"context"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/words/org"
)

// KeyedEnv holds the environment variables of endpoints with Basic authentication, as set in template.yaml.
type KeyedEnv struct {
	Env
	LogEnv

	ControlTable     string `env:"CONTROL_TABLE,required"`
	KeyHashingSecret string `env:"KEY_HASHING_SECRET,required"`
}

// Keyed holds the dependencies of an endpoint that organisations' backends call.
type Keyed struct {
	Edge

	Auth httpapi.KeyAuth
}

// NewKeyed returns a Keyed. All endpoints that require a key share one rate limit per caller.
func NewKeyed(ctx context.Context, env KeyedEnv, p lambdarun.Process) (Keyed, error) {
	e, err := logged(ctx, env.Env, env.LogEnv, p, "keyed", env.KeyHashingSecret)
	if err != nil {
		return Keyed{}, err
	}
	known := store.NewDirectory(store.Control{DB: e.DB, Table: env.ControlTable})
	callers := org.NewAuthenticator(known, e.Limiter.Hashing, p.Now)
	return Keyed{Edge: e, Auth: httpapi.KeyAuth{Keys: callers, Limiter: e.Limiter}}, nil
}
