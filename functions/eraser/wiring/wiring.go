// Package wiring builds the eraser function's handler and its adapters. The function's binary links only the adapters
// that this package imports.
package wiring

import (
	"context"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/eraser"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/deletion"
	"recordbridge/shared/manage/disconnect"
	"recordbridge/shared/manage/erase"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/tefca/records"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	ControlTable     string `env:"CONTROL_TABLE,required"`
	ConnectionTable  string `env:"CONNECTION_TABLE,required"`
	TokensTable      string `env:"TOKENS_TABLE,required"`
	WorkTable        string `env:"WORK_TABLE,required"`
	AuditTable       string `env:"AUDIT_TABLE,required"`
	TokensKey        string `env:"TOKENS_KEY,required"`
	DeliveryQueueURL string `env:"DELIVERY_QUEUE_URL,required"`
	DocumentsBucket  string `env:"DOCUMENTS_BUCKET,required"`
	ExportsBucket    string `env:"EXPORTS_BUCKET,required"`
}

// Build returns the eraser function's handler.
func Build(_ context.Context, env Environment, p lambdarun.Process) (lambdarun.ScheduleHandler, error) {
	db, keys := store.NewClient(p.AWS), awskms.NewFromConfig(p.AWS)
	connections, work := store.Connections{DB: db, Table: env.ConnectionTable}, store.Work{DB: db, Table: env.WorkTable}
	sets := store.Tokens{DB: db, Table: env.TokensTable}
	objects := s3.NewFromConfig(p.AWS)
	cached := blob.Folders{Client: objects, Name: env.DocumentsBucket}
	files, erasures := blob.Folders{Client: objects, Name: env.ExportsBucket},
		store.NewErasures(connections, work, sets, db)
	log := audit.Log{Rows: store.Audit{DB: db, Table: env.AuditTable}}
	disconnector := disconnect.Disconnector{
		Store:    store.Disconnections{Connections: connections, Tasks: store.Tasks(work), Sets: sets},
		Vault:    tokens.Vault{Sealer: kms.New(keys, kms.TokensKey(env.TokensKey), tokens.Purpose, p.Now)},
		Sealer:   kms.New(keys, kms.TokensKey(env.TokensKey), refresh.UpstreamPurpose, p.Now),
		Records:  records.Ender{Objects: cached},
		Enqueuer: queue.NewDeliveries(sqs.NewFromConfig(p.AWS), env.DeliveryQueueURL),
		Now:      p.Now,
	}
	return lambdarun.Schedule(p, "eraser", eraser.New(
		erase.Worker{Store: erasures, Files: files, Records: cached, Disconnector: disconnector, Audit: log, Now: p.Now},
		deletion.Worker{
			Store: store.NewDeletions(erasures, store.Control{DB: db, Table: env.ControlTable}),
			Files: files, Records: cached, Disconnector: disconnector, Audit: log, Now: p.Now,
		},
	)), nil
}
