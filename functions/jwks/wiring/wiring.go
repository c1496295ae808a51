// Package wiring chooses the adapters of the jwks function, and no others: what is not wired here is not linked.
// Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"recordbridge/functions/jwks"
	"recordbridge/shared/config"
	"recordbridge/shared/config/awssecret"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/ids"
	"recordbridge/shared/kms"
	"recordbridge/shared/lambdarun"
	"recordbridge/shared/ratelimit"
	"recordbridge/shared/smart/clientauth"
	"recordbridge/shared/store"
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	FlowTable         string   `env:"FLOW_TABLE,required"`
	ClientKeys        []string `env:"CLIENT_KEYS"` // ARNs, the signing ones first; none: the set is empty
	RequestsPerMinute int      `env:"REQUESTS_PER_MINUTE,required"`
	LimitSecret       string   `env:"LIMIT_SECRET,required"`
}

// Build makes the function. It asks for the keys with the first request, and only then.
func Build(ctx context.Context, env Environment, p config.Process) (lambdarun.HTTPHandler, error) {
	hashing, err := awssecret.Keyring(ctx, secretsmanager.NewFromConfig(p.AWS), env.LimitSecret)
	if err != nil {
		return nil, err
	}
	db := dynamodb.NewFromConfig(p.AWS)
	return lambdarun.HTTP(p.Logger, jwks.New(jwks.Deps{ //nolint:contextcheck // a request brings its own context
		API: httpapi.New(httpapi.Options{Logger: p.Logger, Now: p.Now, IDs: ids.Random}),
		Limiter: httpapi.Limiter{
			Buckets: store.Flow{DB: db, Table: env.FlowTable},
			Limit:   ratelimit.Limit{Name: "jwks", Quota: env.RequestsPerMinute, Window: time.Minute},
			Hashing: hashing,
		},
		Keys: clientauth.NewKeyring(kms.SigningKeys{Client: awskms.NewFromConfig(p.AWS)}, env.ClientKeys),
	})), nil
}
