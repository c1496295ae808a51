// Package outbound runs the functions that call servers outside AWS: portals and webhooks. Only they get an HTTP
// client, so code that is wired to one always runs behind the guard of safehttp, and other functions do not link it.
package outbound

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/platform/safehttp"
)

// Env holds every such function's environment variables, as set in template.yaml.
type Env struct {
	AllowedPrivateRanges []netip.Prefix `env:"ALLOWED_PRIVATE_RANGES"` // none in production
}

// Allowed returns the private address ranges that may be called.
func (e Env) Allowed() []netip.Prefix { return e.AllowedPrivateRanges }

// Process is a lambdarun.Process with an HTTP client.
type Process struct {
	lambdarun.Process

	HTTP interface {
		Do(r *http.Request) (*http.Response, error)
	}
}

// Run is like lambdarun.Run, for functions with an HTTP client. E embeds Env.
func Run[E interface{ Allowed() []netip.Prefix },
	H lambdarun.Handler](build func(context.Context, E, Process) (H, error)) {
	RunWithin(0, build)
}

// RunWithin is like Run, with a time limit for an exchange (safehttp.Options).
func RunWithin[E interface{ Allowed() []netip.Prefix }, H lambdarun.Handler](within time.Duration,
	build func(context.Context, E, Process) (H, error),
) {
	lambdarun.Run(func(ctx context.Context, env E, p lambdarun.Process) (H, error) {
		return build(ctx, env, Process{
			Process: p,
			HTTP:    safehttp.New(safehttp.Options{Allow: env.Allowed(), Within: within, Certificate: nil, Roots: nil}),
		})
	})
}
