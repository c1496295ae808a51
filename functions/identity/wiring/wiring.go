// Package wiring builds the identity function's handler and its adapters. The function's binary links only the adapters
// that this package imports.
package wiring

import (
	"context"
	"crypto/rand"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/functions/identity"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/identity/oidc"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/outbound"
	"recordbridge/shared/wiring/ownurls"
	"recordbridge/shared/wiring/portal"
	"recordbridge/shared/wiring/setting"
	"recordbridge/shared/words/ids"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.Env
	edge.LogEnv
	portal.ClientEnv
	setting.TEFCAEnv
	ownurls.URLEnv

	LimitSecret string `env:"LIMIT_SECRET,required"`
	WorkTable   string `env:"WORK_TABLE,required"`
}

// Build reads secrets and an SSM parameter, and returns the identity function's handler. Build is called once per cold
// start.
func Build(ctx context.Context, env Environment, p outbound.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewPublic(ctx, edge.PublicEnv{
		Env: env.Env, LogEnv: env.LogEnv, ControlTable: env.ControlTable, LimitSecret: env.LimitSecret,
	}, p.Process, "identity")
	if err != nil {
		return nil, err
	}
	baseURL, own, err := ownurls.Read(ctx, p.Process, env.URLEnv)
	if err != nil {
		return nil, err
	}
	e.Auth.Own = own
	settings, err := env.Settings(baseURL)
	if err != nil {
		return nil, err
	}
	keys, admission := awskms.NewFromConfig(p.AWS), attempt.Admission{Organisations: e.Organisations, Settings: settings}
	attempts := store.TEFCA{
		Flow: store.Flow{DB: e.DB, Table: env.FlowTable},
		Work: store.Work{DB: e.DB, Table: env.WorkTable},
	}
	return lambdarun.HTTP(p.Logger, identity.New(identity.Deps{
		API: e.API, Auth: e.Auth, Limiter: e.Limiter, BaseURL: baseURL,
		Flows: attempt.Creator{Admission: admission, Store: attempts, Now: p.Now, NewID: ids.Random, Random: rand.Reader},
		Windows: attempt.Starter{
			Admission: admission, Store: attempts, Party: oidc.NewRelyingParty(p.HTTP,
				portal.Clients(env.ClientEnv, p, e.DB, keys), p.Now),
			Sealer: kms.New(keys, kms.SecretsKey(env.SecretsKey), attempt.VerifierPurpose, p.Now), BaseURL: baseURL, Now: p.Now,
			Random: rand.Reader,
		},
	})), nil
}
