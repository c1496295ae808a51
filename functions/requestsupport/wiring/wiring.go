// Package wiring chooses the adapters of the requestsupport function, and no others: what is not wired here is not
// linked. Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"

	"recordbridge/functions/requestsupport"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/recorder"
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	recorder.Env
}

// Build makes the function. It reads secrets, once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, inquiries, err := recorder.New(ctx, env.Env, p, "requestsupport")
	if err != nil {
		return nil, err
	}
	return lambdarun.HTTP(p.Logger, requestsupport.New(
		requestsupport.Deps{API: e.API, Auth: e.Auth, Inquiries: inquiries})), nil
}
