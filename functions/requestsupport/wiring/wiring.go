// Package wiring builds the requestsupport function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"

	"recordbridge/functions/requestsupport"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/recorder"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	recorder.Env
}

// Build reads secrets and returns the requestsupport function's handler. Build is called once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, inquiries, err := recorder.New(ctx, env.Env, p, "requestsupport")
	if err != nil {
		return nil, err
	}
	return lambdarun.HTTP(p.Logger, requestsupport.New(
		requestsupport.Deps{API: e.API, Auth: e.Auth, Inquiries: inquiries})), nil
}
