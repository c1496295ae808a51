package wiring

import (
	"math/rand/v2"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/adapters/fetch"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/adapters/suffix"
	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/catalog/publish"
	"recordbridge/shared/catalog/snapshot"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/words/weburl"
)

// catalogue holds the adapters that store and build the catalogue.
type catalogue struct {
	rows      store.Catalog
	health    store.CatalogHealth
	intake    intake.Intake
	publisher publish.Publisher
}

// catalogParts returns the adapters for the given stack's catalogue. The catalogsync function uses the same adapters.
func catalogParts(cfg aws.Config, outputs map[string]string, o Options, own weburl.Own) (catalogue, error) {
	platforms, err := platform.NewRegistry()
	if err != nil {
		return catalogue{}, err
	}
	db := store.NewClient(cfg)
	control := store.Control{DB: db, Table: outputs["ControlTable"]}
	portals := store.Portals(control)
	rows := store.Catalog{DB: db, Table: outputs["CatalogTable"]}
	health := store.CatalogHealth{DB: db, Table: outputs["CatalogTable"]}
	files := blob.Bucket{Client: s3.NewFromConfig(cfg), Name: outputs["CatalogBucket"]}
	lists := intake.Intake{Rows: rows, Objects: files, Now: o.Now, Random: rand.Float64}
	if o.HTTP != nil {
		lists.Lists = fetch.Client{HTTP: o.HTTP}
	}
	return catalogue{
		rows: rows, health: health, intake: lists,
		publisher: publish.Publisher{
			Ledger: rows, Snapshots: snapshot.Snapshots{Files: files},
			Lists:     publish.Accepted{Sources: rows, Objects: files, Own: portals},
			Endpoints: portals, Connected: store.ConnectedEndpoints{
				Organisations: store.Organisations(control),
				Connections:   store.Connections{DB: db, Table: outputs["ConnectionTable"]},
			},
			DiscoveredURLs: health,
			Compose:        compose.Compose, Platform: platforms.AtHost, Domain: suffix.Domain,
			BaseURL: outputs["BaseUrl"], Own: own, Now: o.Now,
		},
	}, nil
}
