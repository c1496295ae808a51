package httpapi

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"net/http"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
)

//go:embed error.en.html
var errorEnglish string

//go:embed error.es.html
var errorSpanish string

// brandedError is an error that is shown on a page of a known organisation.
type brandedError struct {
	error

	language string
	brand    Brand
}

// Unwrap returns the wrapped error.
func (e *brandedError) Unwrap() error { return e.error }

// Branded returns err together with the appearance of its error page. If language is empty, the error page is in the
// browser's language.
func Branded(err error, language string, brand Brand) error {
	return &brandedError{error: err, language: language, brand: brand}
}

// failPage renders an error as an HTML page. The page doesn't contain any text from the request.
func failPage(ctx context.Context, c *call, err error) reply {
	f := shown(ctx, err)
	page := &brandedError{}
	if known, ok := errors.AsType[*brandedError](err); ok {
		page = known
	}
	s := Sheet{
		Language: cmp.Or(page.language, languageOf(c.request)), Brand: page.brand, Icon: Bad, Body: errorEnglish,
		Values: map[string]string{"description": f.description, "code": f.code, "request_id": logx.RequestID(ctx)},
	}
	if s.Language == Spanish {
		s.Body = errorSpanish
	}
	s.headers(c.header)
	f.retry(c.header)
	return reply{status: pageStatus(fault.Of(err)), body: []byte(s.html())}
}

// pageStatus returns 405 for a wrong method, and 400 for every other error in the URL that a browser opened. The status
// is never 401, because an unknown public ID must not trigger the browser's password prompt
// (docs/reference/deviations.md, "HTTP").
func pageStatus(e *fault.Error) int {
	status := status(e)
	if status >= http.StatusInternalServerError || status == http.StatusTooManyRequests ||
		status == http.StatusMethodNotAllowed {
		return status
	}
	return http.StatusBadRequest
}
