// Package wiring chooses the adapters of the deleteconnection function, and no others: what is not wired here is not
// linked. Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/deleteconnection"
	"recordbridge/shared/config"
	"recordbridge/shared/config/awssecret"
	"recordbridge/shared/disconnect"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/ids"
	"recordbridge/shared/kms"
	"recordbridge/shared/lambdarun"
	"recordbridge/shared/org"
	"recordbridge/shared/queue"
	"recordbridge/shared/ratelimit"
	"recordbridge/shared/refresh"
	"recordbridge/shared/store"
	"recordbridge/shared/tokens"
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	ControlTable      string `env:"CONTROL_TABLE,required"`
	ConnectionTable   string `env:"CONNECTION_TABLE,required"`
	TokensTable       string `env:"TOKENS_TABLE,required"`
	FlowTable         string `env:"FLOW_TABLE,required"`
	WorkTable         string `env:"WORK_TABLE,required"`
	KeyHashingSecret  string `env:"KEY_HASHING_SECRET,required"`
	TokensKey         string `env:"TOKENS_KEY,required"`
	DeliveryQueueURL  string `env:"DELIVERY_QUEUE_URL,required"`
	RequestsPerMinute int    `env:"REQUESTS_PER_MINUTE,required"`
}

// Build makes the function. It reads secrets and parameters, once.
func Build(ctx context.Context, env Environment, p config.Process) (lambdarun.HTTPHandler, error) {
	db, keys := dynamodb.NewFromConfig(p.AWS), awskms.NewFromConfig(p.AWS)
	hashing, err := awssecret.Keyring(ctx, secretsmanager.NewFromConfig(p.AWS), env.KeyHashingSecret)
	if err != nil {
		return nil, err
	}
	auth := httpapi.KeyAuth{
		Keys: org.NewDirectory(store.Control{DB: db, Table: env.ControlTable}, hashing, p.Now),
		Limiter: httpapi.Limiter{
			Buckets: store.Flow{DB: db, Table: env.FlowTable},
			Limit:   ratelimit.Limit{Name: "keyed", Quota: env.RequestsPerMinute, Window: time.Minute},
			Hashing: hashing,
		},
	}
	return lambdarun.HTTP(p.Logger, deleteconnection.New(deleteconnection.Deps{ //nolint:contextcheck // a request brings its own context
		API:  httpapi.New(httpapi.Options{Logger: p.Logger, Now: p.Now, IDs: ids.Random}),
		Auth: auth,
		Disconnector: disconnect.Disconnector{
			Store: store.Disconnections{
				Connections: store.Connections{DB: db, Table: env.ConnectionTable},
				Work:        store.Work{DB: db, Table: env.WorkTable},
				Sets:        store.Tokens{DB: db, Table: env.TokensTable},
			},
			Vault:  tokens.Vault{Sealer: kms.New(keys, env.TokensKey, tokens.Purpose, p.Now)},
			Sealer: kms.New(keys, env.TokensKey, refresh.UpstreamPurpose, p.Now),
			Nudger: queue.Queue{Client: sqs.NewFromConfig(p.AWS), DeliveryURL: env.DeliveryQueueURL},
			Now:    p.Now,
		},
	})), nil
}
