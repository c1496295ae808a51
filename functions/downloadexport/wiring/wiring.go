// Package wiring builds the downloadexport function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/functions/downloadexport"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/export"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.KeyedEnv

	WorkTable      string `env:"WORK_TABLE,required"`
	DownloadSecret string `env:"DOWNLOAD_SECRET,required"`
	ExportsBucket  string `env:"EXPORTS_BUCKET,required"`
}

// Build reads secrets and returns the downloadexport function's handler. Build is called once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewKeyed(ctx, env.KeyedEnv, p)
	if err != nil {
		return nil, err
	}
	signing, err := e.Keyring(ctx, env.DownloadSecret)
	if err != nil {
		return nil, err
	}
	presigner := s3.NewPresignClient(s3.NewFromConfig(p.AWS))
	return lambdarun.HTTP(p.Logger, downloadexport.New(downloadexport.Deps{
		API: e.API, Auth: e.Auth, Now: p.Now,
		Tasks:     store.Tasks{DB: e.DB, Table: env.WorkTable},
		Links:     export.Links{Keys: signing, BaseURL: ""},
		Downloads: blob.Downloads{Presigner: presigner, Name: env.ExportsBucket},
	})), nil
}
