// Package wiring builds the listevents function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"recordbridge/functions/listevents"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/export"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/webhook/eventlog"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/words/cursor"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.KeyedEnv

	WorkTable      string `env:"WORK_TABLE,required"`
	CursorSecret   string `env:"CURSOR_SECRET,required"`
	DownloadSecret string `env:"DOWNLOAD_SECRET,required"`
}

// Build reads secrets and returns the listevents function's handler. Build is called once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewKeyed(ctx, env.KeyedEnv, p)
	if err != nil {
		return nil, err
	}
	sealing, err := e.Keyring(ctx, env.CursorSecret)
	if err != nil {
		return nil, err
	}
	signing, err := e.Keyring(ctx, env.DownloadSecret)
	if err != nil {
		return nil, err
	}
	return lambdarun.HTTP(p.Logger, listevents.New(listevents.Deps{
		API: e.API, Auth: e.Auth,
		Events: eventlog.Reader{
			Log:     store.EventLog{DB: e.DB, Table: env.WorkTable},
			Links:   export.Links{Keys: signing, BaseURL: ""},
			Cursors: cursor.Sealer{Keys: sealing},
			Now:     p.Now,
		},
	})), nil
}
