// Package wiring connects the requestsupport function to its adapters. The function links only those imported here.
// Production and tests run the same wiring; only the Process differs.
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

// Build returns the function's handler. It reads secrets, once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, inquiries, err := recorder.New(ctx, env.Env, p, "requestsupport")
	if err != nil {
		return nil, err
	}
	return lambdarun.HTTP(p.Logger, requestsupport.New(
		requestsupport.Deps{API: e.API, Auth: e.Auth, Inquiries: inquiries})), nil
}
