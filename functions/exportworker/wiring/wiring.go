// Package wiring chooses the adapters of the exportworker function, and no others: what is not wired here is not linked.
// Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"
	"net/netip"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/exportworker"
	"recordbridge/shared/blob"
	"recordbridge/shared/catalog"
	"recordbridge/shared/config"
	"recordbridge/shared/config/awssecret"
	"recordbridge/shared/due"
	"recordbridge/shared/export"
	"recordbridge/shared/ids"
	"recordbridge/shared/kms"
	"recordbridge/shared/lambdarun"
	"recordbridge/shared/queue"
	"recordbridge/shared/refresh"
	"recordbridge/shared/smart"
	"recordbridge/shared/smart/clientauth"
	"recordbridge/shared/smart/platform"
	"recordbridge/shared/store"
	"recordbridge/shared/tokens"
)

// patience is how long a refresh waits for a place at its token endpoint before the task comes again later.
const patience = 15 * time.Second

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	ControlTable         string         `env:"CONTROL_TABLE,required"`
	ConnectionTable      string         `env:"CONNECTION_TABLE,required"`
	TokensTable          string         `env:"TOKENS_TABLE,required"`
	WorkTable            string         `env:"WORK_TABLE,required"`
	FlowTable            string         `env:"FLOW_TABLE,required"`
	TokensKey            string         `env:"TOKENS_KEY,required"`
	SecretsKey           string         `env:"SECRETS_KEY,required"`
	ClientKeys           []string       `env:"CLIENT_KEYS"` // ARNs, the signing ones first; none: no client signs
	DownloadSecret       string         `env:"DOWNLOAD_SECRET,required"`
	ExportsBucket        string         `env:"EXPORTS_BUCKET,required"`
	ExportQueueURL       string         `env:"EXPORT_QUEUE_URL,required"`
	DeliveryQueueURL     string         `env:"DELIVERY_QUEUE_URL,required"`
	RefreshQueueURL      string         `env:"REFRESH_QUEUE_URL,required"`
	BaseURL              string         `env:"BASE_URL,required"`
	AllowedPrivateRanges []netip.Prefix `env:"ALLOWED_PRIVATE_RANGES"`
	WorkerLease          time.Duration  `env:"WORKER_LEASE,required"`
	ExportRetention      time.Duration  `env:"EXPORT_RETENTION,required"`
	SendDownloadLink     bool           `env:"SEND_DOWNLOAD_LINK,required"`
	AddMetaSource        bool           `env:"ADD_META_SOURCE,required"`
}

// Build makes the function. It reads secrets and parameters, once.
func Build(ctx context.Context, env Environment, p config.Process) (lambdarun.SQSHandler, error) {
	db := dynamodb.NewFromConfig(p.AWS)
	signing, err := awssecret.Keyring(ctx, secretsmanager.NewFromConfig(p.AWS), env.DownloadSecret)
	if err != nil {
		return nil, err
	}
	book, err := platform.NewBook()
	if err != nil {
		return nil, err
	}
	control, connections := store.Control{DB: db, Table: env.ControlTable}, store.Connections{DB: db, Table: env.ConnectionTable}
	keys := awskms.NewFromConfig(p.AWS)
	portal := smart.Portal{
		Doer: p.HTTP, Now: p.Now, Endpoints: control,
		Clients: clientauth.NewBook(clientauth.Deps{
			Store:  control,
			Opener: kms.New(keys, env.SecretsKey, catalog.ClientSecretPurpose, p.Now),
			Keys:   clientauth.NewKeyring(kms.SigningKeys{Client: keys}, env.ClientKeys),
			Now:    p.Now, NewID: ids.Random,
		}),
	}
	queues := queue.Queue{
		Client: sqs.NewFromConfig(p.AWS), ExportURL: env.ExportQueueURL, DeliveryURL: env.DeliveryQueueURL, RefreshURL: env.RefreshQueueURL,
	}
	worker := export.Worker{
		Store: store.Work{DB: db, Table: env.WorkTable},
		Tokens: tokens.Keeper{
			Store: store.Tokens{DB: db, Table: env.TokensTable},
			Vault: tokens.Vault{Sealer: kms.New(keys, env.TokensKey, tokens.Purpose, p.Now)},
			Refresher: refresh.Gate{
				Refresher: portal, Traffic: store.Traffic{DB: db, Table: env.FlowTable}, Now: p.Now, NewID: ids.Random, Patience: patience,
			},
			Now: p.Now, NewID: ids.Random,
		},
		Care:    refresh.Prompt{Rows: connections, Nudger: queues},
		Portals: portal,
		Manners: export.Habits{Connections: connections, Endpoints: control, Platforms: book},
		Files:   blob.Bucket{Client: s3.NewFromConfig(p.AWS), Name: env.ExportsBucket},
		Nudger:  queues,
		Links:   export.Links{Keys: signing, BaseURL: env.BaseURL},
		Now:     p.Now, Lease: env.WorkerLease, Retention: env.ExportRetention, SendDownloadLink: env.SendDownloadLink,
		PlainLines: !env.AddMetaSource,
	}
	options := lambdarun.Options{Logger: p.Logger, Now: p.Now, Name: "exportworker"}
	return lambdarun.SQS(options, due.Decode, exportworker.New(worker)), nil
}
