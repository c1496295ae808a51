// Package wiring chooses the adapters of the requesthealthsystem function, and no others: what is not wired here is not
// linked. Production and tests run the same wiring; only the Process around it differs.
package wiring

import (
	"context"

	"recordbridge/functions/requesthealthsystem"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/ownurls"
	"recordbridge/shared/wiring/recorder"
)

// Environment is the part of template.yaml that the function reads.
type Environment struct {
	recorder.Env
	ownurls.URLEnv
}

// Build makes the function. It reads secrets, once per cold start.
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
