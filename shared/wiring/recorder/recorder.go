// Package recorder wires what the functions have in common that take inquiries of patients: an edge whose limit counts
// by the hour, and the recorder that makes events of them.
package recorder

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/words/weburl"
)

// Env is what such a function reads of template.yaml.
type Env struct {
	edge.HourlyEnv

	WorkTable        string `env:"WORK_TABLE,required"`
	DeliveryQueueURL string `env:"DELIVERY_QUEUE_URL,required"`
}

// New makes the edge and the recorder of a function with a limit of its own.
func New(ctx context.Context, env Env, p lambdarun.Process, limit string) (edge.Public, inquiry.Recorder, error) {
	e, err := edge.NewHourly(ctx, env.HourlyEnv, p, limit)
	if err != nil {
		return edge.Public{}, inquiry.Recorder{}, err
	}
	keys := e.Limiter.Hashing
	return e, inquiry.Recorder{
		Store:    store.Inquiries{DB: e.DB, Table: env.WorkTable},
		Enqueuer: queue.NewDeliveries(sqs.NewFromConfig(p.AWS), env.DeliveryQueueURL),
		Proofs:   verification.Proofs{Store: store.Flow{DB: e.DB, Table: env.FlowTable}, Keys: keys, Now: p.Now},
		Keys:     keys, Own: weburl.Own{}, Now: p.Now,
	}, nil
}
