// Package wiring builds the getexport function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"recordbridge/functions/getexport"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/export"
	"recordbridge/shared/platform/config/awsparam"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.KeyedEnv

	WorkTable        string `env:"WORK_TABLE,required"`
	DownloadSecret   string `env:"DOWNLOAD_SECRET,required"`
	BaseURLParameter string `env:"BASE_URL_PARAMETER,required"`
}

// Build reads secrets and an SSM parameter, and returns the getexport function's handler. Build is called once per cold
// start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewKeyed(ctx, env.KeyedEnv, p)
	if err != nil {
		return nil, err
	}
	signing, err := e.Keyring(ctx, env.DownloadSecret)
	if err != nil {
		return nil, err
	}
	baseURL, err := awsparam.Read(ctx, p.AWS, p.Now, env.BaseURLParameter)
	if err != nil {
		return nil, err
	}
	return lambdarun.HTTP(p.Logger, getexport.New(getexport.Deps{
		API: e.API, Auth: e.Auth, Now: p.Now,
		Tasks: store.Tasks{DB: e.DB, Table: env.WorkTable},
		Links: export.Links{Keys: signing, BaseURL: baseURL},
	})), nil
}
