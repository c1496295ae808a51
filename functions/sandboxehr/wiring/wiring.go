// Package wiring builds the sandboxehr function's handler and its adapters. The function's binary links only the
// adapters that this package imports.
package wiring

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/persona"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/platform/config/awsparam"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/tefca/identity"
)

// Environment holds the function's environment variables, as set in template.yaml.
type Environment struct {
	SandboxTable     string `env:"SANDBOX_TABLE,required"`
	SandboxDataDir   string `env:"SANDBOX_DATA_DIR"`
	BaseURLParameter string `env:"BASE_URL_PARAMETER,required"`
}

// Build reads an SSM parameter and returns the sandboxehr function's handler. Build is called once per cold start.
func Build(ctx context.Context, env Environment, p lambdarun.Process) (lambdarun.HTTPHandler, error) {
	baseURL, err := awsparam.Read(ctx, p.AWS, p.Now, env.BaseURLParameter)
	if err != nil {
		return nil, err
	}
	personas := persona.Builtin()
	if env.SandboxDataDir != "" {
		var loaded []persona.Persona
		if loaded, err = persona.LoadDir(env.SandboxDataDir); err != nil {
			return nil, fmt.Errorf("load the sandbox's patients: %w", err)
		}
		personas = append(personas, loaded...)
	}
	portal, err := sandbox.New(sandbox.Deps{
		BaseURL: baseURL + "/sandbox", Personas: personas,
		Clients: []oauth.Client{
			{ID: sandbox.DefaultClientID, RedirectURIs: []string{
				baseURL + flow.CallbackPath,
				baseURL + flow.CallbackPath + "/*",
			}},
			{ID: identity.SimulatedClient, RedirectURIs: []string{baseURL + identity.CallbackPath + "/*"}},
		},
		Store: store.Sandbox{DB: store.NewClient(p.AWS), Table: env.SandboxTable},
		Now:   p.Now, Random: rand.Reader, AccessTokenTTL: time.Hour, CodeTTL: time.Minute, Logger: p.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("make the sandbox: %w", err)
	}
	return lambdarun.HTTP(p.Logger, portal), nil
}
