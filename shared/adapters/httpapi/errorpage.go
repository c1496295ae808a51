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

// brandedError is an error with the language and branding of its error page.
type brandedError struct {
	error

	language string
	brand    Brand
}

// Unwrap returns the wrapped error.
func (e *brandedError) Unwrap() error { return e.error }

// Branded returns err with the language and branding of its error page. If language is empty, the page uses the
// browser's preferred language.
func Branded(err error, language string, brand Brand) error {
	return &brandedError{error: err, language: language, brand: brand}
}

// failPage renders an error as an HTML page that contains no text from the request.
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

// pageStatus returns the error's status if it is 405, 429 or 5xx, and 400 otherwise. A page never has status 401,
// because an unknown public ID must not trigger the browser's password prompt (docs/reference/deviations.md, "HTTP").
func pageStatus(e *fault.Error) int {
	status := status(e)
	if status >= http.StatusInternalServerError || status == http.StatusTooManyRequests ||
		status == http.StatusMethodNotAllowed {
		return status
	}
	return http.StatusBadRequest
}
