// Package disconnector wires the code that ends connections on behalf of an organisation. Both the API and the
// synthetic patients of TEFCA mode use this code. It also completes disconnections that an organisation requested in
// the dashboard.
package disconnector

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/manage/disconnect"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/tefca/records"
)

// Env holds the environment variables of functions that end connections, as set in template.yaml.
type Env struct {
	ConnectionTable  string `env:"CONNECTION_TABLE,required"`
	TokensTable      string `env:"TOKENS_TABLE,required"`
	WorkTable        string `env:"WORK_TABLE,required"`
	TokensKey        string `env:"TOKENS_KEY,required"`
	DeliveryQueueURL string `env:"DELIVERY_QUEUE_URL,required"`
	DocumentsBucket  string `env:"DOCUMENTS_BUCKET,required"`
}

// New returns the Disconnector.
func New(env Env, p lambdarun.Process, db *dynamodb.Client) disconnect.Disconnector {
	keys := awskms.NewFromConfig(p.AWS)
	return disconnect.Disconnector{
		Store: store.Disconnections{
			Connections: store.Connections{DB: db, Table: env.ConnectionTable},
			Tasks:       store.Tasks{DB: db, Table: env.WorkTable},
			Sets:        store.Tokens{DB: db, Table: env.TokensTable},
		},
		Vault:    tokens.Vault{Sealer: kms.New(keys, kms.TokensKey(env.TokensKey), tokens.Purpose, p.Now)},
		Sealer:   kms.New(keys, kms.TokensKey(env.TokensKey), refresh.UpstreamPurpose, p.Now),
		Records:  records.Ender{Objects: blob.Folders{Client: s3.NewFromConfig(p.AWS), Name: env.DocumentsBucket}},
		Enqueuer: queue.NewDeliveries(sqs.NewFromConfig(p.AWS), env.DeliveryQueueURL),
		Now:      p.Now,
	}
}
