package httpapi

import (
	"context"
	"net/http"
	"slices"
)

const exposedHeaders = "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"

// allowAnyOrigin sets the initial CORS headers of a browser endpoint. Until the endpoint has identified the
// organisation, any page may read its errors. Credentials are never allowed in cross-origin requests.
func allowAnyOrigin(header http.Header) {
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Expose-Headers", exposedHeaders)
}

// allowOrigins restricts CORS to the organisation's registered origins, if there are any.
func allowOrigins(c *call, registered []string) {
	if len(registered) == 0 {
		return
	}
	c.header.Add("Vary", "Origin")
	c.header.Del("Access-Control-Allow-Origin")
	if origin := c.request.Header.Get("Origin"); slices.Contains(registered, origin) {
		c.header.Set("Access-Control-Allow-Origin", origin)
	}
}

// preflight responds to a CORS preflight request (Fetch standard section 4.8).
func preflight(ctx context.Context, c *call, finder PublicFinder, methods string) {
	allowAnyOrigin(c.header)
	if id, err := publicID(c.request, ""); err == nil {
		if caller, err := finder.ByPublicID(ctx, id); err == nil {
			allowOrigins(c, caller.AllowedOrigins)
		}
	}
	c.header.Set("Access-Control-Allow-Methods", methods)
	c.header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
	c.header.Set("Access-Control-Max-Age", "600")
}
