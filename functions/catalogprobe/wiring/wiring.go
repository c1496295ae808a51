// Package wiring builds the catalogprobe function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/functions/catalogprobe"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/adapters/smart/pulse"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog/health/rounds"
	"recordbridge/shared/catalog/snapshot"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/platform/config/awsparam"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/outbound"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	outbound.Env

	CatalogTable     string `env:"CATALOG_TABLE,required"`
	CatalogBucket    string `env:"CATALOG_BUCKET,required"`
	FlowTable        string `env:"FLOW_TABLE,required"`
	BaseURLParameter string `env:"BASE_URL_PARAMETER,required"`
	EndpointProbes   string `env:"ENDPOINT_PROBES,required"`
}

// Build reads an SSM parameter and returns the catalogprobe function's handler. Build is called once per cold start.
func Build(ctx context.Context, env Environment, p outbound.Process) (lambdarun.ScheduleHandler, error) {
	baseURL, err := awsparam.Read(ctx, p.AWS, p.Now, env.BaseURLParameter)
	if err != nil {
		return nil, err
	}
	platforms, err := platform.NewRegistry()
	if err != nil {
		return nil, err
	}
	db := store.NewClient(p.AWS)
	bucket := blob.Bucket{Client: s3.NewFromConfig(p.AWS), Name: env.CatalogBucket}
	makes := rounds.New(rounds.Deps{
		Catalogs: catalogprobe.Catalogs{
			Pointers: store.Catalog{DB: db, Table: env.CatalogTable}, Snapshots: snapshot.Snapshots{Files: bucket},
		},
		Records:  store.CatalogHealth{DB: db, Table: env.CatalogTable},
		Prober:   pulse.New(p.HTTP, platforms, baseURL, p.Now),
		Observer: catalogprobe.Observer{State: store.EndpointState{DB: db, Table: env.FlowTable}},
		Put: func(ctx context.Context, name string, body []byte) error {
			return bucket.Put(ctx, name, "application/octet-stream", body)
		},
		Admits: catalogprobe.Scope(env.EndpointProbes).Admits(env.AllowedPrivateRanges),
		Now:    p.Now,
	})
	return lambdarun.Schedule(p.Process, "catalogprobe", catalogprobe.New(makes)), nil
}
