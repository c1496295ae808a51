package httpapi_test

import (
	"context"
	"net/http"
	"testing"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/org"
)

type headerRequest struct {
	Site string `header:"Sec-Fetch-Site"`
	Key  string `header:"authorization" required:"true"`
}

func TestBinderRejectsRepeatedHeader(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header http.Header
		status int
		want   headerRequest
	}{
		"both": {
			http.Header{"Sec-Fetch-Site": {"none"}, "Authorization": {"Bearer t"}},
			200,
			headerRequest{"none", "Bearer t"},
		},
		"one left out":   {http.Header{"Authorization": {"Bearer t"}}, 200, headerRequest{"", "Bearer t"}},
		"a required one": {http.Header{"Sec-Fetch-Site": {"none"}}, 400, headerRequest{}},
		"twice": {
			http.Header{"Sec-Fetch-Site": {"none", "none"}, "Authorization": {"Bearer t"}},
			400,
			headerRequest{},
		},
		"a control character": {http.Header{"Authorization": {"Bearer \x01"}}, 400, headerRequest{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got headerRequest
			f := func(_ context.Context, _ org.Caller, in headerRequest) (nothing, error) {
				got = in
				return nothing{}, nil
			}
			handler := newEdge().Serve("/x", httpapi.Methods{"GET": httpapi.Browser(httpapi.PublicAuth{Public: directory{}}, f)})
			r := newRequest("GET", "/x?public_id="+publicID, "")
			r.Header = c.header
			if w := do(handler, r); w.Code != c.status || got != c.want {
				t.Errorf("got %d %s, bound %+v", w.Code, w.Body, got)
			}
		})
	}
}
