// Package wiring builds the webhookworker function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"
	"math/rand/v2"
	"time"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/ses"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/webhookworker"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/mail"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/export"
	"recordbridge/shared/platform/config/awssecret"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/notice"
	"recordbridge/shared/wiring/outbound"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	outbound.Env

	ControlTable     string        `env:"CONTROL_TABLE,required"`
	FlowTable        string        `env:"FLOW_TABLE,required"`
	WorkTable        string        `env:"WORK_TABLE,required"`
	SecretsKey       string        `env:"SECRETS_KEY,required"`
	DownloadSecret   string        `env:"DOWNLOAD_SECRET,required"`
	LimitSecret      string        `env:"LIMIT_SECRET,required"`
	DeliveryQueueURL string        `env:"DELIVERY_QUEUE_URL,required"`
	WorkerLease      time.Duration `env:"WORKER_LEASE,required"`
	MailFrom         string        `env:"MAIL_FROM"`    // sender address; if empty, no emails are sent
	SupportMail      string        `env:"SUPPORT_MAIL"` // if empty, support requests are listed but not emailed
	DashboardURL     string        `env:"DASHBOARD_URL,required"`
}

// Build reads secrets and returns the webhookworker function's handler. Build is called once per cold start.
func Build(ctx context.Context, env Environment, p outbound.Process) (lambdarun.SQSHandler, error) {
	signing, err := awssecret.Keyring(ctx, p.AWS, p.Now, env.DownloadSecret)
	if err != nil {
		return nil, err
	}
	db := store.NewClient(p.AWS)
	work, control := store.Work{DB: db, Table: env.WorkTable}, store.Control{DB: db, Table: env.ControlTable}
	rows := store.NewWebhooks(work, control)
	messaging := sqs.NewFromConfig(p.AWS)
	messages := queue.NewDeliveries(messaging, env.DeliveryQueueURL)
	counting, err := awssecret.Keyring(ctx, p.AWS, p.Now, env.LimitSecret)
	if err != nil {
		return nil, err
	}
	mailer := notice.Mailer{
		Store: store.NewMailings(work, control), Sender: nil, Dashboard: env.DashboardURL, Support: env.SupportMail,
		Now: p.Now, Lease: env.WorkerLease,
		Limits: maillimit.Limiter{Buckets: store.Flow{DB: db, Table: env.FlowTable}, Keys: counting, Now: p.Now},
	}
	if env.MailFrom != "" {
		mailer.Sender = mail.Sender{Client: ses.NewFromConfig(p.AWS), From: env.MailFrom}
	}
	worker := webhook.Worker{
		Store:   store.NewBatchedWebhooks(rows),
		Batches: store.EventBatches{Rows: rows.Events, Log: store.EventLog{DB: db, Table: env.WorkTable}},
		Health:  rows,
		Owners:  notice.Owners{Outbox: notice.Outbox{Rows: store.Notices(work), Queue: messages}, Mailer: mailer},
		Secrets: kms.New(awskms.NewFromConfig(p.AWS), kms.SecretsKey(env.SecretsKey), webhook.SecretPurpose, p.Now),
		Links:   export.Links{Keys: signing, BaseURL: ""},
		Poster:  webhookworker.Poster{Client: p.HTTP},
		Queue:   messages,
		Pacer:   webhook.NewPacer(p.Now),
		Now:     p.Now, Jitter: rand.Float64, Lease: env.WorkerLease,
	}
	handle := webhookworker.New(worker, mailer)
	return lambdarun.SQS(p.Process, lambdarun.Worker[due.Item]{
		Name: "webhookworker", Concurrency: 10, Decode: due.Decode, Handle: handle,
		Together: webhookworker.Together(worker, handle),
		Backlog:  queue.NewBacklog(messaging, env.DeliveryQueueURL),
	}), nil
}
