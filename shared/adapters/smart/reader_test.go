package smart_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/words/secret"
)

func TestReaderSendsTokenAndFHIRAcceptHeader(t *testing.T) {
	t.Parallel()
	e := newEHR(t, map[string]http.HandlerFunc{"": reply(http.StatusOK, `{"resourceType":"Bundle"}`)})
	r := reader(t, e.URL+"/r4/")
	for _, step := range []struct {
		name, want string
		call       func() (fhir.Response, error)
	}{
		{"read", "/r4/Patient/a.1-B", func() (fhir.Response,
			error,
		) {
			return r.Read(t.Context(), "Patient", "a.1-B", fhir.MaxPage)
		}},
		{"search", "/r4/Observation?_count=100&patient=p%2F1", func() (fhir.Response, error) {
			return r.Search(t.Context(), "Observation", query("patient", "p/1", "_count", "100"), fhir.MaxPage)
		}},
		{"search for all", "/r4/Observation", func() (fhir.Response,
			error,
		) {
			return r.Search(t.Context(), "Observation", nil, fhir.MaxPage)
		}},
		{"search for a whole record", "/r4/Patient/p1/$everything?_count=100", func() (fhir.Response, error) {
			return r.Search(t.Context(), "Patient/p1/$everything", query("_count", "100"), fhir.MaxPage)
		}},
		{"page", "/r4?_getpages=x%20y", func() (fhir.Response,
			error,
		) {
			return r.Page(t.Context(), e.URL+"/r4?_getpages=x%20y", fhir.MaxPage)
		}},
		{
			"relative page", "/r4/Observation?page=2",
			func() (fhir.Response, error) { return r.Page(t.Context(), "Observation?page=2", fhir.MaxPage) },
		},
		{"page of a leaked name", "/r4/Observation?page=3", func() (fhir.Response, error) {
			return r.Page(t.Context(), "http://fhir-internal:8080/r4/Observation?page=3", fhir.MaxPage)
		}},
	} {
		answer, err := step.call()
		if err != nil || string(answer.Body) != `{"resourceType":"Bundle"}` {
			t.Fatalf("%s: %q, %v", step.name, answer.Body, err)
		}
		requests := e.requests()
		last := requests[len(requests)-1]
		if got := last.URL.String(); got != step.want {
			t.Errorf("%s asked for %s, want %s", step.name, got, step.want)
		}
		if got := last.Header.Get("Authorization"); got != "Bearer "+accessToken {
			t.Errorf("%s sent Authorization %q", step.name, got)
		}
		if got := last.Header.Get("Accept"); !strings.HasPrefix(got, "application/fhir+json,") {
			t.Errorf("%s sent Accept %q", step.name, got)
		}
	}
}

