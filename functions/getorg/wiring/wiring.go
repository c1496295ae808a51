// Package wiring builds the getorg function's handler and its adapters. The function's binary links only the adapters
// that this package imports.
package wiring

import (
	"context"

	"recordbridge/functions/getorg"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/edge"
	"recordbridge/shared/wiring/ownurls"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	edge.PublicEnv
	ownurls.URLEnv
}

// Build reads secrets and an SSM parameter, and returns the getorg function's handler. Build is called once per cold
// start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	e, err := edge.NewPublic(ctx, env.PublicEnv, p, "browser")
	if err != nil {
		return nil, err
	}
	_, own, err := ownurls.Read(ctx, p, env.URLEnv)
	if err != nil {
		return nil, err
	}
	deps := getorg.Deps{API: e.API, Auth: e.Auth, Organisations: e.Organisations, Own: own}
	return lambdarun.HTTP(p.Logger, getorg.New(deps)), nil
}
