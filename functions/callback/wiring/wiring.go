// Package wiring builds the callback function's handler and its adapters. The function's binary links only the adapters
// that this package imports.
package wiring

import (
	"context"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/callback"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/outbound"
	"recordbridge/shared/wiring/ownurls"
	"recordbridge/shared/wiring/portal"
	"recordbridge/shared/words/ids"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.Env
	edge.LogEnv
	portal.ClientEnv
	ownurls.URLEnv

	ConnectionTable  string `env:"CONNECTION_TABLE,required"`
	TokensTable      string `env:"TOKENS_TABLE,required"`
	WorkTable        string `env:"WORK_TABLE,required"`
	KeyHashingSecret string `env:"KEY_HASHING_SECRET,required"`
	TokensKey        string `env:"TOKENS_KEY,required"`
	DeliveryQueueURL string `env:"DELIVERY_QUEUE_URL,required"`
}

// Build reads secrets and an SSM parameter, and returns the callback function's handler. Build is called once per cold
// start.
func Build(ctx context.Context, env Environment, p outbound.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.New(ctx, env.Env, p.Process, "callback", env.KeyHashingSecret)
	if err != nil {
		return nil, err
	}
	baseURL, own, err := ownurls.Read(ctx, p.Process, env.URLEnv)
	if err != nil {
		return nil, err
	}
	keys := awskms.NewFromConfig(p.AWS)
	connections := store.Connections{DB: e.DB, Table: env.ConnectionTable}
	attempts := store.NewConclusions(
		store.Flow{DB: e.DB, Table: env.FlowTable}, connections,
		store.Tokens{DB: e.DB, Table: env.TokensTable}, store.Events{DB: e.DB, Table: env.WorkTable},
	)
	return lambdarun.HTTP(p.Logger, callback.New(callback.Deps{
		API: e.API, Limiter: e.Limiter, Cookies: httpapi.CookiesAt(baseURL),
		Flows: flow.Completer{
			Store:       attempts,
			Connections: connections,
			Portal:      portal.New(env.ClientEnv, p, e.DB, keys),
			Sealer:      kms.New(keys, kms.SecretsKey(env.SecretsKey), flow.VerifierPurpose, p.Now),
			Vault:       tokens.Vault{Sealer: kms.New(keys, kms.TokensKey(env.TokensKey), tokens.Purpose, p.Now)},
			Hashing:     e.Limiter.Hashing,
			Enqueuer:    queue.NewDeliveries(sqs.NewFromConfig(p.AWS), env.DeliveryQueueURL),
			SignIns:     env.Recorder(e.DB, e.Limiter.Hashing),
			BaseURL:     baseURL, Own: own, Now: p.Now, NewID: ids.Random,
		},
	})), nil
}
