// Package exportcatalog serves GET /bridge/catalog/export (docs/openapi.yaml). An organisation's backend calls this
// endpoint with its private key. The response lists the URLs of three files that together contain the complete
// catalogue for the key's mode. All three URLs point to this endpoint, which redirects to the files. The endpoint is
// read-only.
package exportcatalog

import (
	"context"
	"net/http"
	"slices"
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/catalog/serve"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Route is the endpoint's path.
const Route = serve.ExportPath

// addressLife is the lifetime of a file's signed URL (docs/reference/deviations.md, "Catalogue").
const addressLife = 10 * time.Minute

// Deps holds the endpoint's dependencies.
type Deps struct {
	API       *httpapi.API
	Auth      httpapi.KeyAuth // authenticates requests for the list of files
	FileAuth  httpapi.KeyAuth // authenticates requests for one file
	Pointers  serve.SnapshotPointers
	Links     serve.Links
	Downloads Downloads
	Now       func() time.Time
}

// Downloads creates signed URLs for files; blob.Downloads implements it.
type Downloads interface {
	Address(ctx context.Context, method, key, fileName, contentType string, life time.Duration) (string, error)
}

type request struct {
	File  string `query:"file"`
	Token string `query:"token"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	list := d.API.Serve(Route, httpapi.Methods{http.MethodGet: httpapi.Keyed(d.Auth, d.list)})
	methods := httpapi.Methods{}
	for _, method := range []string{http.MethodGet, http.MethodHead} { // an S3 signature is valid for only one method
		methods[method] = httpapi.KeyOptional(d.FileAuth,
			func(ctx context.Context, _ httpapi.OptionalKey, in request) (httpapi.RedirectResult, error) {
				return d.find(ctx, method, in)
			})
	}
	file := d.API.Serve(Route, methods)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("token") {
			file.ServeHTTP(w, r)
			return
		}
		list.ServeHTTP(w, r)
	})
}

func (d Deps) list(ctx context.Context, caller org.Caller, in request) (map[string]string, error) {
	if in.File != "" && !isFile(in.File) {
		return nil, missingFile()
	}
	pointer, err := d.Pointers.Pointer(ctx, string(caller.Tenant.Mode))
	if err != nil {
		return nil, err
	}
	if pointer.Live == "" {
		return nil, fault.Missing("No catalogue has been published yet.")
	}
	return d.Links.List(caller.Tenant.Mode, pointer.Live, d.Now())
}

func (d Deps) find(ctx context.Context, method string, in request) (httpapi.RedirectResult, error) {
	key, err := d.Links.Key(in.Token, in.File, d.Now())
	if err != nil {
		return httpapi.RedirectResult{}, err
	}
	address, err := d.Downloads.Address(ctx, method, key, in.File, "application/json", addressLife)
	return httpapi.RedirectResult{Location: address}, err
}

func isFile(name string) bool { return slices.Contains(serve.FileNames(), name) }

func missingFile() error { return fault.Missing("File not found.") }