func TestReaderOmitsTokenForMetadata(t *testing.T) {
	t.Parallel()
	e := newEHR(t, map[string]http.HandlerFunc{"/r4/metadata": reply(http.StatusOK, `{}`)})
	if _, err := reader(t, e.URL+"/r4").Metadata(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := e.requests()[0].Header.Get("Authorization"); got != "" {
		t.Errorf("sent Authorization %q", got)
	}
}

func TestReaderOmitsTokenOutsideBaseURL(t *testing.T) {
	t.Parallel()
	evil := newEHR(t, map[string]http.HandlerFunc{"": reply(http.StatusOK, `{"resourceType":"Bundle"}`)})
	e := newEHR(t, map[string]http.HandlerFunc{
		"/r4/Patient/host":   reply(http.StatusFound, "", "Location", evil.URL+"/x"),
		"/r4/Patient/same":   reply(http.StatusTemporaryRedirect, "", "Location", evil.URL+"/r4/Patient/same"),
		"/r4/Patient/path":   reply(http.StatusFound, "", "Location", "/admin"),
		"/r4/Patient/dots":   reply(http.StatusFound, "", "Location", "../../admin"),
		"/r4/Patient/scheme": reply(http.StatusFound, "", "Location", "ftp://127.0.0.1/r4/x"),
		"/r4/Patient/user":   reply(http.StatusFound, "", "Location", "http://user@127.0.0.1/r4/x"),
		"/r4/Patient/self":   reply(http.StatusFound, "", "Location", "SELF/r4/Patient/self"),
	})
	r := reader(t, e.URL+"/r4")
	for _, id := range []string{"host", "same", "path", "dots", "scheme", "user", "self"} {
		_, err := r.Read(t.Context(), "Patient", id, fhir.MaxPage)
		if failure := wantFailure(t, err, fhir.ForeignLink); failure.Status/100 != 3 {
			t.Errorf("%s: status %d", id, failure.Status)
		}
	}
	before := len(e.requests())
	for _, link := range []string{
		evil.URL + "/fhir/Observation?page=2", evil.URL + "/x", e.URL + "/admin", e.URL + "/r4b/Observation", "../admin",
		"/r4/%2e%2e/admin", "http://user@" + strings.TrimPrefix(e.URL, "http://") + "/r4/Observation", "javascript:1",
		strings.TrimPrefix(evil.URL, "http:") + "/Observation",
	} {
		_, err := r.Page(t.Context(), link, fhir.MaxPage)
		wantFailure(t, err, fhir.ForeignLink)
	}
	if after := len(e.requests()); after != before {
		t.Errorf("foreign links caused %d requests", after-before)
	}
	// The reader rewrites a link whose path is under the base to point to the base, so the foreign server receives no
	// request.
	_, err := r.Page(t.Context(), evil.URL+"/r4/Observation?page=2", fhir.MaxPage)
	wantFailure(t, err, fhir.NotFound)
	if got := len(evil.requests()); got != 0 {
		t.Errorf("the other server got %d requests", got)
	}
	for _, request := range e.requests() {
		if !strings.HasPrefix(request.URL.Path, "/r4/") {
			t.Errorf("the token went to %s", request.URL.Path)
		}
	}
}

func TestReaderFollowsAtMostThreeRedirectsUnderBaseURL(t *testing.T) {
	t.Parallel()
	e := newEHR(t, map[string]http.HandlerFunc{
		"/r4/Patient/0": reply(http.StatusMovedPermanently, "", "Location", "SELF/r4/Patient/1"),
		"/r4/Patient/1": reply(http.StatusFound, "", "Location", "2"),
		"/r4/Patient/2": reply(http.StatusTemporaryRedirect, "", "Location", "http://internal/r4/Patient/3"),
		"/r4/Patient/3": reply(http.StatusOK, `{}`),
		"/r4/Basic/a":   reply(http.StatusFound, "", "Location", "b"),
		"/r4/Basic/b":   reply(http.StatusFound, "", "Location", "a"),
		"/r4/Basic/c":   reply(http.StatusNotModified, ""),
	})
	r := reader(t, e.URL+"/r4")
	if _, err := r.Read(t.Context(), "Patient", "0", fhir.MaxPage); err != nil {
		t.Errorf("three redirects: %v", err)
	}
	if got := e.requests()[3].Header.Get("Authorization"); got != "Bearer "+accessToken {
		t.Errorf("the last of them got Authorization %q", got)
	}
	_, err := r.Read(t.Context(), "Basic", "a", fhir.MaxPage)
	wantFailure(t, err, fhir.Rejected)
	if got := len(e.requests()); got != 8 {
		t.Errorf("a circle ended after %d requests, want 4", got-4)
	}
	_, err = r.Read(t.Context(), "Basic", "c", fhir.MaxPage)
	wantFailure(t, err, fhir.Rejected)
}

func TestReaderClassifiesResponses(t *testing.T) {
	t.Parallel()
	const page = `<html>maple</html>`
	refusal := outcome("processing", "maple")
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		class  fhir.Class
		status int
	}{
		"401":          {reply(401, page), fhir.Unauthorized, 401},
		"403":          {reply(403, ""), fhir.Forbidden, 403},
		"404":          {reply(404, page), fhir.NotFound, 404},
		"410":          {reply(410, refusal), fhir.Gone, 410},
		"429":          {reply(429, ""), fhir.Limited, 429},
		"413":          {reply(413, ""), fhir.TooLarge, 413},
		"400":          {reply(400, refusal), fhir.Rejected, 400},
		"406":          {reply(406, refusal), fhir.Rejected, 406},
		"408":          {reply(408, ""), fhir.ServerFault, 408},
		"500":          {reply(500, refusal), fhir.ServerFault, 500},
		"503":          {reply(503, page), fhir.ServerFault, 503},
		"web page":     {reply(200, page, "Content-Type", "application/fhir+json"), fhir.Content, 200},
		"nothing":      {reply(204, ""), fhir.Content, 204},
		"list":         {reply(200, "[]"), fhir.Content, 200},
		"picture":      {reply(200, "\x89PNG"), fhir.Content, 200},
		"32 MiB":       {reply(200, "{"+strings.Repeat(" ", fhir.MaxPage)), fhir.TooLarge, 200},
		"bomb":         {bomb(200, 40), fhir.TooLarge, 200},
		"cut off":      {reply(200, "{}", "Content-Length", "10"), fhir.Network, 0},
		"fake gzip":    {reply(200, "{}", "Content-Encoding", "gzip"), fhir.Network, 0},
		"long headers": {reply(200, "{}", "X-Long", strings.Repeat("x", 64<<10)), fhir.Network, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEHR(t, map[string]http.HandlerFunc{"": test.answer})
			_, err := reader(t, e.URL+"/r4").Read(t.Context(), "Patient", "1", fhir.MaxPage)
			if failure := wantFailure(t, err, test.class); failure.Status != test.status {
				t.Errorf("status %d, want %d", failure.Status, test.status)
			}
		})
	}
}

