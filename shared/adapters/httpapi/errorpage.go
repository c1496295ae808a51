package httpapi

import (
	"context"
	_ "embed"
	"net/http"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
)

//go:embed error.en.html
var errorEnglish string

//go:embed error.es.html
var errorSpanish string

// failPage renders an error as an HTML page. The page contains nothing from the request.
func failPage(ctx context.Context, c *call, err error) reply {
	f := shown(ctx, err)
	s := Sheet{
		Language: languageOf(c.request), Icon: Bad, Body: errorEnglish,
		Values: map[string]string{"description": f.description, "code": f.code, "request_id": logx.RequestID(ctx)},
	}
	if s.Language == Spanish {
		s.Body = errorSpanish
	}
	s.headers(c.header)
	f.retry(c.header)
	return reply{status: pageStatus(fault.Of(err)), body: []byte(s.html())}
}

// pageStatus returns 405 for a wrong method and 400 for every other error in the URL that a browser opened, so that an
// unknown public ID never triggers a browser's password prompt (docs/reference/deviations.md, "HTTP").
func pageStatus(e *fault.Error) int {
	status := status(e)
	if status >= http.StatusInternalServerError || status == http.StatusTooManyRequests ||
		status == http.StatusMethodNotAllowed {
		return status
	}
	return http.StatusBadRequest
}
