// Package wiring builds the catalogsync function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"
	"math/rand/v2"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/functions/catalogsync"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/adapters/fetch"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/adapters/suffix"
	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/catalog/publish"
	"recordbridge/shared/catalog/snapshot"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/outbound"
	"recordbridge/shared/wiring/ownurls"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	outbound.Env
	ownurls.URLEnv

	CatalogTable    string `env:"CATALOG_TABLE,required"`
	CatalogBucket   string `env:"CATALOG_BUCKET,required"`
	ControlTable    string `env:"CONTROL_TABLE,required"`
	ConnectionTable string `env:"CONNECTION_TABLE,required"`
}

// Build reads an SSM parameter and returns the catalogsync function's handler. Build is called once per cold start.
func Build(ctx context.Context, env Environment, p outbound.Process) (lambdarun.ScheduleHandler, error) {
	baseURL, own, err := ownurls.Read(ctx, p.Process, env.URLEnv)
	if err != nil {
		return nil, err
	}
	platforms, err := platform.NewRegistry()
	if err != nil {
		return nil, err
	}
	db, files := store.NewClient(p.AWS), blob.Bucket{Client: s3.NewFromConfig(p.AWS), Name: env.CatalogBucket}
	rows, control := store.Catalog{DB: db, Table: env.CatalogTable}, store.Control{DB: db, Table: env.ControlTable}
	portals := store.Portals(control)
	lists := intake.Intake{Lists: fetch.Client{HTTP: p.HTTP}, Rows: rows, Objects: files, Now: p.Now, Random: rand.Float64}
	publisher := publish.Publisher{
		Ledger: rows, Snapshots: snapshot.Snapshots{Files: files},
		Lists:     publish.Accepted{Sources: rows, Objects: files, Own: portals},
		Endpoints: portals,
		Connected: store.ConnectedEndpoints{
			Organisations: store.Organisations(control),
			Connections:   store.Connections{DB: db, Table: env.ConnectionTable},
		},
		DiscoveredURLs: store.CatalogHealth{DB: db, Table: env.CatalogTable},
		Compose:        compose.Compose, Platform: platforms.AtHost, Domain: suffix.Domain,
		BaseURL: baseURL, Own: own, Now: p.Now,
	}
	return lambdarun.Schedule(p.Process, "catalogsync",
		catalogsync.New(lists, catalogsync.Publishing{Publisher: publisher})), nil
}
