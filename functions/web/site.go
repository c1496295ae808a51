package web

import (
	"context"
	"net/url"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/ui/pages"
	"recordbridge/shared/words/fault"
)

// document identifies a file of the documentation site.
type document struct {
	Path string `path:"proxy"`
}

// SitePath returns the URL path of the documentation site, for the service at baseURL.
func SitePath(baseURL string) string {
	base, err := url.Parse(baseURL)
	if err != nil {
		return docsRoute
	}
	return base.Path + docsRoute
}

// docs redirects to the site's first page. API Gateway ignores a trailing slash, so links relative to /docs/ wouldn't
// work at /docs.
func (d Deps) docs(context.Context, httpapi.Visit, struct{}) (httpapi.Answer, error) {
	if d.Site == nil {
		return httpapi.Answer{}, unbuiltSite()
	}
	return httpapi.Redirect(d.BaseURL + docsRoute + "/index.html"), nil
}

// document serves a file of the documentation site, or the site's page for unknown paths.
func (d Deps) document(_ context.Context, in document, takes func(encoding string) bool) (httpapi.File, error) {
	if d.Site == nil {
		return httpapi.File{}, unbuiltSite()
	}
	found, ok, err := d.Site.File(in.Path, takes)
	if err == nil && !ok {
		found, err = d.Site.Missing()
	}
	if err != nil {
		return httpapi.File{}, err
	}
	cache := "public, max-age=31536000, immutable"
	if found.Life != pages.Forever {
		cache = "no-cache"
	}
	return httpapi.File{
		Body: found.Body, Type: found.Type, Encoding: found.Encoding, Tag: found.Tag, Cache: cache,
		Policy: found.Policy, Missing: !ok,
	}, nil
}

func unbuiltSite() error {
	return fault.New(fault.Unavailable, fault.CodeUnavailable,
		"This service was built without its documentation. Install Node 20 or later, run make site, and build again.")
}
