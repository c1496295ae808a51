// Package wiring builds the web function's handler and its adapters. The function's binary links only the adapters that
// this package imports.
package wiring

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"recordbridge/functions/web"
	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/ui/pages"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/ownurls"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.PublicEnv
	ownurls.URLEnv

	DashboardURL string `env:"DASHBOARD_URL"`
	UIDir        string `env:"UI_DIR,required"`   // directory of the page files, deployed with the binary
	SiteDir      string `env:"SITE_DIR,required"` // directory of the documentation site, deployed with the binary
	WidgetBucket string `env:"WIDGET_BUCKET,required"`
}

// Build reads secrets, an SSM parameter and the page files, and returns the web function's handler. Build is called
// once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	built, err := pages.Load(os.DirFS(filepath.Join(p.Root, env.UIDir)))
	// A build without pages is valid, but requests for its pages return an error.
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	baseURL, own, err := ownurls.Read(ctx, p, env.URLEnv)
	if err != nil {
		return nil, err
	}
	site, err := pages.LoadSite(os.DirFS(filepath.Join(p.Root, env.SiteDir)), web.SitePath(baseURL))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	e, err := edge.NewPublic(ctx, env.PublicEnv, p, "browser")
	if err != nil {
		return nil, err
	}
	releases := pages.Releases{Files: blob.Archive{Bucket: blob.Bucket{
		Client: s3.NewFromConfig(p.AWS),
		Name:   env.WidgetBucket,
	}}}
	deps := web.Deps{
		API: e.API, Auth: e.Auth, Organisations: e.Organisations, Pages: built, Site: site,
		Releases: releases, BaseURL: baseURL, DashboardURL: env.DashboardURL, Own: own,
	}
	return lambdarun.HTTP(p.Logger, web.New(deps)), nil
}
