// Package wiring chooses the adapters of the dashboardconnections function, and no others: what is not wired here is not linked.
// Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"

	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/dashboardconnections"
	"recordbridge/shared/blob"
	"recordbridge/shared/disconnect"
	"recordbridge/shared/erase"
	"recordbridge/shared/kms"
	"recordbridge/shared/lambdarun"
	"recordbridge/shared/operator"
	"recordbridge/shared/queue"
	"recordbridge/shared/refresh"
	"recordbridge/shared/store"
	"recordbridge/shared/tefca/records"
	"recordbridge/shared/tokens"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/manage"
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	manage.Env

	ConnectionTable  string `env:"CONNECTION_TABLE,required"`
	TokensTable      string `env:"TOKENS_TABLE,required"`
	TokensKey        string `env:"TOKENS_KEY,required"`
	DeliveryQueueURL string `env:"DELIVERY_QUEUE_URL,required"`
	DocumentsBucket  string `env:"DOCUMENTS_BUCKET,required"`
	KeyHashingSecret string `env:"KEY_HASHING_SECRET,required"`
}

// Build makes the function. It reads secrets, once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewMember(ctx, env.MemberEnv, p)
	if err != nil {
		return nil, err
	}
	keys, connections := awskms.NewFromConfig(p.AWS), store.Connections{DB: e.DB, Table: env.ConnectionTable}
	deps := manage.Deps(e, env.Env, p)
	deps.Connections = connections
	if deps.Hashing, err = e.Keyring(ctx, env.KeyHashingSecret); err != nil {
		return nil, err
	}
	deps.Erasures = erase.Requests{Rows: store.Work{DB: e.DB, Table: env.WorkTable}, Connections: connections, Now: p.Now}
	deps.Disconnector = disconnect.Disconnector{
		Store: store.Disconnections{
			Connections: connections,
			Work:        store.Work{DB: e.DB, Table: env.WorkTable},
			Sets:        store.Tokens{DB: e.DB, Table: env.TokensTable},
		},
		Vault:    tokens.Vault{Sealer: kms.New(keys, env.TokensKey, tokens.Purpose, p.Now)},
		Sealer:   kms.New(keys, env.TokensKey, refresh.UpstreamPurpose, p.Now),
		Records:  records.Ender{Objects: blob.Folders{Client: s3.NewFromConfig(p.AWS), Name: env.DocumentsBucket}},
		Enqueuer: queue.NewDeliveries(sqs.NewFromConfig(p.AWS), env.DeliveryQueueURL),
		Now:      p.Now,
	}
	endpoints := dashboardconnections.New(dashboardconnections.Deps{API: e.API, Auth: e.Auth, Operator: operator.New(deps)})
	return lambdarun.HTTP(p.Logger, endpoints), nil
}
