// Package wiring chooses the adapters of the refreshworker function, and no others: what is not wired here is not linked.
// Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"
	"net/netip"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/functions/refreshworker"
	"recordbridge/shared/catalog"
	"recordbridge/shared/config"
	"recordbridge/shared/due"
	"recordbridge/shared/ids"
	"recordbridge/shared/kms"
	"recordbridge/shared/lambdarun"
	"recordbridge/shared/queue"
	"recordbridge/shared/refresh"
	"recordbridge/shared/smart"
	"recordbridge/shared/smart/clientauth"
	"recordbridge/shared/store"
	"recordbridge/shared/tokens"
)

const (
	// patience is how long a refresh waits for a slot at its token endpoint before it comes again later.
	patience = 10 * time.Second
	// concurrency covers a batch, so that a slow token endpoint does not hold up the others.
	concurrency = 10
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	ControlTable         string         `env:"CONTROL_TABLE,required"`
	ConnectionTable      string         `env:"CONNECTION_TABLE,required"`
	TokensTable          string         `env:"TOKENS_TABLE,required"`
	FlowTable            string         `env:"FLOW_TABLE,required"`
	WorkTable            string         `env:"WORK_TABLE,required"`
	TokensKey            string         `env:"TOKENS_KEY,required"`
	SecretsKey           string         `env:"SECRETS_KEY,required"`
	ClientKeys           []string       `env:"CLIENT_KEYS"` // ARNs, the signing ones first; none: no client signs
	DeliveryQueueURL     string         `env:"DELIVERY_QUEUE_URL,required"`
	AllowedPrivateRanges []netip.Prefix `env:"ALLOWED_PRIVATE_RANGES"`
}

// Build makes the function. It reads secrets and parameters, once.
func Build(_ context.Context, env Environment, p config.Process) (lambdarun.SQSHandler, error) {
	db, keys := dynamodb.NewFromConfig(p.AWS), awskms.NewFromConfig(p.AWS)
	control := store.Control{DB: db, Table: env.ControlTable}
	portal := smart.Portal{
		Doer: p.HTTP, Now: p.Now, Endpoints: control,
		Clients: clientauth.NewBook(clientauth.Deps{
			Store:  control,
			Opener: kms.New(keys, env.SecretsKey, catalog.ClientSecretPurpose, p.Now),
			Keys:   clientauth.NewKeyring(kms.SigningKeys{Client: keys}, env.ClientKeys),
			Now:    p.Now, NewID: ids.Random,
		}),
	}
	traffic := store.Traffic{DB: db, Table: env.FlowTable}
	worker := refresh.Worker{
		Store: store.Refresh{
			DB: db, ConnectionTable: env.ConnectionTable, TokensTable: env.TokensTable, WorkTable: env.WorkTable,
		},
		Tokens: tokens.Keeper{
			Store: store.Tokens{DB: db, Table: env.TokensTable},
			Vault: tokens.Vault{Sealer: kms.New(keys, env.TokensKey, tokens.Purpose, p.Now)},
			Refresher: refresh.Gate{
				Refresher: portal, Traffic: traffic, Now: p.Now, NewID: ids.Random, Scheduled: true, Patience: patience,
			},
			Now: p.Now, NewID: ids.Random,
		},
		Traffic: traffic, Revoker: portal,
		Opener: kms.New(keys, env.TokensKey, refresh.UpstreamPurpose, p.Now),
		Nudger: queue.Queue{Client: sqs.NewFromConfig(p.AWS), DeliveryURL: env.DeliveryQueueURL},
		Now:    p.Now,
	}
	options := lambdarun.Options{Logger: p.Logger, Now: p.Now, Name: "refreshworker", Concurrency: concurrency}
	return lambdarun.SQS(options, due.Decode, refreshworker.New(worker)), nil
}
