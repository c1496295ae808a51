package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// serving returns the outputs of a stack whose service is handler.
func serving(t *testing.T, outputs string, handler http.HandlerFunc) string {
	t.Helper()
	service := httptest.NewServer(handler)
	t.Cleanup(service.Close)
	return withBaseURL(t, outputs, service.URL+"/v1")
}

func withBaseURL(t *testing.T, outputs, address string) string {
	t.Helper()
	named := outputsOf(t, outputs)
	named["BaseUrl"] = address
	body, err := json.Marshal(named)
	if err != nil {
		t.Fatal(err)
	}
	return writeFile(t, string(body))
}

const (
	rsaKey = `{"kty":"RSA","kid":"one","alg":"RS384","use":"sig","n":"AQAB","e":"AQAB"}`
	ecKey  = `{"kty":"EC","kid":"two","alg":"ES384","use":"sig","crv":"P-384","x":"AQAB","y":"AQAB"}`
)

func TestKeysShowPrintsPublishedKeys(t *testing.T) {
	outputs := serving(t, newStack(t), func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.String() {
		case "/v1/.well-known/jwks.json":
			_, _ = w.Write([]byte(`{"keys":[` + rsaKey + `,` + ecKey + `]}`))
		case "/v1/.well-known/jwks.json?kty=RSA":
			_, _ = w.Write([]byte(`{"keys":[` + rsaKey + `]}`))
		default:
			http.NotFound(w, r)
		}
	})
	done := doer(t, outputs)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"keys", "jwks"}, `{"keys":[` + rsaKey + `,` + ecKey + `]}`},
		{[]string{"keys", "jwks", "-rsa"}, `{"keys":[` + rsaKey + `]}`},
	} {
		var want map[string]any
		if err := json.Unmarshal([]byte(test.want), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, done(test.args...)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test.args, diff)
		}
	}
}

func TestKeysShowRejectsUnsafeKeys(t *testing.T) {
	stack := newStack(t)
	for name, test := range map[string]struct {
		answer string
		want   string
	}{
		"no JSON":          {`<html>`, "no key"},
		"another document": {`{"error":"svc_not_found"}`, "no key"},
		"no keys":          {`{"keys":[]}`, "no key"},
		"a private RSA key": {
			`{"keys":[` + strings.Replace(rsaKey, `"e"`, `"d":"SECRETPART","e"`, 1) + `]}`,
			`private member "d"`,
		},
		"a prime": {
			`{"keys":[` + rsaKey + `,` + strings.Replace(rsaKey, `"e"`, `"q":"SECRETPART","e"`, 1) + `]}`,
			`private member "q"`,
		},
		"a symmetric key": {`{"keys":[{"kty":"oct","kid":"x","k":"SECRETPART"}]}`, `private member "k"`},
		"another type":    {`{"keys":[{"kty":"OKP","kid":"x","crv":"Ed25519","x":"AQAB"}]}`, "a different type"},
		"an elliptic key": {`{"keys":[` + rsaKey + `,` + ecKey + `]}`, "a different type"},
		"no kid":          {`{"keys":[` + strings.Replace(rsaKey, `"kid":"one",`, "", 1) + `]}`, `no "kid"`},
		"no modulus":      {`{"keys":[` + strings.Replace(rsaKey, `"n":"AQAB",`, "", 1) + `]}`, `no "n"`},
		"too much":        {`{"keys":[` + rsaKey + `]}` + strings.Repeat(" ", 64<<10), "more than"},
	} {
		outputs := serving(t, stack, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(test.answer)) })
		if _, err := ctl(t, outputs, "keys", "jwks", "-rsa"); err == nil || !strings.Contains(err.Error(), test.want) ||
			strings.Contains(err.Error(), "SECRETPART") {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func TestKeysShowDoesNotFollowRedirects(t *testing.T) {
	stack := newStack(t)
	asked := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked = true
		_, _ = w.Write([]byte(`{"keys":[` + rsaKey + `]}`))
	}))
	t.Cleanup(elsewhere.Close)
	outputs := serving(t, stack, func(w http.ResponseWriter,
		r *http.Request,
	) {
		http.Redirect(w, r, elsewhere.URL, http.StatusFound)
	})
	if _, err := ctl(t, outputs, "keys", "jwks"); err == nil || !strings.Contains(err.Error(), "status 302") || asked {
		t.Errorf("a redirect: %v, followed: %t", err, asked)
	}
	for _, address := range []string{"", "http://service.example/v1", "ftp://service.example/v1", "https://"} {
		if _, err := ctl(t, withBaseURL(t, stack, address), "keys", "jwks"); err == nil ||
			!strings.Contains(err.Error(), "BaseUrl") {
			t.Errorf("a base URL of %q: %v", address, err)
		}
	}
}
