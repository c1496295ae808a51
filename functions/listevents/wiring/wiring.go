// Package wiring chooses the adapters of the listevents function, and no others: what is not wired here is not linked.
// Production and tests run the same wiring; only the Process around it differs.
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

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	edge.KeyedEnv

	WorkTable      string `env:"WORK_TABLE,required"`
	CursorSecret   string `env:"CURSOR_SECRET,required"`
	DownloadSecret string `env:"DOWNLOAD_SECRET,required"`
}

// Build makes the function. It reads secrets, once per cold start.
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
