// Package searchcatalog serves POST /bridge/catalog/search?public_id= (docs/openapi.yaml), a text search for
// institutions. Browsers call it with only the public ID. The endpoint is read-only. All pages of a search come from
// the edition of the catalogue that served the first page.
package searchcatalog

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/catalog/serve"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/weburl"
)

// Route is the endpoint's path.
const Route = "/bridge/catalog/search"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API       *httpapi.API
	Auth      httpapi.PublicAuth
	Catalogue Catalogue
	Cursors   serve.Cursors
	Own       weburl.Own // the service's own URLs, which are omitted from responses
}

// Catalogue provides the editions of the searchable catalogue (serve.Catalogue).
type Catalogue interface {
	Live(ctx context.Context, mode string) (serve.Edition, serve.Searchable, error)
	// At returns the given edition, or fault.Gone if it is no longer stored.
	At(ctx context.Context, mode string, e serve.Edition) (serve.Searchable, error)
}

type response struct {
	Hits hits `json:"hits"`
}

type hits struct {
	Total    total   `json:"total"`
	MaxScore float64 `json:"max_score"` // maximum over all pages; 0 if there are no hits
	Hits     []hit   `json:"hits"`
}

type total struct {
	Value    int    `json:"value"`
	Relation string `json:"relation"`
}

type hit struct {
	Type   string          `json:"_type"`
	ID     string          `json:"_id"`
	Score  float64         `json:"_score"`
	Sort   serve.Sort      `json:"sort"`
	Source json.RawMessage `json:"_source"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodPost: httpapi.Browser(d.Auth, d.search)})
}

func (d Deps) search(ctx context.Context, caller org.Caller, in request) (response, error) {
	query, err := in.check(caller.Tenant.Mode)
	if err != nil {
		return response{}, err
	}
	asked := in.asked()
	edition, place, err := d.searched(ctx, caller.Tenant, asked, in.SearchAfter, &query)
	if err != nil {
		return response{}, err
	}
	logx.Add(ctx, slog.String("catalog_version", string(edition.Version)))
	out := response{hits{Total: total{0, "eq"}, Hits: []hit{}}}
	if place.Index == nil {
		return out, nil
	}
	query.Demote = place.Demote
	page, err := place.Index.Search(query)
	if err != nil {
		return response{}, err
	}
	out.Hits.Total.Value, out.Hits.MaxScore = page.Total, page.MaxScore
	for _, found := range page.Hits {
		sort, err := d.Cursors.Seal(caller.Tenant, asked, edition, found.Position)
		if err != nil {
			return response{}, err
		}
		source, err := place.AddHealth(d.Own, found.Source)
		if err != nil {
			return response{}, err
		}
		out.Hits.Hits = append(out.Hits.Hits, hit{
			Type: "brand", ID: found.ID, Score: found.Position.Score, Sort: sort,
			Source: source,
		})
	}
	return out, nil
}

// searched returns the catalogue to search and the position at which to continue. The catalogue is the live one, or on
// later pages the edition that served the first page.
func (d Deps) searched(ctx context.Context, tenant org.Tenant, asked string, after []json.RawMessage,
	query *search.Query,
) (serve.Edition, serve.Searchable, error) {
	mode := string(tenant.Mode)
	if len(after) == 0 {
		return d.Catalogue.Live(ctx, mode)
	}
	edition, position, err := d.Cursors.Open(tenant, asked, after)
	if err != nil {
		return edition, serve.Searchable{}, err
	}
	query.After = &position
	found, err := d.Catalogue.At(ctx, mode, edition)
	if errors.Is(err, fault.Gone) {
		err = fault.BadRequest(
			"searchAfter has expired because the catalogue changed. Search again from the first " +
				"page.").About("searchAfter")
	}
	return edition, found, err
}
