// Package wiring builds the dashboardcredentials function's handler and its adapters. The function's binary links only
// the adapters that this package imports.
package wiring

import (
	"context"
	"crypto/rand"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/dashboardcredentials"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/manage"
	"recordbridge/shared/wiring/ownurls"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	manage.Env
	ownurls.URLEnv

	KeyHashingSecret string `env:"KEY_HASHING_SECRET,required"`
	DeliveryQueueURL string `env:"DELIVERY_QUEUE_URL,required"`
}

// Build reads secrets and an SSM parameter, and returns the dashboardcredentials function's handler. Build is called
// once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	baseURL, own, err := ownurls.Read(ctx, p, env.URLEnv)
	if err != nil {
		return nil, err
	}
	e, err := edge.NewMember(ctx, env.MemberEnv, p, baseURL)
	if err != nil {
		return nil, err
	}
	hashing, err := e.Keyring(ctx, env.KeyHashingSecret)
	if err != nil {
		return nil, err
	}
	notices := notice.Outbox{
		Rows:  store.Notices{DB: e.DB, Table: env.WorkTable},
		Queue: queue.NewDeliveries(sqs.NewFromConfig(p.AWS), env.DeliveryQueueURL),
	}
	endpoints := dashboardcredentials.New(dashboardcredentials.Deps{
		API: e.API, Auth: e.Auth,
		Credentials: operator.NewCredentials(
			store.NewDirectory(e.Control), notices, hashing, own, rand.Reader, manage.Journal(e, env.Env, p),
		),
	})
	return lambdarun.HTTP(p.Logger, endpoints), nil
}
