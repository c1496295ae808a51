// Package wiring chooses the adapters of the getexport function, and no others: what is not wired here is not linked.
// Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"recordbridge/functions/getexport"
	"recordbridge/shared/config"
	"recordbridge/shared/config/awsparam"
	"recordbridge/shared/config/awssecret"
	"recordbridge/shared/export"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/ids"
	"recordbridge/shared/lambdarun"
	"recordbridge/shared/org"
	"recordbridge/shared/ratelimit"
	"recordbridge/shared/store"
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	ControlTable      string `env:"CONTROL_TABLE,required"`
	FlowTable         string `env:"FLOW_TABLE,required"`
	WorkTable         string `env:"WORK_TABLE,required"`
	KeyHashingSecret  string `env:"KEY_HASHING_SECRET,required"`
	DownloadSecret    string `env:"DOWNLOAD_SECRET,required"`
	BaseURLParameter  string `env:"BASE_URL_PARAMETER,required"`
	RequestsPerMinute int    `env:"REQUESTS_PER_MINUTE,required"`
}

// Build makes the function. It reads secrets and parameters, once.
func Build(ctx context.Context, env Environment, p config.Process) (lambdarun.HTTPHandler, error) {
	db := dynamodb.NewFromConfig(p.AWS)
	hashing, err := awssecret.Keyring(ctx, secretsmanager.NewFromConfig(p.AWS), env.KeyHashingSecret)
	if err != nil {
		return nil, err
	}
	signing, err := awssecret.Keyring(ctx, secretsmanager.NewFromConfig(p.AWS), env.DownloadSecret)
	if err != nil {
		return nil, err
	}
	baseURL, err := awsparam.Read(ctx, ssm.NewFromConfig(p.AWS), env.BaseURLParameter)
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
	return lambdarun.HTTP(p.Logger, getexport.New(getexport.Deps{ //nolint:contextcheck // a request brings its own context
		API:   httpapi.New(httpapi.Options{Logger: p.Logger, Now: p.Now, IDs: ids.Random}),
		Auth:  auth,
		Now:   p.Now,
		Tasks: store.Work{DB: db, Table: env.WorkTable},
		Links: export.Links{Keys: signing, BaseURL: baseURL},
	})), nil
}
