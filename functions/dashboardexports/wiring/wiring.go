// Package wiring chooses the adapters of the dashboardexports function, and no others: what is not wired here is not
// linked. Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"

	"recordbridge/functions/dashboardexports"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/manage"
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	manage.ReadEnv

	ConnectionTable string `env:"CONNECTION_TABLE,required"`
}

// Build makes the function. It reads a secret, once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewMember(ctx, env.MemberEnv, p)
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
