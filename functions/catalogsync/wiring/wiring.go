// Package wiring chooses the adapters of the catalogsync function, and no others: what is not wired here is not linked.
// Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"
	"math/rand/v2"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/functions/catalogsync"
	"recordbridge/shared/blob"
	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/lambdarun"
	"recordbridge/shared/safehttp/fetch"
	"recordbridge/shared/store"
	"recordbridge/shared/wiring/outbound"
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	outbound.Env

	CatalogTable  string `env:"CATALOG_TABLE,required"`
	CatalogBucket string `env:"CATALOG_BUCKET,required"`
}

// Build makes the function.
func Build(_ context.Context, env Environment, p outbound.Process) (lambdarun.ScheduleHandler, error) {
	lists := intake.Intake{
		Lists:   fetch.Client{HTTP: p.HTTP},
		Rows:    store.Catalog{DB: store.NewClient(p.AWS), Table: env.CatalogTable},
		Objects: blob.Bucket{Client: s3.NewFromConfig(p.AWS), Name: env.CatalogBucket},
		Now:     p.Now, Random: rand.Float64,
	}
	return lambdarun.Schedule(p.Process, "catalogsync", catalogsync.New(lists, nil)), nil
}
