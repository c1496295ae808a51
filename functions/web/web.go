// Package web serves the widget and the service's own pages. GET /widget/embed serves the frame embedded in a
// customer's page. GET /widget/connect serves the page for redirect mode and for the window that older elements open.
// Their assets are at /widget/assets/{file}. GET /sdk/{version}/{file} and GET /sdk/manifest.json serve the element and
// its manifest. GET /record-view.js serves the record viewer's element. GET /demo is the playground, GET /docs/{proxy+}
// serves the documentation site, and GET /dashboard displays no data before sign-in. GET /health names the release.
// Widget pages require only a public ID, and all routes are read-only. The package serves the current release's files
// from the function's build. Files of other releases come from the bucket that stores all releases
// (docs/adr/0035-the-widget.md).
package web

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/ui/pages"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/release"
	"recordbridge/shared/words/weburl"
)

// Endpoint paths.
const (
	embedRoute   = "/widget/embed"
	connectRoute = flow.PagePath
	assetsRoute  = "/widget/assets/{file}"
	sdkRoute     = "/sdk/{version}/{file}"
	releaseRoute = "/sdk/manifest.json"
	viewerRoute  = "/record-view.js"
	demoRoute    = "/demo"
	dashRoute    = "/dashboard"
	healthRoute  = "/health"
	docsRoute    = "/docs"
	siteRoute    = "/docs/{proxy...}"
)

// healthAge is the time for which clients may cache the health response.
const healthAge = 5 * time.Second

// Deps holds the endpoint's dependencies.
type Deps struct {
	API           *httpapi.API
	Auth          httpapi.PublicAuth
	Organisations Organisations
	Pages         *pages.Bundle // nil if the service was built without pages
	Site          *pages.Site   // nil if the service was built without the documentation site
	Releases      pages.Releases
	BaseURL       string // service URL, including the version
	DashboardURL  string // if empty, the dashboard is served at a path below BaseURL
	Own           weburl.Own
	Release       release.Release // the function's own release
}

// Organisations looks up organisations by public ID.
type Organisations interface {
	Organisation(ctx context.Context, publicID string) (org.Organisation, error)
}

// framed holds the query parameters of an embedded frame. The frame receives all other values over its message channel.
// Compatible clients also send the element's attributes and alias as parameters, which the page's script reads from the
// URL (docs/reference/compatibility.md).
type framed struct {
	PublicID string `query:"public_id"`
	Alias    string `query:"public-id"`
	Lang     string `query:"lang"`
}

const alias = "public-id"

// connecting holds the hosted page's query parameters. This package doesn't validate the parameters, because the page
// passes them to connect or to an attempt.
type connecting struct {
	PublicID      string `query:"public_id"`
	Lang          string `query:"lang"`
	RedirectURI   string `query:"redirect_uri"`
	ExternalID    string `query:"external_id"`
	ExternalState string `query:"external_state"`
	RequestID     string `query:"request_id"`
	ConnectionID  string `query:"reconnect_org_connection_id"`
	BrandID       string `query:"brand_id"`
	PortalID      string `query:"portal_id"`
}

type asset struct {
	Name string `path:"file"`
}

