// Package wiring builds the tefcaworker function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/tefcaworker"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/adapters/kms"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/platform/config/awssecret"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/fetch"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/tefca/sim"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/outbound"
	"recordbridge/shared/wiring/setting"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	outbound.Env
	edge.LogEnv
	setting.TEFCAEnv

	ConnectionTable  string `env:"CONNECTION_TABLE,required"`
	TokensTable      string `env:"TOKENS_TABLE,required"`
	FlowTable        string `env:"FLOW_TABLE,required"`
	WorkTable        string `env:"WORK_TABLE,required"`
	KeyHashingSecret string `env:"KEY_HASHING_SECRET,required"`
	TokensKey        string `env:"TOKENS_KEY,required"`
	DocumentsBucket  string `env:"DOCUMENTS_BUCKET,required"`
	DeliveryQueueURL string `env:"DELIVERY_QUEUE_URL,required"`
	// TEFCASecret is the name of the secret that contains the configured networks' keys and certificates, or empty if
	// no networks are configured.
	TEFCASecret string `env:"TEFCA_SECRET"`
}

// Build reads secrets and returns the tefcaworker function's handler. Build is called once per cold start.
func Build(ctx context.Context, env Environment, p outbound.Process) (lambdarun.SQSHandler, error) {
	hashing, err := awssecret.Keyring(ctx, p.AWS, p.Now, env.KeyHashingSecret)
	if err != nil {
		return nil, err
	}
	db, keys := store.NewClient(p.AWS), awskms.NewFromConfig(p.AWS)
	flow, work := store.Flow{DB: db, Table: env.FlowTable}, store.Work{DB: db, Table: env.WorkTable}
	asked, err := networks(ctx, env, p)
	if err != nil {
		return nil, err
	}
	fixtures := map[string]records.Feed{}
	if asked[org.Test] != nil {
		for name, document := range sim.Fixtures() {
			fixtures[name] = fetch.Converted(document)
		}
	}
	documents := blob.Bucket{Client: s3.NewFromConfig(p.AWS), Name: env.DocumentsBucket}
	worker := attempt.Worker{
		Store: store.TEFCAConnections{
			TEFCA: store.TEFCA{Flow: flow, Work: work},
			Ends: store.NewConclusions(
				flow, store.Connections{DB: db, Table: env.ConnectionTable}, store.Tokens{DB: db, Table: env.TokensTable},
				store.Events(work),
			),
		},
		Networks: asked, Reader: fetch.Reader{}, Fixtures: fixtures,
		Cache: records.Cache{
			Objects: documents, Sealer: kms.New(keys, kms.TokensKey(env.TokensKey), records.Purpose, p.Now),
			Now: p.Now, NewID: ids.Random,
		},
		Remover: records.Remover{Objects: documents},
		Sealer:  kms.New(keys, kms.TokensKey(env.TokensKey), attempt.AssertionPurpose, p.Now),
		Vault:   tokens.Vault{Sealer: kms.New(keys, kms.TokensKey(env.TokensKey), tokens.Purpose, p.Now)}, Hashing: hashing,
		Events:  queue.NewDeliveries(sqs.NewFromConfig(p.AWS), env.DeliveryQueueURL),
		SignIns: env.Recorder(db, hashing),
		Now:     p.Now, NewID: ids.Random,
	}
	return lambdarun.SQS(p.Process, lambdarun.Worker[due.Item]{
		Name: "tefcaworker", Concurrency: 1, Decode: due.Decode, Handle: tefcaworker.New(worker),
		Together: nil, Backlog: nil,
	}), nil
}
