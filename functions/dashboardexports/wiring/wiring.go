// Package wiring builds the dashboardexports function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"recordbridge/functions/dashboardexports"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/wiring/manage"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	manage.ReadEnv
	manage.CookieEnv

	ConnectionTable string `env:"CONNECTION_TABLE,required"`
}

// Build reads a secret and an SSM parameter, and returns the dashboardexports function's handler. Build is called once
// per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := manage.NewMember(ctx, env.MemberEnv, env.CookieEnv, p)
	if err != nil {
		return nil, err
	}
	log := deliverylog.Log{
		Rows: store.DeliveryLog{DB: e.DB, Table: env.WorkTable}, Subscriptions: store.Hooks(e.Control), Now: p.Now,
	}
	connections := store.Connections{DB: e.DB, Table: env.ConnectionTable}
	endpoints := dashboardexports.New(dashboardexports.Deps{
		API: e.API, Auth: e.Auth,
		Exports: operator.NewExports(
			store.NewAccess(e.Control), connections, store.Tasks{DB: e.DB, Table: env.WorkTable}, log, p.Now,
		),
	})
	return lambdarun.HTTP(p.Logger, endpoints), nil
}
