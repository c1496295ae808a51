// Package wiring builds the getcatalog function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/functions/getcatalog"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog/serve"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/directory"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/ownurls"
	"recordbridge/shared/wiring/setting"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.PublicEnv
	ownurls.URLEnv
	setting.TEFCAEnv

	CatalogTable  string `env:"CATALOG_TABLE,required"`
	CatalogBucket string `env:"CATALOG_BUCKET,required"`
}

// Build reads secrets and an SSM parameter, and returns the getcatalog function's handler. Build is called once per
// cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewPublic(ctx, env.PublicEnv, p, "getcatalog")
	if err != nil {
		return nil, err
	}
	_, own, err := ownurls.Read(ctx, p, env.URLEnv)
	if err != nil {
		return nil, err
	}
	facilities, err := directory.New(env.TEFCAEnv)
	if err != nil {
		return nil, err
	}
	objects := blob.Archive{Bucket: blob.Bucket{Client: s3.NewFromConfig(p.AWS), Name: env.CatalogBucket}}
	pointers := serve.Pointers{
		Snapshots: store.Catalog{DB: e.DB, Table: env.CatalogTable},
		Health:    store.CatalogHealth{DB: e.DB, Table: env.CatalogTable},
	}
	return lambdarun.HTTP(p.Logger, getcatalog.New(getcatalog.Deps{
		API: e.API, Auth: e.Auth, Records: serve.NewRecords(pointers, serve.Files{Objects: objects, Dir: p.Dir},
			objects, own, p.Now),
		Facilities: facilities,
	})), nil
}