func TestReaderDropsByteOrderMark(t *testing.T) {
	t.Parallel()
	e := newEHR(t, map[string]http.HandlerFunc{"": reply(http.StatusOK, "\ufeff {}")})
	answer, err := reader(t, e.URL).Read(t.Context(), "Patient", "1", fhir.MaxPage)
	if err != nil || string(answer.Body) != " {}" {
		t.Errorf("got %q, %v", answer.Body, err)
	}
}

func TestReaderReportsRetryAfter(t *testing.T) {
	t.Parallel()
	const date = "Fri, 20 Nov 2026 12:00:00 GMT"
	for text, want := range map[string]time.Duration{
		"":                              0,
		"soon":                          0,
		"-5":                            0,
		"0":                             0,
		"7":                             7 * time.Second,
		"99999999":                      24 * time.Hour,
		"Fri, 20 Nov 2026 12:01:30 GMT": 90 * time.Second,
		"Fri, 20 Nov 2026 11:00:00 GMT": 0,
		"Fri, 20 Nov 2099 11:00:00 GMT": 24 * time.Hour,
	} {
		e := newEHR(t,
			map[string]http.HandlerFunc{"": reply(http.StatusTooManyRequests, "", "Retry-After", text, "Date", date)})
		_, err := reader(t, e.URL).Read(t.Context(), "Patient", "1", fhir.MaxPage)
		if failure := wantFailure(t, err, fhir.Limited); failure.RetryAfter != want {
			t.Errorf("Retry-After %q became %s, want %s", text, failure.RetryAfter, want)
		}
	}
}

func TestReaderRejectsMalformedTypesAndIDsBeforeRequest(t *testing.T) {
	t.Parallel()
	e := newEHR(t, nil)
	r := reader(t, e.URL+"/r4")
	for _, name := range [][2]string{
		{"Patient", ""},
		{"Patient", ".."},
		{"Patient", "1/../2"},
		{"patient", "1"},
		{"..", "1"},
	} {
		_, err := r.Read(t.Context(), name[0], name[1], fhir.MaxPage)
		wantFailure(t, err, fhir.Rejected)
	}
	for _, path := range []string{
		"", "../admin", "/Patient", "Patient/", "Patient//$everything", "Patient/../$everything", "Patient/p%2f1/$everything",
		"Patient/p1/$export", "$everything", "Patient/$everything/p1", "Patient/p1/$everything/more",
		"Patient/p1?x=y", "patient",
	} {
		_, err := r.Search(t.Context(), path, nil, fhir.MaxPage)
		wantFailure(t, err, fhir.Rejected)
	}
	if got := len(e.requests()); got != 0 {
		t.Errorf("%d requests were sent", got)
	}
}

func TestReaderStopsSlowBodyWhenContextIsDone(t *testing.T) {
	t.Parallel()
	e := newEHR(t, map[string]http.HandlerFunc{"": func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"resourceType":`)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := reader(t, e.URL).Read(ctx, "Patient", "1", fhir.MaxPage)
	wantFailure(t, err, fhir.Network)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want it to unwrap to context.DeadlineExceeded", err)
	}
}

func TestReaderSkipsRequestWhenTokenIsUnavailable(t *testing.T) {
	t.Parallel()
	e := newEHR(t, nil)
	revoked := errors.New("revoked")
	r := readerOf(t, doer(), e.URL, plan.Profile{},
		func(context.Context) (secret.Text, error) { return secret.Text{}, revoked })
	if _, err := r.Read(t.Context(), "Patient", "1", fhir.MaxPage); !errors.Is(err, revoked) {
		t.Errorf("got %v, want the error of the token", err)
	}
	if got := len(e.requests()); got != 0 {
		t.Errorf("%d requests were sent", got)
	}
}

// chatty is a Doer whose errors contain every detail of the request, like those of net/http.
type chatty struct{ err error }

func (c chatty) Do(r *http.Request) (*http.Response, error) {
	return nil, errors.Join(errors.New("Get "+r.URL.String()+": Patient maple"), c.err)
}

func TestReaderErrorOmitsServerText(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{nil, context.Canceled, context.DeadlineExceeded, &safehttp.Error{Class: safehttp.DNS}} {
		r := readerOf(t, chatty{cause}, "http://127.0.0.1/maple", plan.Profile{}, bearer)
		_, err := r.Read(t.Context(), "Patient", "1", fhir.MaxPage)
		wantFailure(t, err, fhir.Network)
		if cause != nil && !errors.Is(err, cause) {
			t.Errorf("got %v, want it to unwrap to %v", err, cause)
		}
	}
}
