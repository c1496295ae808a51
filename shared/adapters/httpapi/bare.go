package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Bare creates an endpoint for a JSON document in a standard format, such as a key set (RFC 7517). Any program may
// fetch the document, so the endpoint uses no authentication or envelope, and pages of any origin may read the
// response. Caches may store the document for maxAge, but must not store error responses. The rate limit is per client
// address.
func Bare[In, Out any](limiter Limiter, maxAge time.Duration, f func(context.Context, In) (Out, error)) Endpoint {
	bind := newBinder[In]()
	serve := func(ctx context.Context, c *call) (reply, error) {
		allowAnyOrigin(c.header)
		if err := limiter.take(ctx, c, ""); err != nil {
			return reply{}, err
		}
		in, err := bind.from(c.request)
		if err != nil {
			return reply{}, err
		}
		out, err := f(ctx, in)
		if err != nil {
			return reply{}, err
		}
		body, err := encode(out)
		if err != nil {
			return reply{}, err
		}
		c.header.Set("Content-Type", "application/json")
		c.header.Set("Cache-Control", fmt.Sprintf("public, max-age=%d", seconds(maxAge)))
		return reply{status: http.StatusOK, body: body}, nil
	}
	return Endpoint{serve: serve, fail: failJSON}
}
