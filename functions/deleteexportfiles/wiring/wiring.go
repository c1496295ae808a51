// Package wiring builds the deleteexportfiles function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/functions/deleteexportfiles"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/export"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.KeyedEnv

	WorkTable     string `env:"WORK_TABLE,required"`
	ExportsBucket string `env:"EXPORTS_BUCKET,required"`
}

// Build reads secrets and returns the deleteexportfiles function's handler. Build is called once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewKeyed(ctx, env.KeyedEnv, p)
	if err != nil {
		return nil, err
	}
	return lambdarun.HTTP(p.Logger, deleteexportfiles.New(deleteexportfiles.Deps{
		API: e.API, Auth: e.Auth,
		Deleter: export.Deleter{
			Tasks: store.Tasks{DB: e.DB, Table: env.WorkTable},
			Files: blob.Bucket{Client: s3.NewFromConfig(p.AWS), Name: env.ExportsBucket},
			Now:   p.Now,
		},
	})), nil
}
