// Package wiring chooses the adapters of the callback function, and no others: what is not wired here is not linked.
// Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"
	"crypto/rand"
	"net/netip"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"recordbridge/functions/callback"
	"recordbridge/shared/catalog"
	"recordbridge/shared/config"
	"recordbridge/shared/config/awsparam"
	"recordbridge/shared/config/awssecret"
	"recordbridge/shared/flow"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/ids"
	"recordbridge/shared/kms"
	"recordbridge/shared/lambdarun"
	"recordbridge/shared/queue"
	"recordbridge/shared/ratelimit"
	"recordbridge/shared/smart"
	"recordbridge/shared/smart/clientauth"
	"recordbridge/shared/store"
	"recordbridge/shared/tokens"
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	ControlTable         string         `env:"CONTROL_TABLE,required"`
	ConnectionTable      string         `env:"CONNECTION_TABLE,required"`
	TokensTable          string         `env:"TOKENS_TABLE,required"`
	FlowTable            string         `env:"FLOW_TABLE,required"`
	WorkTable            string         `env:"WORK_TABLE,required"`
	KeyHashingSecret     string         `env:"KEY_HASHING_SECRET,required"`
	TokensKey            string         `env:"TOKENS_KEY,required"`
	SecretsKey           string         `env:"SECRETS_KEY,required"`
	ClientKeys           []string       `env:"CLIENT_KEYS"` // ARNs, the signing ones first; none: no client signs
	DeliveryQueueURL     string         `env:"DELIVERY_QUEUE_URL,required"`
	BaseURLParameter     string         `env:"BASE_URL_PARAMETER,required"`
	AllowedPrivateRanges []netip.Prefix `env:"ALLOWED_PRIVATE_RANGES"`
	RequestsPerMinute    int            `env:"REQUESTS_PER_MINUTE,required"`
}

// Build makes the function. It reads secrets and parameters, once.
func Build(ctx context.Context, env Environment, p config.Process) (lambdarun.HTTPHandler, error) {
	db, keys := dynamodb.NewFromConfig(p.AWS), awskms.NewFromConfig(p.AWS)
	hashing, err := awssecret.Keyring(ctx, secretsmanager.NewFromConfig(p.AWS), env.KeyHashingSecret)
	if err != nil {
		return nil, err
	}
	baseURL, err := awsparam.Read(ctx, ssm.NewFromConfig(p.AWS), env.BaseURLParameter)
	if err != nil {
		return nil, err
	}
	attempts := store.Flow{
		DB: db, Table: env.FlowTable,
		ConnectionTable: env.ConnectionTable, TokensTable: env.TokensTable, WorkTable: env.WorkTable,
	}
	portal := smart.Portal{
		Doer: p.HTTP, Random: rand.Reader, Now: p.Now,
		Clients: clientauth.NewBook(clientauth.Deps{
			Store:  store.Control{DB: db, Table: env.ControlTable},
			Opener: kms.New(keys, env.SecretsKey, catalog.ClientSecretPurpose, p.Now),
			Keys:   clientauth.NewKeyring(kms.SigningKeys{Client: keys}, env.ClientKeys),
			Now:    p.Now, NewID: ids.Random,
		}),
	}
	return lambdarun.HTTP(p.Logger, callback.New(callback.Deps{ //nolint:contextcheck // a request brings its own context
		API: httpapi.New(httpapi.Options{Logger: p.Logger, Now: p.Now, IDs: ids.Random}),
		Limiter: httpapi.Limiter{
			Buckets: attempts,
			Limit:   ratelimit.Limit{Name: "callback", Quota: env.RequestsPerMinute, Window: time.Minute},
			Hashing: hashing,
		},
		Flows: flow.Completer{
			Store:       attempts,
			Connections: store.Connections{DB: db, Table: env.ConnectionTable},
			Versions:    attempts,
			Portal:      portal,
			Sealer:      kms.New(keys, env.SecretsKey, flow.VerifierPurpose, p.Now),
			Vault:       tokens.Vault{Sealer: kms.New(keys, env.TokensKey, tokens.Purpose, p.Now)},
			Hashing:     hashing, Nudger: queue.Queue{Client: sqs.NewFromConfig(p.AWS), DeliveryURL: env.DeliveryQueueURL},
			BaseURL: baseURL, Now: p.Now, NewID: ids.Random,
		},
	})), nil
}
