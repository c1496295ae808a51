// Package wiring builds the createexport function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/createexport"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/export"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/words/ids"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.KeyedEnv

	ConnectionTable  string        `env:"CONNECTION_TABLE,required"`
	WorkTable        string        `env:"WORK_TABLE,required"`
	ExportQueueURL   string        `env:"EXPORT_QUEUE_URL,required"`
	DeliveryQueueURL string        `env:"DELIVERY_QUEUE_URL,required"`
	ExportReuse      time.Duration `env:"EXPORT_REUSE,required"`
}

// Build reads secrets and returns the createexport function's handler. Build is called once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewKeyed(ctx, env.KeyedEnv, p)
	if err != nil {
		return nil, err
	}
	connections := store.Connections{DB: e.DB, Table: env.ConnectionTable}
	return lambdarun.HTTP(p.Logger, createexport.New(createexport.Deps{
		API: e.API, Auth: e.Auth,
		Exports: export.Registrar{
			Tasks:       store.NewRegister(store.Work{DB: e.DB, Table: env.WorkTable}, connections),
			Connections: connections,
			Enqueuer:    queue.NewWork(sqs.NewFromConfig(p.AWS), env.ExportQueueURL, env.DeliveryQueueURL),
			Now:         p.Now, NewID: ids.Random, Reuse: env.ExportReuse,
		},
		Now: p.Now,
	})), nil
}
