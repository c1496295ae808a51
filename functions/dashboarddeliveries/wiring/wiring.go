// Package wiring builds the dashboarddeliveries function's handler and its adapters. The function's binary links only
// the adapters that this package imports.
package wiring

import (
	"context"
	"crypto/rand"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/dashboarddeliveries"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/wiring/manage"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	manage.Env
	manage.CookieEnv

	ConnectionTable  string `env:"CONNECTION_TABLE,required"`
	SecretsKey       string `env:"SECRETS_KEY,required"`
	DeliveryQueueURL string `env:"DELIVERY_QUEUE_URL,required"`
}

// Build reads a secret and an SSM parameter, and returns the dashboarddeliveries function's handler. Build is called
// once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := manage.NewMember(ctx, env.MemberEnv, env.CookieEnv, p)
	if err != nil {
		return nil, err
	}
	hooks := store.NewOrganisationHooks(e.Control)
	log := deliverylog.Details{
		Log: deliverylog.Log{
			Rows: store.DeliveryLog{DB: e.DB, Table: env.WorkTable}, Subscriptions: hooks, Now: p.Now,
		},
		Answers: kms.New(awskms.NewFromConfig(p.AWS), kms.SecretsKey(env.SecretsKey), webhook.SecretPurpose, p.Now),
	}
	rows := store.NewEventDeliveries(store.Work{DB: e.DB, Table: env.WorkTable})
	sent := queue.NewDeliveries(sqs.NewFromConfig(p.AWS), env.DeliveryQueueURL)
	endpoints := dashboarddeliveries.New(dashboarddeliveries.Deps{
		API: e.API, Auth: e.Auth, Log: operator.NewLog(log),
		Patients:   store.ExternalIDs{DB: e.DB, Table: env.ConnectionTable},
		Deliveries: operator.NewDeliveries(hooks, rows, sent, rand.Reader, manage.Journal(e, env.Env, p)),
	})
	return lambdarun.HTTP(p.Logger, endpoints), nil
}
