// Package wiring builds the refreshscheduler function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/refreshscheduler"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/platform/lambdarun"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	ConnectionTable string `env:"CONNECTION_TABLE,required"`
	RefreshQueueURL string `env:"REFRESH_QUEUE_URL,required"`
}

// Build returns the refreshscheduler function's handler.
func Build(_ context.Context, env Environment, p lambdarun.Process) (lambdarun.ScheduleHandler, error) {
	connections := due.NewSweep(
		store.Timers{DB: store.NewClient(p.AWS), Table: env.ConnectionTable},
		queue.NewRefreshes(sqs.NewFromConfig(p.AWS), env.RefreshQueueURL), store.DueShards, p.Now,
	)
	schedule := refreshscheduler.New(connections, p.Now)
	return lambdarun.Schedule(p, "refreshscheduler", schedule), nil
}
