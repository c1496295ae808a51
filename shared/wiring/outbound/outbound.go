// Package outbound runs the functions that call servers outside AWS: portals and webhooks. They are the only ones with
// an HTTP client, so what is wired to one cannot be run without the guard of safehttp, and the others do not link it.
package outbound

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/platform/safehttp"
)

// Env is what every such function reads of template.yaml.
type Env struct {
	AllowedPrivateRanges []netip.Prefix `env:"ALLOWED_PRIVATE_RANGES"` // none in production
}

// Allowed are the private addresses that may be called.
func (e Env) Allowed() []netip.Prefix { return e.AllowedPrivateRanges }

// Process is what such a function is wired to.
type Process struct {
	lambdarun.Process

	HTTP interface {
		Do(r *http.Request) (*http.Response, error)
	}
}

// Run is lambdarun.Run for them. E embeds Env.
func Run[E interface{ Allowed() []netip.Prefix },
	H lambdarun.Handler](build func(context.Context, E, Process) (H, error)) {
	RunWithin(0, build)
}

// RunWithin is Run with how long an exchange may take (safehttp.Options).
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
