package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"recordbridge/shared/adapters/httpapi"
)

type formRequest struct {
	Start string `form:"start" required:"true"`
	Later string `form:"later"`
	Query string `query:"start"`
}

// postForm submits a form and returns the response and the bound form. The form is nil if the page was not called.
func postForm(t *testing.T, query, body string, header http.Header) (*httptest.ResponseRecorder, *formRequest) {
	t.Helper()
	var got *formRequest
	page := httpapi.Page(httpapi.Limiter{}, func(_ context.Context, _ httpapi.Visit,
		in formRequest,
	) (httpapi.Answer, error) {
		got = &in
		return httpapi.Document(httpapi.Sheet{Body: "<h1>Done</h1>"}), nil
	})
	r := httptest.NewRequest(http.MethodPost, "/form"+query, strings.NewReader(body))
	r.Header = header
	w := httptest.NewRecorder()
	newEdge().Serve("/form", httpapi.Methods{http.MethodPost: page}).ServeHTTP(w, r)
	return w, got
}

func formHeader(contentType string) http.Header { return http.Header{"Content-Type": {contentType}} }

func TestBinderReadsFormFieldsFromBodyOnly(t *testing.T) {
	t.Parallel()
	for _, media := range []string{
		"application/x-www-form-urlencoded",
		"Application/X-WWW-Form-Urlencoded; charset=UTF-8",
	} {
		w, got := postForm(t, "?start=query&later=query", "start=a+b%26&other=1", formHeader(media))
		if want := (formRequest{Start: "a b&", Query: "query"}); w.Code != 200 || got == nil || *got != want {
			t.Errorf("%s: got %d %+v, want %+v", media, w.Code, got, want)
		}
	}
}

func TestBinderRejectsInvalidForms(t *testing.T) {
	t.Parallel()
	const form = "application/x-www-form-urlencoded"
	const media = "The request body must be uncompressed and have the content type application/x-www-form-urlencoded."
	packed := formHeader(form)
	packed.Set("Content-Encoding", "gzip")
	for name, c := range map[string]struct {
		body   string
		header http.Header
		text   string
	}{
		"required missing": {"later=a", formHeader(form), "start is required."},
		"required empty":   {"start=", formHeader(form), "start is required."},
		"twice":            {"start=a&start=b", formHeader(form), "start must not be repeated."},
		"not text":         {"start=%ff", formHeader(form), "start must be text without control characters."},
		"control":          {"start=a%0a", formHeader(form), "start must be text without control characters."},
		"malformed":        {"start=%4", formHeader(form), "The form data is malformed."},
		"semicolon":        {"start=a;later=b", formHeader(form), "The form data is malformed."},
		"huge": {
			"start=" + strings.Repeat("a", 64<<10), formHeader(form),
			"The request body must not exceed 64 KiB.",
		},
		"JSON":       {`{"start":"a"}`, formHeader("application/json"), media},
		"plain text": {"start=a", formHeader("text/plain"), media},
		"no type":    {"start=a", http.Header{}, media},
		"compressed": {"start=a", packed, media},
	} {
		w, got := postForm(t, "?start=query", c.body, c.header)
		if got != nil {
			t.Errorf("%s: the page was given %+v", name, got)
		}
		wantPage(t, w, 400, c.text)
	}
}
