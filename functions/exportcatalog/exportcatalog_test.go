package exportcatalog_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/exportcatalog"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/serve"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/words/cursor"
	"recordbridge/shared/words/secret"
)

type pointers struct{ broken bool }

func (p pointers) Pointer(_ context.Context, mode string) (ledger.Pointer, error) {
	if p.broken {
		return ledger.Pointer{}, keyedtest.ErrTrouble
	}
	if mode == "live" {
		return ledger.Pointer{Mode: mode}, nil
	}
	return ledger.Pointer{Mode: mode, Live: "v7"}, nil
}

// downloads is a fake whose URLs contain the arguments of Address, so that tests can check them.
type downloads struct{}

func (downloads) Address(_ context.Context, method, key, fileName, contentType string,
	life time.Duration,
) (string, error) {
	return "https://files.example/?" + strings.Join([]string{method, key, fileName, contentType, life.String()}, "|"), nil
}

// buckets allows two requests per key and rejects the rest.
type buckets map[string]int

func (b buckets) Take(_ context.Context, key string, _ ratelimit.Limit, _ time.Time) (ratelimit.Decision, error) {
	b[key]++
	return ratelimit.Decision{Allowed: b[key] < 3, RetryAfter: time.Minute}, nil
}

func newHandler(t *testing.T, p pointers, now time.Time, asked buckets) http.Handler {
	t.Helper()
	ring, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	auth := httpapi.KeyAuth{Keys: keyedtest.Keys{}}
	asking := auth
	if asked != nil {
		asking.Limiter = httpapi.Limiter{
			Buckets: asked,
			Limit:   ratelimit.Limit{Name: "exportcatalog", Quota: 10, Window: time.Hour}, Hashing: ring,
		}
	}
	mux := http.NewServeMux()
	handler := exportcatalog.New(exportcatalog.Deps{
		API: keyedtest.NewAPI(), Auth: asking, FileAuth: auth, Pointers: p,
		Links:     serve.Links{Sealer: cursor.Sealer{Keys: ring}, BaseURL: "https://api.example/v1"},
		Downloads: downloads{}, Now: func() time.Time { return now },
	})
	mux.Handle(exportcatalog.Route, handler)
	return mux
}

// addresses requests the list of files and returns each file's URL without the base URL, by file name.
func addresses(t *testing.T) map[string]string {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, exportcatalog.Route, http.NoBody)
	r.SetBasicAuth(keyedtest.PublicA, "key")
	w := httptest.NewRecorder()
	newHandler(t, pointers{}, keyedtest.Moment(), nil).ServeHTTP(w, r)
	var got struct{ Data map[string]string }
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK || len(got.Data) != 3 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for name, address := range got.Data {
		got.Data[name] = strings.TrimPrefix(address, "https://api.example/v1")
	}
	return got.Data
}

func TestExportCatalogRedirectsToFiles(t *testing.T) {
	t.Parallel()
	all := addresses(t)
	none := keyedtest.FailureBody("svc_not_found", "No catalogue has been published yet.")
	invalid := keyedtest.FailureBody("svc_unauthorized_client", "The download link is not valid.")
	nothing := keyedtest.FailureBody("svc_not_found", "File not found.")
	_, token, _ := strings.Cut(all["brands.json"], "&")
	found := func(method, name string) map[string]string {
		return map[string]string{
			"Location": "https://files.example/?" + method + "|snapshots/test/v7/" + name + "|" + name +
				"|application/json|10m0s",
			"Content-Type": "", "Referrer-Policy": "no-referrer",
		}
	}
	for name, e := range map[string]keyedtest.Exchange{
		"brands":    {Path: all["brands.json"], Status: 302, Header: found("GET", "brands.json")},
		"portals":   {Path: all["portals.json"], Status: 302, Header: found("GET", "portals.json")},
		"endpoints": {Path: all["endpoints.json"], Status: 302, Header: found("GET", "endpoints.json")},
		"HEAD": {
			Method: http.MethodHead, Path: all["endpoints.json"], Status: 302,
			Header: found("HEAD", "endpoints.json"),
		},
		"with the key as well": {
			Path: all["brands.json"], User: keyedtest.PublicA, Status: 302,
			Header: found("GET", "brands.json"),
		},
		"with a wrong key": {
			Path: all["brands.json"], User: keyedtest.PublicA, Key: "other", Status: 302,
			Header: found("GET", "brands.json"),
		},
		"an empty token": {
			Path: exportcatalog.Route + "?file=brands.json&token=", User: keyedtest.PublicA, Status: 401,
			Want: invalid,
		},
		"another file's token": {Path: exportcatalog.Route + "?file=portals.json&" + token, Status: 401, Want: invalid},
		"a false token":        {Path: exportcatalog.Route + "?file=portals.json&token=1.AAAA", Status: 401, Want: invalid},
		"addresses of servers": {Path: exportcatalog.Route + "?file=bases.json&" + token, Status: 401, Want: invalid},
		"no such file, by key": {
			Path: exportcatalog.Route + "?file=bases.json", User: keyedtest.PublicA, Status: 404,
			Want: nothing,
		},
		"a mode without any": {Path: exportcatalog.Route, User: keyedtest.LiveA, Status: 404, Want: none},
		"no key":             {Path: exportcatalog.Route, Status: 401, Want: keyedtest.Unauthorized},
		"POST": {
			Method: http.MethodPost, Path: exportcatalog.Route, User: keyedtest.PublicA, Status: 405,
			Want: notAllowed(), Header: map[string]string{"Allow": "GET, HEAD, OPTIONS"},
		},
		"POST for a file": {
			Method: http.MethodPost, Path: all["brands.json"], Status: 405, Want: notAllowed(),
			Header: map[string]string{"Allow": "GET, HEAD, OPTIONS"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.Check(t, "/", newHandler(t, pointers{}, keyedtest.Moment(), nil))
		})
	}
	late := keyedtest.Exchange{
		Path: all["brands.json"], Status: 410, Want: keyedtest.FailureBody("svc_export_expired",
			"The download link has expired. Request new links."),
	}
	late.Check(t, "/", newHandler(t, pointers{}, keyedtest.Moment().Add(time.Hour), nil))
	broken := keyedtest.Exchange{
		Path: exportcatalog.Route, User: keyedtest.PublicA, Status: 500,
		Want: keyedtest.ServerError,
	}
	broken.Check(t, "/", newHandler(t, pointers{broken: true}, keyedtest.Moment(), nil))
}

func notAllowed() string {
	return keyedtest.FailureBody("svc_method_not_allowed",
		"This method is not allowed for this URL. Allowed methods: GET, HEAD, OPTIONS.")
}

func TestExportCatalogRateLimitsListingButNotDownloads(t *testing.T) {
	t.Parallel()
	asked := buckets{}
	handler := newHandler(t, pointers{}, keyedtest.Moment(), asked)
	path := addresses(t)["brands.json"]
	for i := range 5 {
		for target, want := range map[string]int{exportcatalog.Route: http.StatusOK, path: http.StatusFound} {
			if i >= 2 && target == exportcatalog.Route {
				want = http.StatusTooManyRequests
			}
			r := httptest.NewRequest(http.MethodGet, target, http.NoBody)
			r.SetBasicAuth(keyedtest.PublicA, "key")
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("request %d of %s: %d, want %d", i, target, w.Code, want)
			}
		}
	}
}
