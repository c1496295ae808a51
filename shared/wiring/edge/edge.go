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
	"recordbridge/shared/connect/requestlog"
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

// LogEnv holds the environment variable of functions that add rows to the request log.
type LogEnv struct {
	RequestLogTable string `env:"REQUEST_LOG_TABLE"` // empty if the log is off
}

// Recorder returns the recorder of a function's requests and sign-in attempts.
func (e LogEnv) Recorder(db *dynamodb.Client, hashing secret.Keyring) requestlog.Recorder {
	if e.RequestLogTable == "" {
		return requestlog.Recorder{Rows: nil, Hashing: hashing}
	}
	return requestlog.Recorder{Rows: store.RequestLog{DB: db, Table: e.RequestLogTable}, Hashing: hashing}
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
	return logged(ctx, env, LogEnv{RequestLogTable: ""}, p, limit, hashing)
}

// logged is like New, for endpoints whose requests are added to the request log.
func logged(ctx context.Context, env Env, log LogEnv, p lambdarun.Process, limit, hashing string) (Edge, error) {
	db := store.NewClient(p.AWS)
	keys, err := awssecret.Keyring(ctx, p.AWS, p.Now, hashing)
	if err != nil {
		return Edge{}, err
	}
	return Edge{
		API: httpapi.New(httpapi.Options{
			Logger: p.Logger, Now: p.Now, IDs: ids.Random, Log: log.Recorder(db, keys),
		}),
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
