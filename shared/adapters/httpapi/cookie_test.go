package httpapi_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/secret"
)

func TestCookiesAtOmitsPrefixAndSecureOnlyOnLoopbackHTTP(t *testing.T) {
	t.Parallel()
	const full = "__Host-a=v; Path=/; Max-Age=60; HttpOnly; Secure; SameSite="
	const plain = "a=v; Path=/; Max-Age=60; HttpOnly; SameSite="
	for baseURL, want := range map[string]string{
		"http://127.0.0.1:4566/v1": plain, "http://localhost:4566/v1": plain, "http://[::1]:4566/v1": plain,
		"http://localhost": plain, "http://LOCALHOST/v1": full,
		"https://api.example/v1": full, "https://127.0.0.1/v1": full, "https://localhost/v1": full,
		"http://api.example/v1": full, "http://127.0.0.1.evil.example/v1": full, "http://localhost.evil.example/v1": full,
		"http://127.0.0.1@evil.example/v1": full, "http://127.0.0.2/v1": full, "http://0.0.0.0/v1": full,
		"http://10.0.0.1/v1": full, "//localhost/v1": full, "": full, "http://[::1": full,
	} {
		cookies := httpapi.CookiesAt(baseURL)
		if got := cookies.Lax("a", secret.New("v"), time.Minute).String(); got != want+"Lax" {
			t.Errorf("%s: %s", baseURL, got)
		}
		if got := cookies.Strict("a", secret.New("v"), time.Minute).String(); got != want+"Strict" {
			t.Errorf("%s: %s", baseURL, got)
		}
	}
	if got := (httpapi.Cookies{}).Expired("a").String(); got !=
		"__Host-a=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax" {
		t.Errorf("the zero value: %s", got)
	}
}

// TestCookiesAcceptOnlyNamesOfTheirBaseURL checks that an https service and an http service don't read each other's
// cookies. A page that was not loaded over https could set a cookie without the prefix.
func TestCookiesAcceptOnlyNamesOfTheirBaseURL(t *testing.T) {
	t.Parallel()
	for baseURL, c := range map[string]struct {
		want string
		all  map[string]string
	}{
		"https://api.example/v1":   {"host", map[string]string{"a": "host", "b": "host"}},
		"http://127.0.0.1:4566/v1": {"plain", map[string]string{"a": "plain", "c": "plain"}},
	} {
		cookies := httpapi.CookiesAt(baseURL)
		f := func(_ context.Context, v httpapi.Visit, _ struct{}) (httpapi.Answer, error) {
			of := cookies.Of(v)
			if of("a") != c.want || of("missing") != "" {
				t.Errorf("%s: a is %q", baseURL, of("a"))
			}
			if diff := cmp.Diff(c.all, cookies.All(v)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", baseURL, diff)
			}
			return httpapi.Redirect("https://ehr.example.org/authorize"), nil
		}
		r := newRequest(http.MethodGet, "/callback", "")
		for _, set := range [][2]string{{"a", "plain"}, {"__Host-a", "host"}, {"__Host-b", "host"}, {"c", "plain"}} {
			r.AddCookie(&http.Cookie{Name: set[0], Value: set[1]})
		}
		w := do(newEdge().Serve("/callback", httpapi.Methods{http.MethodGet: httpapi.Page(httpapi.Limiter{}, f)}), r)
		wantHeader(t, w, "Location", "https://ehr.example.org/authorize")
	}
}
