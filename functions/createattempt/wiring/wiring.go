// Package wiring chooses the adapters of the createattempt function, and no others: what is not wired here is not linked.
// Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"
	"crypto/rand"
	"net/netip"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"recordbridge/functions/createattempt"
	"recordbridge/shared/config"
	"recordbridge/shared/config/awsparam"
	"recordbridge/shared/config/awssecret"
	"recordbridge/shared/flow"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/ids"
	"recordbridge/shared/lambdarun"
	"recordbridge/shared/org"
	"recordbridge/shared/ratelimit"
	"recordbridge/shared/secret"
	"recordbridge/shared/smart"
	"recordbridge/shared/smart/platform"
	"recordbridge/shared/store"
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	ControlTable         string         `env:"CONTROL_TABLE,required"`
	ConnectionTable      string         `env:"CONNECTION_TABLE,required"`
	FlowTable            string         `env:"FLOW_TABLE,required"`
	BaseURLParameter     string         `env:"BASE_URL_PARAMETER,required"`
	AllowedPrivateRanges []netip.Prefix `env:"ALLOWED_PRIVATE_RANGES"`
	RequestsPerMinute    int            `env:"REQUESTS_PER_MINUTE,required"`
	LimitSecret          string         `env:"LIMIT_SECRET,required"`
}

// Build makes the function. It reads secrets and parameters, once.
func Build(ctx context.Context, env Environment, p config.Process) (lambdarun.HTTPHandler, error) {
	hashing, err := awssecret.Keyring(ctx, secretsmanager.NewFromConfig(p.AWS), env.LimitSecret)
	if err != nil {
		return nil, err
	}
	db := dynamodb.NewFromConfig(p.AWS)
	baseURL, err := awsparam.Read(ctx, ssm.NewFromConfig(p.AWS), env.BaseURLParameter)
	if err != nil {
		return nil, err
	}
	platforms, err := platform.NewBook()
	if err != nil {
		return nil, err
	}
	control := store.Control{DB: db, Table: env.ControlTable}
	attempts := store.Flow{DB: db, Table: env.FlowTable}
	return lambdarun.HTTP(p.Logger, createattempt.New(createattempt.Deps{ //nolint:contextcheck // a request brings its own context
		API: httpapi.New(httpapi.Options{Logger: p.Logger, Now: p.Now, IDs: ids.Random}),
		Auth: httpapi.PublicAuth{
			Public: org.NewDirectory(control, secret.Keyring{}, p.Now),
			Limiter: httpapi.Limiter{
				Buckets: attempts,
				Limit:   ratelimit.Limit{Name: "createattempt", Quota: env.RequestsPerMinute, Window: time.Minute},
				Hashing: hashing,
			},
		},
		BaseURL: baseURL,
		Flows: flow.Starter{
			Widgets: attempts, Catalog: control, Connections: store.Connections{DB: db, Table: env.ConnectionTable},
			Portal:    smart.Portal{Doer: p.HTTP, Random: rand.Reader, Now: p.Now, Cache: new(smart.Discoveries)},
			Platforms: platforms,
			BaseURL:   baseURL, Now: p.Now, NewID: ids.Random, Random: rand.Reader,
		},
	})), nil
}
