package httpapi_test

import (
	"testing"
)

func TestCORSAllowsRegisteredOriginsOnly(t *testing.T) {
	t.Parallel()
	registered := []string{"https://app.example.org", "https://www.example.org"}
	cases := map[string]struct {
		origins      []string
		origin       string
		allow, varyH string
	}{
		"none registered":    {nil, "https://any.example.net", "*", ""},
		"registered":         {registered, "https://www.example.org", "https://www.example.org", "Origin"},
		"not registered":     {registered, "https://evil.example.net", "", "Origin"},
		"suffix of one":      {registered, "https://app.example.org.evil.net", "", "Origin"},
		"null":               {registered, "null", "", "Origin"},
		"no origin, a list":  {registered, "", "", "Origin"},
		"different by case":  {registered, "https://APP.example.org", "", "Origin"},
		"different by port":  {registered, "https://app.example.org:444", "", "Origin"},
		"other scheme":       {registered, "http://app.example.org", "", "Origin"},
		"no origin, no list": {nil, "", "*", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, method := range []string{"GET", "OPTIONS"} {
				r := newRequest(method, "/brand?public_id="+publicID, "")
				r.Header.Set("Origin", c.origin)
				w := do(browser(newEdge(), directory{origins: c.origins}), r)
				wantHeader(t, w, "Access-Control-Allow-Origin", c.allow)
				wantHeader(t, w, "Vary", c.varyH)
				wantHeader(t, w, "Access-Control-Allow-Credentials", "")
			}
		})
	}
}

func TestPreflightAllowsAnyOriginForUnknownOrganisation(t *testing.T) {
	t.Parallel()
	r := newRequest("OPTIONS", "/brand?public_id=nobody", "")
	r.Header.Set("Origin", "https://app.example.org")
	r.Header.Set("Access-Control-Request-Method", "GET")
	w := do(browser(newEdge(), directory{}), r)
	wantBody(t, w, 204, "")
	wantHeader(t, w, "Access-Control-Allow-Origin", "*")
	wantHeader(t, w, "Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
	wantHeader(t, w, "Access-Control-Allow-Headers", "Authorization, Content-Type")
	wantHeader(t, w, "Access-Control-Max-Age", "600")
}

func TestMethodNotAllowedErrorAllowsAnyOrigin(t *testing.T) {
	t.Parallel()
	w := do(browser(newEdge(), directory{}), newRequest("DELETE", "/brand", ""))
	wantHeader(t, w, "Access-Control-Allow-Origin", "*")
	if w.Code != 405 {
		t.Errorf("got %d", w.Code)
	}
}
