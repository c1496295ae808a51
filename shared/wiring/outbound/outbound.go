// Package outbound runs functions that call servers outside AWS, such as portals and webhook receivers. Only these
// functions link and receive an HTTP client, so every outbound call is subject to safehttp's address guard.
package outbound

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/platform/safehttp"
)

// Env holds the environment variables common to all functions that call servers outside AWS, as set in template.yaml.
type Env struct {
	AllowedPrivateRanges []netip.Prefix `env:"ALLOWED_PRIVATE_RANGES"` // empty in production
}

// Allowed returns the private address ranges that the function may call.
func (e Env) Allowed() []netip.Prefix { return e.AllowedPrivateRanges }

// Process is a lambdarun.Process that also has an HTTP client.
type Process struct {
	lambdarun.Process

	HTTP interface {
		Do(r *http.Request) (*http.Response, error)
	}
}

// Run is like lambdarun.Run but passes an HTTP client to build. The type E must embed Env.
func Run[E interface{ Allowed() []netip.Prefix },
	H lambdarun.Handler](build func(context.Context, E, Process) (H, error)) {
	RunWithin(0, build)
}

// RunWithin is like Run, with a time limit for each HTTP exchange (safehttp.Options).
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
