package httpapi

import (
	"context"
	_ "embed"
	"html"
	"net/http"
	"strings"

	"recordbridge/shared/fault"
	"recordbridge/shared/logx"
)

//go:embed error.html
var errorPage string

// failPage renders an error as a page for a person. Nothing of the request is on it.
func failPage(ctx context.Context, c *call, err error) reply {
	f := shown(ctx, err)
	fields := strings.NewReplacer(
		"{{description}}", html.EscapeString(f.description),
		"{{code}}", html.EscapeString(f.code),
		"{{request_id}}", html.EscapeString(logx.RequestID(ctx)),
	)
	pageHeaders(c.header, "")
	f.retry(c.header)
	return reply{status: pageStatus(fault.Of(err)), body: []byte(fields.Replace(errorPage))}
}

// pageStatus is 400 for whatever is wrong with the address that a browser opened, so that an unknown public id
// never makes a browser ask for a password (docs/deviations.md, "HTTP").
func pageStatus(e *fault.Error) int {
	if status := status(e); status >= http.StatusInternalServerError || status == http.StatusTooManyRequests {
		return status
	}
	return http.StatusBadRequest
}

// pageHeaders lets a page run nothing but its one script, load nothing and be framed by nobody.
func pageHeaders(header http.Header, script string) {
	policy := "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if script != "" {
		policy += "; script-src '" + script + "'"
	}
	header.Set("Content-Security-Policy", policy)
	header.Set("Content-Type", "text/html; charset=utf-8")
}
