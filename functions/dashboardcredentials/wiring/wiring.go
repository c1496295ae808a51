// Package wiring chooses the adapters of the dashboardcredentials function, and no others: what is not wired here is not linked.
// Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/dashboardcredentials"
	"recordbridge/shared/lambdarun"
	"recordbridge/shared/operator"
	"recordbridge/shared/queue"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/manage"
	"recordbridge/shared/wiring/ownurls"
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	manage.Env
	ownurls.URLEnv

	KeyHashingSecret string `env:"KEY_HASHING_SECRET,required"`
	DeliveryQueueURL string `env:"DELIVERY_QUEUE_URL,required"`
}

// Build makes the function. It reads secrets and a parameter, once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewMember(ctx, env.MemberEnv, p)
	if err != nil {
		return nil, err
	}
	deps := manage.Deps(e, env.Env, p)
	if _, deps.Own, err = ownurls.Read(ctx, p, env.URLEnv); err != nil {
		return nil, err
	}
	if deps.Hashing, err = e.Keyring(ctx, env.KeyHashingSecret); err != nil {
		return nil, err
	}
	deps.Queue = queue.NewDeliveries(sqs.NewFromConfig(p.AWS), env.DeliveryQueueURL)
	endpoints := dashboardcredentials.New(dashboardcredentials.Deps{API: e.API, Auth: e.Auth, Operator: operator.New(deps)})
	return lambdarun.HTTP(p.Logger, endpoints), nil
}
