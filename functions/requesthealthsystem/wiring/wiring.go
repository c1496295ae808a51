// Package wiring connects the requesthealthsystem function to its adapters. The function links only those imported
// here. Production and tests run the same wiring; only the Process differs.
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

// Build returns the function's handler. It reads secrets, once per cold start.
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
