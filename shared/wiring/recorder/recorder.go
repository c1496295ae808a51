// Package recorder wires the parts shared by the functions that receive patients' inquiries. The parts are an edge with
// an hourly rate limit, and the recorder that stores inquiries and creates their events.
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

// Env holds the environment variables of functions that receive inquiries, as set in template.yaml.
type Env struct {
	edge.HourlyEnv

	WorkTable        string `env:"WORK_TABLE,required"`
	DeliveryQueueURL string `env:"DELIVERY_QUEUE_URL,required"`
}

// New returns a function's edge and recorder. limit is the name of the function's own rate limit.
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
