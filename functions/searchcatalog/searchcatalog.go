// Package searchcatalog serves POST /bridge/catalog/search?public_id= (docs/openapi.yaml), a text search for
// institutions. Browsers call this endpoint with only the public ID. The endpoint is read-only. All pages of a search
// come from the catalogue edition that served the first page.
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
	MostUsed  *serve.MostUsed
	Own       weburl.Own // the service's own URLs, omitted from responses
}

// Catalogue provides the editions of the searchable catalogue; serve.Catalogue implements it.
type Catalogue interface {
	Live(ctx context.Context, mode string) (serve.Edition, serve.Searchable, error)
	// At returns the given edition, or fault.Gone if the edition is no longer stored.
	At(ctx context.Context, mode string, e serve.Edition) (serve.Searchable, error)
}

type response struct {
	Hits hits `json:"hits"`
}

type hits struct {
	Total    total   `json:"total"`
	MaxScore float64 `json:"max_score"` // maximum score over all pages; 0 if there are no hits
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
	about, place, err := d.searched(ctx, caller.Tenant, in, &query)
	if err != nil {
		return response{}, err
	}
	logx.Add(ctx, slog.String("catalog_version", string(about.Edition.Version)))
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
		sort, err := d.Cursors.Seal(caller.Tenant, about, found.Position)
		if err != nil {
			return response{}, err
		}
		source, err := place.Shown(d.Own, found, page.ZIPs)
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

// searched returns the catalogue to search, and sets the query's start position and the brands to list first. The first
// page comes from the live catalogue. Later pages use the same edition and brands as the first page.
func (d Deps) searched(ctx context.Context, tenant org.Tenant, in request, query *search.Query,
) (serve.Search, serve.Searchable, error) {
	mode, asked := string(tenant.Mode), in.asked()
	if len(in.SearchAfter) == 0 {
		edition, found, err := d.Catalogue.Live(ctx, mode)
		if err == nil && found.Index != nil && in.isSuggestion() {
			query.First = found.Index.Numbers(d.MostUsed.Of(ctx, tenant))
		}
		return serve.Search{Asked: asked, Edition: edition, First: query.First}, found, err
	}
	about, position, err := d.Cursors.Open(tenant, asked, in.SearchAfter)
	if err != nil {
		return about, serve.Searchable{}, err
	}
	query.After, query.First = &position, about.First
	found, err := d.Catalogue.At(ctx, mode, about.Edition)
	if errors.Is(err, fault.Gone) {
		err = fault.BadRequest(
			"searchAfter has expired because the catalogue changed. Search again from the first " +
				"page.").About("searchAfter")
	}
	return about, found, err
}
