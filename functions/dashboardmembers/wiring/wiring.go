// Package wiring builds the dashboardmembers function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"
	"crypto/rand"

	"recordbridge/functions/dashboardmembers"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/account/members"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/wiring/dashboard"
	"recordbridge/shared/words/ids"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	dashboard.Env

	AuditTable string `env:"AUDIT_TABLE,required"`
}

// Build reads a secret and an SSM parameter, and returns the dashboardmembers function's handler. Build is called once
// per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := dashboard.New(ctx, env.Env, p)
	if err != nil {
		return nil, err
	}
	service := members.Service{
		Rows: e.Accounts, Audit: audit.Log{Rows: store.Audit{DB: e.DB, Table: env.AuditTable}}, Mailer: e.Mailer,
		Dashboard: e.Address,
		Limits:    maillimit.Limiter{Buckets: e.Flow, Keys: e.Limiter.Hashing, Now: p.Now},
		Random:    rand.Reader, NewID: ids.Random, Now: p.Now,
	}
	return lambdarun.HTTP(p.Logger, dashboardmembers.New(
		dashboardmembers.Deps{API: e.API, Auth: e.Auth, Service: service})), nil
}
