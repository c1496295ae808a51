package httpapi

import (
	"context"
	"net/http"
	"strings"
)

// File is a precomputed response with an entity tag.
type File struct {
	Body     []byte
	Type     string // media type
	Encoding string // Content-Encoding of the body; empty if the body is unencoded
	Tag      string // strong entity tag, including the quotes
	Cache    string // Cache-Control
	Anywhere bool   // whether pages from any origin may load and read the file
	Policy   string // Content-Security-Policy of a page; empty if the file isn't a page
	Missing  bool   // whether the file is a page that reports an unknown path (404)
}

// Files creates an unauthenticated endpoint for public files. takes, which is passed to find, reports whether the
// client accepts an encoding. Errors from find are rendered as JSON and are not cached. Requests are not rate-limited,
// because serving a file costs less than updating the rate limit's row.
func Files[In any](find func(ctx context.Context, in In, takes func(encoding string) bool) (File, error)) Endpoint {
	bind := newBinder[In]()
	serve := func(ctx context.Context, c *call) (reply, error) {
		in, err := bind.from(c.request)
		if err != nil {
			return reply{}, err
		}
		f, err := find(ctx, in, encodingsOf(c.request))
		if err != nil {
			return reply{}, err
		}
		return f.render(c), nil
	}
	return Endpoint{serve: serve, fail: failJSON}
}

func (f File) render(c *call) reply {
	c.header.Set("Cache-Control", f.Cache)
	c.header.Set("ETag", f.Tag)
	c.header.Set("Vary", "Accept-Encoding")
	c.header.Set("Cross-Origin-Resource-Policy", "same-origin")
	if f.Anywhere {
		c.header.Set("Cross-Origin-Resource-Policy", "cross-origin")
		c.header.Set("Access-Control-Allow-Origin", "*")
	}
	if f.Policy != "" {
		pageHeaders(c.header, f.Policy)
		c.header.Set("Cache-Control", f.Cache)
	}
	if f.Missing {
		c.header.Set("Content-Type", f.Type)
		return reply{status: http.StatusNotFound, body: f.Body}
	}
	if f.heldBy(c.request) {
		return reply{status: http.StatusNotModified}
	}
	c.header.Set("Content-Type", f.Type)
	if f.Encoding != "" {
		c.header.Set("Content-Encoding", f.Encoding)
	}
	return reply{status: http.StatusOK, body: f.Body}
}

// heldBy reports whether the client already has the file (RFC 9110 section 13.1.2).
func (f File) heldBy(r *http.Request) bool {
	for tag := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == f.Tag || tag == "*" {
			return true
		}
	}
	return false
}
