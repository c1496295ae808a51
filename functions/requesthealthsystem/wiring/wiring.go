// Package wiring builds the requesthealthsystem function's handler and its adapters. The function's binary links only
// the adapters that this package imports.
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

// Build reads secrets and an SSM parameter, and returns the requesthealthsystem function's handler. Build is called
// once per cold start.
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
