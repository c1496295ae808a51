// Package wiring builds the searchcatalog function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/functions/searchcatalog"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog/serve"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/ownurls"
	"recordbridge/shared/words/cursor"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.PublicEnv
	ownurls.URLEnv

	CatalogTable  string `env:"CATALOG_TABLE,required"`
	CatalogBucket string `env:"CATALOG_BUCKET,required"`
	WorkTable     string `env:"WORK_TABLE,required"`
	CursorSecret  string `env:"CURSOR_SECRET,required"`
}

// Build reads secrets and an SSM parameter, loads the live catalogue and returns the searchcatalog function's handler.
// Build is called once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewPublic(ctx, env.PublicEnv, p, "searchcatalog")
	if err != nil {
		return nil, err
	}
	_, own, err := ownurls.Read(ctx, p, env.URLEnv)
	if err != nil {
		return nil, err
	}
	sealing, err := e.Keyring(ctx, env.CursorSecret)
	if err != nil {
		return nil, err
	}
	objects := blob.Archive{Bucket: blob.Bucket{Client: s3.NewFromConfig(p.AWS), Name: env.CatalogBucket}}
	pointers := serve.Pointers{
		Snapshots: store.Catalog{DB: e.DB, Table: env.CatalogTable},
		Health:    store.CatalogHealth{DB: e.DB, Table: env.CatalogTable},
	}
	catalogue := serve.NewCatalogue(pointers, serve.Files{Objects: objects, Dir: p.Dir}, p.Now)
	catalogue.Warm(ctx)
	return lambdarun.HTTP(p.Logger, searchcatalog.New(searchcatalog.Deps{
		API: e.API, Auth: e.Auth, Catalogue: catalogue,
		Cursors:  serve.Cursors{Sealer: cursor.Sealer{Keys: sealing}},
		MostUsed: serve.NewMostUsed(store.UsageDays{DB: e.DB, Table: env.WorkTable}, p.Now), Own: own,
	})), nil
}
