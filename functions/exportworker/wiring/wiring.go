// Package wiring builds the exportworker function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"
	"time"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/exportworker"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/export/share"
	"recordbridge/shared/export/source"
	"recordbridge/shared/export/worker"
	"recordbridge/shared/platform/config/awsparam"
	"recordbridge/shared/platform/config/awssecret"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/wiring/outbound"
	"recordbridge/shared/wiring/portal"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret/jws"
)

// maxWait limits how long a token refresh waits for a slot at its token endpoint before the task is deferred.
const maxWait = 15 * time.Second

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	portal.ClientEnv

	ConnectionTable  string        `env:"CONNECTION_TABLE,required"`
	TokensTable      string        `env:"TOKENS_TABLE,required"`
	WorkTable        string        `env:"WORK_TABLE,required"`
	FlowTable        string        `env:"FLOW_TABLE,required"`
	TokensKey        string        `env:"TOKENS_KEY,required"`
	DownloadSecret   string        `env:"DOWNLOAD_SECRET,required"`
	ManifestKey      string        `env:"MANIFEST_KEY,required"`
	Release          string        `env:"RELEASE"`
	ExportsBucket    string        `env:"EXPORTS_BUCKET,required"`
	DocumentsBucket  string        `env:"DOCUMENTS_BUCKET,required"`
	ExportQueueURL   string        `env:"EXPORT_QUEUE_URL,required"`
	DeliveryQueueURL string        `env:"DELIVERY_QUEUE_URL,required"`
	RefreshQueueURL  string        `env:"REFRESH_QUEUE_URL,required"`
	BaseURLParameter string        `env:"BASE_URL_PARAMETER,required"`
	WorkerLease      time.Duration `env:"WORKER_LEASE,required"`
	ExportRetention  time.Duration `env:"EXPORT_RETENTION,required"`
	PerOrganisation  int           `env:"EXPORTS_PER_ORGANISATION,required"`
	SendDownloadLink bool          `env:"SEND_DOWNLOAD_LINK,required"`
	AddMetaSource    bool          `env:"ADD_META_SOURCE,required"`
}

// Build reads a secret and an SSM parameter, and returns the exportworker function's handler. Build is called once per
// cold start.
func Build(ctx context.Context, env Environment, p outbound.Process) (lambdarun.SQSHandler, error) {
	db := store.NewClient(p.AWS)
	signing, err := awssecret.Keyring(ctx, p.AWS, p.Now, env.DownloadSecret)
	if err != nil {
		return nil, err
	}
	baseURL, err := awsparam.Read(ctx, p.AWS, p.Now, env.BaseURLParameter)
	if err != nil {
		return nil, err
	}
	registry, err := platform.NewRegistry()
	if err != nil {
		return nil, err
	}
	connections := store.Connections{DB: db, Table: env.ConnectionTable}
	keys := awskms.NewFromConfig(p.AWS)
	portals, queues, objects := portal.New(env.ClientEnv, p, db, keys), sqs.NewFromConfig(p.AWS), s3.NewFromConfig(p.AWS)
	work, messages := store.Work{DB: db, Table: env.WorkTable},
		queue.NewWork(queues, env.ExportQueueURL, env.DeliveryQueueURL)
	exports := worker.Worker{
		Store: store.Tasks(work),
		Share: share.New(store.NewShares(work), messages, env.PerOrganisation, env.WorkerLease, p.Now),
		Source: source.Opener{
			Tokens: tokens.NewManager(
				store.Tokens{DB: db, Table: env.TokensTable},
				tokens.Vault{Sealer: kms.New(keys, kms.TokensKey(env.TokensKey), tokens.Purpose, p.Now)},
				portals, refresh.NewExportLimiter(store.EndpointState{DB: db, Table: env.FlowTable}, maxWait, p.Now, ids.Random),
				p.Now, ids.Random,
			),
			Portals: portals,
			Profiles: source.Profiles{
				Connections: connections, Endpoints: store.Portals{DB: db, Table: env.ControlTable}, Platforms: registry,
			},
			Now: p.Now,
		},
		Refreshes: refresh.Prompt{Rows: connections, Enqueuer: queue.NewRefreshes(queues, env.RefreshQueueURL)},
		Cache: records.Reader{
			Objects: blob.Bucket{Client: objects, Name: env.DocumentsBucket},
			Sealer:  kms.New(keys, kms.TokensKey(env.TokensKey), records.Purpose, p.Now),
		},
		Known:     store.EndpointState{DB: db, Table: env.FlowTable},
		Files:     blob.Bucket{Client: objects, Name: env.ExportsBucket},
		Enqueuer:  messages,
		Links:     export.Links{Keys: signing, BaseURL: baseURL},
		Manifests: jws.NewKeyring(kms.ManifestKeys(keys), []string{env.ManifestKey}), Release: env.Release,
		Now: p.Now, Lease: env.WorkerLease, Retention: env.ExportRetention, SendDownloadLink: env.SendDownloadLink,
		AddMetaSource: env.AddMetaSource,
	}
	return lambdarun.SQS(p.Process, lambdarun.Worker[due.Item]{
		Name: "exportworker", Concurrency: 1, Decode: due.Decode, Handle: exportworker.New(exports),
		Together: nil, Backlog: nil,
	}), nil
}
