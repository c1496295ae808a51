// Package wiring builds the dashboardwebhooks function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"
	"crypto/rand"
	"net/netip"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/dashboardwebhooks"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/manage"
	"recordbridge/shared/wiring/ownurls"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	manage.Env
	ownurls.URLEnv

	SecretsKey           string         `env:"SECRETS_KEY,required"`
	DeliveryQueueURL     string         `env:"DELIVERY_QUEUE_URL,required"`
	AllowedPrivateRanges []netip.Prefix `env:"ALLOWED_PRIVATE_RANGES"`
}

// Build reads a secret and an SSM parameter, and returns the dashboardwebhooks function's handler. Build is called once
// per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	baseURL, own, err := ownurls.Read(ctx, p, env.URLEnv)
	if err != nil {
		return nil, err
	}
	e, err := edge.NewMember(ctx, env.MemberEnv, p, baseURL)
	if err != nil {
		return nil, err
	}
	editor := webhook.Editor{
		Vault: kms.New(awskms.NewFromConfig(p.AWS), kms.SecretsKey(env.SecretsKey), webhook.SecretPurpose, p.Now),
		Reach: safehttp.Options{Allow: env.AllowedPrivateRanges, Within: 0, Certificate: nil, Roots: nil},
		Own:   own, Random: rand.Reader, Now: p.Now,
	}
	hooks := store.NewOrganisationHooks(e.Control)
	work := store.Work{DB: e.DB, Table: env.WorkTable}
	sent := queue.NewDeliveries(sqs.NewFromConfig(p.AWS), env.DeliveryQueueURL)
	log := deliverylog.Log{
		Rows: store.DeliveryLog{DB: e.DB, Table: env.WorkTable}, Subscriptions: hooks, Now: p.Now,
	}
	by := manage.Journal(e, env.Env, p)
	endpoints := dashboardwebhooks.New(dashboardwebhooks.Deps{
		API: e.API, Auth: e.Auth,
		Webhooks:   operator.NewWebhooks(hooks, editor, notice.Outbox{Rows: store.Notices(work), Queue: sent}, log, by),
		Deliveries: operator.NewDeliveries(hooks, store.NewEventDeliveries(work), sent, rand.Reader, by),
	})
	return lambdarun.HTTP(p.Logger, endpoints), nil
}
