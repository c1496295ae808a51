// Package wiring assembles the requesthealthsystem function from its adapters. The requesthealthsystem function links
// only the adapters that this package imports. Production and tests use the same wiring with different Process values.
package wiring

import (
	"context"

	"recordbridge/functions/requesthealthsystem"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/ownurls"
	"recordbridge/shared/wiring/recorder"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	recorder.Env
	ownurls.URLEnv
}

// Build returns the requesthealthsystem function's handler. Build is called once per cold start and reads secrets.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, inquiries, err := recorder.New(ctx, env.Env, p, "requesthealthsystem")
	if err != nil {
		return nil, err
	}
	_, inquiries.Own, err = ownurls.Read(ctx, p, env.URLEnv)
	if err != nil {
		return nil, err
	}
	return lambdarun.HTTP(p.Logger, requesthealthsystem.New(
		requesthealthsystem.Deps{API: e.API, Auth: e.Auth, Inquiries: inquiries})), nil
}
