package wiring

import (
	"math/rand/v2"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/shared/blob"
	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/catalog/publish"
	"recordbridge/shared/catalog/snapshot"
	"recordbridge/shared/operator"
	"recordbridge/shared/safehttp/fetch"
	"recordbridge/shared/smart/platform"
	"recordbridge/shared/store"
	"recordbridge/shared/weburl"
)

// catalogParts are what the catalogue of the stack with these outputs is kept and made with, as catalogsync has it.
func catalogParts(cfg aws.Config, outputs map[string]string, o Options, control store.Control, own weburl.Own) (operator.CatalogParts, error) {
	platforms, err := platform.NewRegistry()
	if err != nil {
		return operator.CatalogParts{}, err
	}
	rows := store.Catalog{DB: control.DB, Table: outputs["CatalogTable"]}
	files := blob.Bucket{Client: s3.NewFromConfig(cfg), Name: outputs["CatalogBucket"]}
	lists := intake.Intake{Rows: rows, Objects: files, Now: o.Now, Random: rand.Float64}
	if o.HTTP != nil {
		lists.Lists = fetch.Client{HTTP: o.HTTP}
	}
	return operator.CatalogParts{
		Rows: rows, Intake: lists,
		Publisher: publish.Publisher{
			Ledger: rows, Snapshots: snapshot.Snapshots{Files: files}, Lists: publish.Accepted{Sources: rows, Objects: files, Own: control},
			Endpoints: control, Connected: store.ConnectedEndpoints{
				Control: control, Connections: store.Connections{DB: control.DB, Table: outputs["ConnectionTable"]},
			},
			Sightings: store.CatalogHealth{DB: control.DB, Table: outputs["CatalogTable"]},
			Compose:   compose.Compose, Platform: platforms.AtHost, BaseURL: outputs["BaseUrl"], Own: own, Now: o.Now,
		},
	}, nil
}
