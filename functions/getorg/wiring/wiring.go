// Package wiring chooses the adapters of the getorg function, and no others: what is not wired here is not linked.
// Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"recordbridge/functions/getorg"
	"recordbridge/shared/config"
	"recordbridge/shared/config/awssecret"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/ids"
	"recordbridge/shared/lambdarun"
	"recordbridge/shared/org"
	"recordbridge/shared/ratelimit"
	"recordbridge/shared/secret"
	"recordbridge/shared/store"
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	ControlTable      string `env:"CONTROL_TABLE,required"`
	FlowTable         string `env:"FLOW_TABLE,required"`
	RequestsPerMinute int    `env:"REQUESTS_PER_MINUTE,required"`
	LimitSecret       string `env:"LIMIT_SECRET,required"`
}

// Build makes the function. It reads secrets and parameters, once.
func Build(ctx context.Context, env Environment, p config.Process) (lambdarun.HTTPHandler, error) {
	hashing, err := awssecret.Keyring(ctx, secretsmanager.NewFromConfig(p.AWS), env.LimitSecret)
	if err != nil {
		return nil, err
	}
	db := dynamodb.NewFromConfig(p.AWS)
	directory := org.NewDirectory(store.Control{DB: db, Table: env.ControlTable}, secret.Keyring{}, p.Now)
	limiter := httpapi.Limiter{
		Buckets: store.Flow{DB: db, Table: env.FlowTable},
		Limit:   ratelimit.Limit{Name: "browser", Quota: env.RequestsPerMinute, Window: time.Minute},
		Hashing: hashing,
	}
	return lambdarun.HTTP(p.Logger, getorg.New(getorg.Deps{ //nolint:contextcheck // a request brings its own context
		API:           httpapi.New(httpapi.Options{Logger: p.Logger, Now: p.Now, IDs: ids.Random}),
		Auth:          httpapi.PublicAuth{Public: directory, Limiter: limiter},
		Organisations: directory,
	})), nil
}
