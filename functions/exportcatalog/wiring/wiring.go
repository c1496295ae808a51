// Package wiring builds the exportcatalog function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/functions/exportcatalog"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog/serve"
	"recordbridge/shared/platform/config/awsparam"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/words/cursor"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.KeyedEnv

	CatalogTable     string `env:"CATALOG_TABLE,required"`
	CatalogBucket    string `env:"CATALOG_BUCKET,required"`
	DownloadSecret   string `env:"DOWNLOAD_SECRET,required"`
	BaseURLParameter string `env:"BASE_URL_PARAMETER,required"`
	ExportsPerHour   int    `env:"EXPORTS_PER_HOUR,required"`
}

// Build reads secrets and an SSM parameter, and returns the exportcatalog function's handler. Build is called once per
// cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewKeyed(ctx, env.KeyedEnv, p)
	if err != nil {
		return nil, err
	}
	signing, err := e.Keyring(ctx, env.DownloadSecret)
	if err != nil {
		return nil, err
	}
	baseURL, err := awsparam.Read(ctx, p.AWS, p.Now, env.BaseURLParameter)
	if err != nil {
		return nil, err
	}
	asking := e.Auth
	asking.Limiter.Limit = ratelimit.Limit{Name: "exportcatalog", Quota: env.ExportsPerHour, Window: time.Hour}
	return lambdarun.HTTP(p.Logger, exportcatalog.New(exportcatalog.Deps{
		API: e.API, Auth: asking, FileAuth: e.Auth, Now: p.Now,
		Pointers:  store.Catalog{DB: e.DB, Table: env.CatalogTable},
		Links:     serve.Links{Sealer: cursor.Sealer{Keys: signing}, BaseURL: baseURL},
		Downloads: blob.Downloads{Presigner: s3.NewPresignClient(s3.NewFromConfig(p.AWS)), Name: env.CatalogBucket},
	})), nil
}
