// Package edge wires the parts that all API endpoints share: rate limits and caller authentication. For each kind of
// endpoint, the package has a struct of environment variables and a constructor. A function's Environment embeds the
// struct, and the constructor reads the endpoint's secret. The package links only one AWS client, the DynamoDB client,
// which every endpoint uses (ADR 7).
package edge

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/config/awssecret"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
)

// Env holds the environment variables that template.yaml sets for every endpoint.
type Env struct {
	FlowTable         string `env:"FLOW_TABLE,required"`
	RequestsPerMinute int    `env:"REQUESTS_PER_MINUTE,required"`
}

// Edge holds the dependencies of an unauthenticated endpoint.
type Edge struct {
	API     *httpapi.API
	Limiter httpapi.Limiter
	DB      *dynamodb.Client

	process lambdarun.Process
}

// New returns the Edge of endpoints that share a rate limit. limit is the rate limit's name in RateLimit-Policy.
// hashing is the ARN of the secret that contains the keys for hashing client addresses.
func New(ctx context.Context, env Env, p lambdarun.Process, limit, hashing string) (Edge, error) {
	db := store.NewClient(p.AWS)
	keys, err := awssecret.Keyring(ctx, p.AWS, p.Now, hashing)
	if err != nil {
		return Edge{}, err
	}
	return Edge{
		API: httpapi.New(httpapi.Options{Logger: p.Logger, Now: p.Now, IDs: ids.Random}),
		Limiter: httpapi.Limiter{
			Buckets: store.Flow{DB: db, Table: env.FlowTable},
			Limit:   ratelimit.Limit{Name: limit, Quota: env.RequestsPerMinute, Window: time.Minute},
			Hashing: keys,
		},
		DB: db, process: p,
	}, nil
}

// Keyring reads the keyring from the secret with the given ARN.
func (e Edge) Keyring(ctx context.Context, arn string) (secret.Keyring, error) {
	return awssecret.Keyring(ctx, e.process.AWS, e.process.Now, arn)
}
