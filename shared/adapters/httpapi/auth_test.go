package httpapi_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

const badKey = "The public ID or private key is missing or wrong."

func basic(pair string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(pair))
}

func TestKeyAuthReturnsSameResponseForAllWrongKeys(t *testing.T) {
	t.Parallel()
	cases := map[string][]string{
		"no header":           nil,
		"empty":               {""},
		"other scheme":        {"Bearer " + goodKey},
		"no base64":           {"Basic !!!!"},
		"no colon":            {basic(publicID)},
		"no password":         {basic(publicID + ":")},
		"no username":         {basic(":" + goodKey)},
		"wrong key":           {basic(publicID + ":private_test_wrong")},
		"unknown id":          {basic("public_test_other:" + goodKey)},
		"not UTF-8":           {basic("\xff\xfe:\xff")},
		"control characters":  {basic(publicID + "\r\n:" + goodKey)},
		"two headers":         {basic(publicID + ":" + goodKey), basic(publicID + ":" + goodKey)},
		"very long":           {basic(strings.Repeat("a", 100_000) + ":b")},
		"unpadded":            {strings.TrimRight(basic(publicID+":"+goodKey+"x"), "=")},
		"scheme without pair": {"Basic"},
	}
	for name, headers := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRequest("GET", "/things/1", "")
			for _, header := range headers {
				r.Header.Add("Authorization", header)
			}
			w := do(keyed(newEdge(), nil), r)
			wantBody(t, w, 401, errorBody("svc_unauthorized_client", badKey))
			wantHeader(t, w, "WWW-Authenticate", `Basic realm="recordbridge", charset="UTF-8"`)
		})
	}
}

func TestAuthorizationSchemeIsCaseInsensitive(t *testing.T) {
	t.Parallel()
	r := newRequest("GET", "/things/1", "")
	r.Header.Set("Authorization", "bAsIc"+strings.TrimPrefix(basic(publicID+":"+goodKey), "Basic"))
	if w := do(keyed(newEdge(), nil), r); w.Code != 200 {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

func TestBrowserEndpointRequiresPublicID(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		target string
		status int
		body   string
	}{
		"missing": {"/brand", 400, errorBody("svc_invalid_request", "public_id is required.")},
		"empty":   {"/brand?public_id=", 400, errorBody("svc_invalid_request", "public_id is required.")},
		"twice": {
			"/brand?public_id=a&public_id=b", 400,
			errorBody("svc_invalid_request", "public_id must not be repeated."),
		},
		"malformed": {"/brand?public_id=%zz", 400, errorBody("svc_invalid_request", "The query string is malformed.")},
		"unknown":   {"/brand?public_id=nobody", 401, errorBody("svc_unauthorized_client", "public_id is unknown.")},
		"known":     {"/brand?public_id=" + publicID, 200, `{"success":true,"data":{"text":"hello"}}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := do(browser(newEdge(), directory{}), newRequest("GET", c.target, ""))
			wantBody(t, w, c.status, c.body)
			wantHeader(t, w, "WWW-Authenticate", "")
			wantHeader(t, w, "Access-Control-Allow-Origin", "*")
		})
	}
}

func TestKeyAuthReportsStoreFailureAsInternalError(t *testing.T) {
	t.Parallel()
	w := do(browser(newEdge(), directory{err: errStoreDown}), newRequest("GET", "/brand?public_id="+publicID, ""))
	wantBody(t, w, 500, errorBody("svc_server_error", generic))
}

func TestBrowserEndpointReturns403WithoutLiveAccess(t *testing.T) {
	t.Parallel()
	closed := org.Organisation{LiveAccess: org.LiveNone}.CheckMode(org.Live)
	w := do(browser(newEdge(), directory{err: closed}), newRequest("GET", "/brand?public_id="+publicID, ""))
	wantBody(t, w, 403, errorBody("svc_live_access_required", fault.Of(closed).Public))
}

// FuzzBasicHeader searches for invalid headers that cause a panic, are accepted, or get an unexpected response.
func FuzzBasicHeader(f *testing.F) {
	for _, seed := range []string{
		"", "Basic", "Basic :", basic(publicID + ":x"), basic("a:b:c"), "Basic \x00",
		"basic  =",
	} {
		f.Add(seed)
	}
	handler := keyed(newEdge(), nil)
	f.Fuzz(func(t *testing.T, header string) {
		r := newRequest("GET", "/things/1", "")
		r.Header["Authorization"] = []string{header}
		id, key, _ := r.BasicAuth()
		w := do(handler, r)
		if id == publicID && key == goodKey {
			return
		}
		if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), badKey) {
			t.Errorf("header %q: %d %s", header, w.Code, w.Body)
		}
	})
}
