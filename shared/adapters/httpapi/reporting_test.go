package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/adapters/httpapi"
)

// TestReportingReportsEachFailureOnce covers errors that become a redirect, a page or a panic's page.
func TestReportingReportsEachFailureOnce(t *testing.T) {
	t.Parallel()
	failure := errors.New("trouble")
	for name, c := range map[string]struct {
		target string
		err    error // nil means success
		panics bool
		want   int
	}{
		"success":            {target: proven},
		"a redirected error": {target: proven, err: failure, want: 1},
		"a page":             {target: connect, want: 1},
		"a panic":            {target: proven, panics: true, want: 1},
	} {
		var got []error
		auth := httpapi.PublicAuth{Own: ownhosts.Own(), Public: directory{}}
		f := func(context.Context, httpapi.Visit, visitRequest) (httpapi.Answer, error) {
			if c.panics {
				panic("trouble")
			}
			return httpapi.Redirect("https://ehr.example.org/authorize"), c.err
		}
		endpoint := httpapi.PublicPage(auth, f).Reporting(func(_ context.Context, err error) { got = append(got, err) })
		do(newEdge().Serve("/connect", httpapi.Methods{http.MethodGet: endpoint}), newRequest(http.MethodGet, c.target, ""))
		if len(got) != c.want || c.err != nil && !errors.Is(got[0], c.err) {
			t.Errorf("%s: reported %v, want %d errors", name, got, c.want)
		}
	}
}