type released struct {
	Version string `path:"version"`
	Name    string `path:"file"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	get := func(e httpapi.Endpoint) httpapi.Methods { return httpapi.Methods{http.MethodGet: e} }
	embedAuth := d.Auth
	embedAuth.Alias = alias
	return d.API.Routes(map[string]httpapi.Methods{
		embedRoute:   get(httpapi.Application(embedAuth, d.embed)),
		connectRoute: get(httpapi.Application(d.Auth, d.connect)),
		assetsRoute: get(httpapi.Files(func(ctx context.Context, in asset, takes func(string) bool) (httpapi.File, error) {
			return d.file(ctx, "widget/assets/"+in.Name, takes)
		})),
		sdkRoute: get(httpapi.Files(func(ctx context.Context, in released, takes func(string) bool) (httpapi.File, error) {
			return d.file(ctx, "sdk/"+in.Version+"/"+in.Name, takes)
		})),
		releaseRoute: get(httpapi.Files(func(ctx context.Context, _ struct{}, takes func(string) bool) (httpapi.File, error) {
			return d.file(ctx, "sdk/manifest.json", takes)
		})),
		viewerRoute: get(httpapi.Files(func(ctx context.Context, _ struct{}, takes func(string) bool) (httpapi.File, error) {
			return d.file(ctx, pages.Viewer, takes)
		})),
		demoRoute: get(httpapi.Page(httpapi.Limiter{}, d.demo)), // neither this page nor the files are rate-limited
		dashRoute: get(httpapi.Page(httpapi.Limiter{}, d.dashboard)),
		// Requests are not rate-limited, so that the response depends on no other service.
		healthRoute: get(httpapi.Bare(httpapi.Limiter{}, healthAge, d.health)),
		docsRoute:   get(httpapi.Page(httpapi.Limiter{}, d.docs)),
		siteRoute:   get(httpapi.Files(d.document)),
	})
}

// health is the response of a running function. The version and the commit are absent if the release has no name.
type health struct {
	Status  string `json:"status"`
	Version string `json:"version,omitempty"`
	Commit  string `json:"commit,omitempty"`
}

func (d Deps) health(context.Context, struct{}) (health, error) {
	return health{Status: "ok", Version: d.Release.Version, Commit: d.Release.Commit}, nil
}

func (d Deps) embed(ctx context.Context, visit httpapi.Visit, in framed) (httpapi.Answer, error) {
	return d.application(ctx, visit, pages.Embed, cmp.Or(in.PublicID, in.Alias),
		pages.Boot{Shell: pages.Frame, Query: nonEmpty("lang", in.Lang)})
}

func (d Deps) connect(ctx context.Context, visit httpapi.Visit, in connecting) (httpapi.Answer, error) {
	boot := pages.Boot{Shell: pages.Window, Query: nonEmpty(
		"lang", in.Lang, "redirect_uri", in.RedirectURI, "external_id", in.ExternalID, "external_state", in.ExternalState,
		"request_id", in.RequestID,
		"reconnect_org_connection_id", in.ConnectionID, "brand_id", in.BrandID, "portal_id", in.PortalID,
	)}
	if in.RedirectURI != "" { // /bridge/connect adds a redirect URI; without one, the window returns to its opener
		boot.Shell = pages.Page
	}
	return d.application(ctx, visit, pages.Connect, in.PublicID, boot)
}

// application renders a page for the organisation with the given public ID. If the organisation is unknown or
// suspended, the page receives only the public ID.
func (d Deps) application(ctx context.Context, visit httpapi.Visit, name, publicID string,
	boot pages.Boot,
) (httpapi.Answer, error) {
	boot.AllowedOrigins = visit.Caller.AllowedOrigins
	boot.PublicID, boot.Mode = parsePublicID(publicID, visit.Caller.Tenant.Mode)
	if t := visit.Error; t != nil {
		boot.Error = &pages.Failure{Error: t.Code, Description: t.Description, RequestID: t.RequestID}
	} else {
		found, err := d.Organisations.Organisation(ctx, publicID)
		if err != nil {
			return httpapi.Answer{}, err
		}
		boot.Organisation = pages.BrandingOf(found, d.Own)
	}
	return d.draw(visit, name, boot)
}

// demo renders the playground, which creates elements for any public ID.
func (d Deps) demo(_ context.Context, visit httpapi.Visit, in framed) (httpapi.Answer, error) {
	id, mode := parsePublicID(in.PublicID, "")
	return d.draw(visit, pages.Demo, pages.Boot{
		Shell: pages.Page, PublicID: id, Mode: mode,
		Query: nonEmpty("lang", in.Lang),
	})
}

// dashboard renders the dashboard's page, which is in English and identical for all visitors.
func (d Deps) dashboard(_ context.Context, visit httpapi.Visit, _ struct{}) (httpapi.Answer, error) {
	return d.draw(visit, pages.Dashboard, pages.Boot{
		Shell: pages.Page, DashboardURL: d.DashboardURL,
		Query: nonEmpty("lang", httpapi.English),
	})
}

func (d Deps) draw(visit httpapi.Visit, name string, boot pages.Boot) (httpapi.Answer, error) {
	if d.Pages == nil {
		return httpapi.Answer{}, unbuilt()
	}
	boot.BaseURL, boot.Own = d.BaseURL, d.Own
	language := visit.Language()
	// Compare only the primary language, as the page does, because loading another language would take an additional
	// request.
	if asked, _, _ := strings.Cut(strings.ToLower(boot.Query["lang"]), "-"); asked == httpapi.English ||
		asked == httpapi.Spanish {
		language = asked
	}
	drawn, err := d.Pages.Draw(name, language, title(name, language, boot.Organisation), boot)
	if err != nil {
		return httpapi.Answer{}, err
	}
	if name == pages.Embed {
		return httpapi.Framed(drawn.HTML, drawn.Policy, drawn.Referrer), nil
	}
	return httpapi.Drawn(drawn.HTML, drawn.Policy, drawn.Referrer), nil
}

// title returns the page's title, which appears in the browser's tab and history.
func title(name, language string, of *pages.Branding) string {
	text := "Connect your health records"
	switch {
	case name == pages.Demo:
		text = "Playground"
	case name == pages.Dashboard:
		text = "Recordbridge"
	case language == httpapi.Spanish:
		text = "Conecte sus registros médicos"
	}
	if of == nil {
		return text
	}
	return text + " \u00b7 " + of.Name
}

// parsePublicID returns publicID and its mode. If the credential is known, its mode takes precedence over the mode in
// publicID. If publicID is malformed, id is empty and the mode is test.
func parsePublicID(publicID string, known org.Mode) (id string, mode org.Mode) {
	_, said, ok := org.ParsePublicID(publicID)
	switch {
	// A malformed ID is the embedding page author's mistake, which the widget explains in test mode
	// (docs/reference/deviations.md, "Elements").
	case !ok:
		return "", org.Test
	case known != "":
		return publicID, known
	case said != "":
		return publicID, said
	}
	return publicID, org.Live
}

// maxGiven limits a parameter's length in bytes. It exceeds the connect function's own limits.
const maxGiven = 2048

// nonEmpty returns the parameters whose values have between 1 and maxGiven bytes.
func nonEmpty(pairs ...string) map[string]string {
	query := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if name, value := pairs[i], pairs[i+1]; value != "" && len(value) <= maxGiven {
			query[name] = value
		}
	}
	return query
}

func (d Deps) file(ctx context.Context, at string, takes func(encoding string) bool) (httpapi.File, error) {
	if d.Pages == nil {
		return httpapi.File{}, unbuilt()
	}
	found, ok := d.Pages.File(at)
	if !ok {
		var err error
		if found, err = d.Releases.File(ctx, at, takes); err != nil {
			return httpapi.File{}, err
		}
	}
	cache := "public, max-age=31536000, immutable"
	if found.Life == pages.Minutes {
		cache = "public, max-age=300"
	}
	form := found.In(takes)
	return httpapi.File{
		Body: form.Body, Type: found.Type, Encoding: form.Encoding, Tag: form.Tag, Cache: cache,
		Anywhere: found.Audience == pages.Everybody,
	}, nil
}

func unbuilt() error {
	return fault.New(fault.Unavailable, fault.CodeUnavailable,
		"This service was built without its web pages. Install Node 20 or later, run make ui, and build again.")
}
