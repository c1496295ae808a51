// Package wiring builds the identitycallback function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/identitycallback"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/config/awsparam"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/identity/oidc"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/outbound"
	"recordbridge/shared/wiring/portal"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.Env
	edge.LogEnv
	portal.ClientEnv

	LimitSecret      string `env:"LIMIT_SECRET,required"`
	WorkTable        string `env:"WORK_TABLE,required"`
	TokensKey        string `env:"TOKENS_KEY,required"`
	TEFCAQueueURL    string `env:"TEFCA_QUEUE_URL,required"`
	BaseURLParameter string `env:"BASE_URL_PARAMETER,required"`
}

// Build reads secrets and an SSM parameter, and returns the identitycallback function's handler. Build is called once
// per cold start.
func Build(ctx context.Context, env Environment, p outbound.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.New(ctx, env.Env, p.Process, "identitycallback", env.LimitSecret)
	if err != nil {
		return nil, err
	}
	baseURL, err := awsparam.Read(ctx, p.AWS, p.Now, env.BaseURLParameter)
	if err != nil {
		return nil, err
	}
	keys := awskms.NewFromConfig(p.AWS)
	return lambdarun.HTTP(p.Logger, identitycallback.New(identitycallback.Deps{
		API: e.API, Limiter: e.Limiter, Cookies: httpapi.CookiesAt(baseURL),
		Flows: attempt.Completer{
			Store: store.TEFCA{
				Flow: store.Flow{DB: e.DB, Table: env.FlowTable},
				Work: store.Work{DB: e.DB, Table: env.WorkTable},
			},
			Party:      oidc.NewRelyingParty(p.HTTP, portal.Clients(env.ClientEnv, p, e.DB, keys), p.Now),
			Verifiers:  kms.New(keys, kms.SecretsKey(env.SecretsKey), attempt.VerifierPurpose, p.Now),
			Assertions: kms.New(keys, kms.TokensKey(env.TokensKey), attempt.AssertionPurpose, p.Now),
			Enqueuer:   queue.NewAttempts(sqs.NewFromConfig(p.AWS), env.TEFCAQueueURL),
			SignIns:    env.Recorder(e.DB, e.Limiter.Hashing), Now: p.Now,
		},
	})), nil
}
