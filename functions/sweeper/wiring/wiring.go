// Package wiring builds the sweeper function's handler and its adapters. The function's binary links only the adapters
// that this package imports.
package wiring

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/sweeper"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/platform/lambdarun"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	WorkTable        string `env:"WORK_TABLE,required"`
	ExportQueueURL   string `env:"EXPORT_QUEUE_URL,required"`
	DeliveryQueueURL string `env:"DELIVERY_QUEUE_URL,required"`
	TEFCAQueueURL    string `env:"TEFCA_QUEUE_URL,required"`
	ExportsBucket    string `env:"EXPORTS_BUCKET,required"`
}

// Build returns the sweeper function's handler.
func Build(_ context.Context, env Environment, p lambdarun.Process) (lambdarun.ScheduleHandler, error) {
	db := store.NewClient(p.AWS)
	client := sqs.NewFromConfig(p.AWS)
	queues := queue.Swept{
		Work:     queue.NewWork(client, env.ExportQueueURL, env.DeliveryQueueURL),
		Attempts: queue.NewAttempts(client, env.TEFCAQueueURL),
	}
	sweep := sweeper.New(
		due.NewSweep(store.Timers{DB: db, Table: env.WorkTable}, queues, store.DueShards, p.Now),
		store.Tasks{DB: db, Table: env.WorkTable},
		blob.Bucket{Client: s3.NewFromConfig(p.AWS), Name: env.ExportsBucket}, p.Now,
	)
	return lambdarun.Schedule(p, "sweeper", sweep), nil
}
