// Package wiring builds the authorizevault function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/authorizevault"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/wiring/edge"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.PublicEnv

	WorkTable     string `env:"WORK_TABLE,required"`
	TEFCAQueueURL string `env:"TEFCA_QUEUE_URL,required"`
}

// Build reads secrets and returns the authorizevault function's handler. Build is called once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewPublic(ctx, env.PublicEnv, p, "authorizevault")
	if err != nil {
		return nil, err
	}
	attempts := store.TEFCA{
		Flow: store.Flow{DB: e.DB, Table: env.FlowTable},
		Work: store.Work{DB: e.DB, Table: env.WorkTable},
	}
	return lambdarun.HTTP(p.Logger, authorizevault.New(authorizevault.Deps{
		API: e.API, Auth: e.Auth,
		Flows: attempt.Chooser{
			Watcher: attempt.Watcher{Store: attempts, Now: p.Now}, Store: attempts,
			Enqueuer: queue.NewAttempts(sqs.NewFromConfig(p.AWS), env.TEFCAQueueURL),
		},
	})), nil
}
