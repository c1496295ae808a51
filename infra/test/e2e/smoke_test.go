package e2e_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/smoke/check"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/org"
)

// roundTripper lets an http.Client use a stack's network.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// smoke runs the smoke test on a stack while its workers run, and returns the test's output. change modifies the
// options.
func smoke(s *stack, change func(o *check.Options)) (string, error) {
	s.t.Helper()
	var out bytes.Buffer
	o := check.Options{
		BaseURL: baseURL, Rules: s.operator, InboxURL: customer + "/_local/inbox", Now: time.Now, Out: &out,
		HTTP: &http.Client{
			Transport:     roundTripper(s.Do),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	change(&o)
	ended := make(chan struct{})
	var workers sync.WaitGroup
	workers.Go(func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(time.Second):
				s.queues.pump()
			}
		}
	})
	err := check.Run(s.t.Context(), o)
	close(ended)
	workers.Wait()
	return out.String(), err
}

// checkSmokeIsGone checks that the smoke test's organisation has no active credentials, webhooks or patient data.
func checkSmokeIsGone(t *testing.T, s *stack, printed string) {
	t.Helper()
	s.clock.finish(30) // lets a running export finish
	if left := s.state.objects(); len(left) != 0 {
		t.Errorf("the bucket holds %v", left)
	}
	listed, err := s.operator.Organisations.List(t.Context())
	expect.NoError(t, err)
	for _, l := range listed {
		if l.Organisation.Name != "Smoke test" || l.Tenant.Mode != org.Test {
			continue
		}
		if l.Organisation.Status != org.Inactive ||
			!strings.Contains(printed, "left              organisation "+l.Organisation.ID+", suspended") {
			t.Errorf("organisation %s is %s, and told is %s", l.Organisation.ID, l.Organisation.Status, printed)
		}
		credentials, err := s.operator.Credentials.List(t.Context(), l.Tenant)
		expect.NoError(t, err)
		webhooks, err := s.operator.Webhooks.List(t.Context(), l.Tenant)
		expect.NoError(t, err)
		connected, err := s.operator.Connections.List(t.Context(), l.Tenant, operator.ConnectionQuery{Status: "authorized"})
		expect.NoError(t, err)
		if len(credentials)+len(webhooks)+len(connected.Connections) != 0 {
			t.Errorf("left are %v, %v, %v", credentials, webhooks, connected.Connections)
		}
	}
	for _, secret := range []string{"private_", "whsec_", "token=", "state=", "code=", "X-Amz-"} {
		if strings.Contains(printed, secret) {
			t.Errorf("%q was printed: %s", secret, printed)
		}
	}
}

func TestSmokeTestRunsMainJobAndCleansUp(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(s *stack, o *check.Options)
		want   []string
	}{
		"with an organisation of its own": {func(*stack, *check.Options) {}, []string{
			"organisation: made ", "export: the webhook arrived",
			"removed the connection's tokens and files, the credential, the webhook\n", "smoke: 15 ok, 0 failed, 0 skipped",
		}},
		"without an inbox": {
			func(_ *stack, o *check.Options) { o.InboxURL = "" },
			[]string{"export: the file is complete (no inbox", "15 ok"},
		},
		"as an organisation": {func(s *stack, o *check.Options) {
			o.Credential, o.EndpointID, o.Rules, o.InboxURL = s.seeded.Organisations[0], s.seeded.Sandbox.EndpointID, nil, ""
		}, []string{"the credential's", "the webhook arrived", "removed the connection's tokens and files\n", "15 ok"}},
		"as an organisation, where no endpoint is known": {func(s *stack, o *check.Options) {
			o.Credential, o.Rules = s.seeded.Organisations[0], nil
		}, []string{
			"connect: skipped", "sign-in: skipped", "export: skipped",
			"smoke: 11 ok, 0 failed, 3 skipped",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStack(t, options{})
				printed, err := smoke(s, func(o *check.Options) { test.change(s, o) })
				expect.NoError(t, err)
				for _, want := range test.want {
					if !strings.Contains(printed, want) {
						t.Errorf("%q is not in %s", want, printed)
					}
				}
				checkSmokeIsGone(t, s, printed)
			})
		})
	}
}

// failingStack describes a defect that must fail the smoke test.
type failingStack struct {
	change func(s *stack, o *check.Options)
	path   string // path whose responses have the given status or are modified by alter
	status int
	alter  func(h http.Header)
	want   string
}

func failingStacks() map[string]failingStack {
	nothing := func(*stack, *check.Options) {}
	return map[string]failingStack{
		"a wrong address": {
			change: func(_ *stack, o *check.Options) { o.BaseURL = "http://127.0.0.1:1/v1" },
			want:   "API: Get \"http://127.0.0.1:1/v1/bridge/org?…\": no such host",
		},
		"a failing API": {
			change: nothing, path: "/bridge/org", status: http.StatusInternalServerError,
			want: "API: does not match docs/openapi.yaml (status 500",
		},
		"a failing list": {
			change: nothing, path: "/bridge/events", status: http.StatusInternalServerError,
			want: "key: does not match docs/openapi.yaml (status 500",
		},
		"no sandbox": {change: nothing, path: "/sandbox/", status: http.StatusNotFound, want: "connect: svc_"},
		"no key set": {change: nothing, path: "/.well-known/jwks.json", status: http.StatusNotFound, want: "JWKS: "},
		"no manifest key set": {
			change: nothing, path: "/.well-known/manifest-jwks.json", status: http.StatusNotFound,
			want: "JWKS: /.well-known/manifest-jwks.json: ",
		},
		"no webhook comes": {
			change: nothing, path: "/_local/inbox", status: http.StatusServiceUnavailable,
			want: "export: webhook: ",
		},
		"no file": {
			change: nothing, path: "/download/", status: http.StatusGone,
			want: "export: download: the file's status is 410",
		},
		"an open list": {
			change: nothing, path: "/bridge/events", want: "CORS: an endpoint that requires a key",
			alter: func(h http.Header) {
				h.Set("Access-Control-Allow-Origin", "*")
			},
		},
		"no preflight": {
			change: nothing, path: "/bridge/attempts", want: "CORS: the preflight allows",
			alter: func(h http.Header) {
				h.Del("Access-Control-Allow-Methods")
			},
		},
		"answers to be guessed at": {
			change: nothing, path: "/bridge/org", want: "headers: X-Content-Type-Options is",
			alter: func(h http.Header) {
				h.Del("X-Content-Type-Options")
			},
		},
		"refusals in another form": {
			change: nothing, path: "/bridge/nothing",
			want: "unknown path: does not match docs/openapi.yaml", alter: func(h http.Header) {
				h.Set("Content-Type", "text/html")
			},
		},
		"refusals without an id": {
			change: nothing, path: "/bridge/fhir/ehi-export",
			want: "errors: does not match docs/openapi.yaml", alter: func(h http.Header) {
				h.Del("X-Request-Id")
			},
		},
		"no challenge": {
			change: nothing, path: "/bridge/events", want: "challenge: does not match docs/openapi.yaml",
			alter: func(h http.Header) {
				h.Del("X-Amzn-Remapped-Www-Authenticate")
			},
		},
		"no limit": {
			change: nothing, path: "/bridge/events", want: "rate limit: ",
			alter: func(h http.Header) { h.Del("Ratelimit-Policy") },
		},
		"an unbound browser": {
			change: nothing, path: "/bridge/connect", want: "connect: the browser is not bound",
			alter: func(h http.Header) {
				h.Del("Set-Cookie")
			},
		},
		"a cookie for scripts": {
			change: nothing, path: "/bridge/connect", want: "connect: the cookie",
			alter: func(h http.Header) {
				h.Set("Set-Cookie", strings.ReplaceAll(h.Get("Set-Cookie"), "HttpOnly", "Httponly2"))
			},
		},
		"a portal without PKCE": {
			change: nothing, path: "/bridge/connect",
			want: "connect: the portal receives code_challenge_method", alter: func(h http.Header) {
				h.Set("Location", strings.Replace(h.Get("Location"), "S256", "plain", 1))
			},
		},
		"a stranger's key": {change: func(s *stack, o *check.Options) {
			o.Credential, o.Rules = s.seeded.Organisations[0], nil
			o.Credential.PrivateKey = s.seeded.Organisations[2].PrivateKey
		}, want: "key: GET /bridge/events returned 401 svc_unauthorized_client, want 200"},
	}
}

func TestSmokeTestFailsOnBrokenStackAndCleansUp(t *testing.T) {
	t.Parallel()
	stacks := failingStacks()
	for _, name := range sampleIfShort(slices.Sorted(maps.Keys(stacks))) {
		test := stacks[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStack(t, options{})
				s.intercept = func(r *http.Request) *http.Response {
					if test.status == 0 || !strings.Contains(r.URL.Path, test.path) {
						return nil
					}
					return &http.Response{StatusCode: test.status, Header: http.Header{}, Body: http.NoBody, Request: r}
				}
				printed, err := smoke(s, func(o *check.Options) {
					test.change(s, o)
					o.HTTP.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
						response, err := s.Do(r)
						if err == nil && test.alter != nil && strings.Contains(r.URL.Path, test.path) {
							test.alter(response.Header)
						}
						return response, err
					})
				})
				if err == nil || !strings.Contains(printed, "FAILED") || !strings.Contains(printed, test.want) {
					t.Errorf("%v, want %q in %s", err, test.want, printed)
				}
				checkSmokeIsGone(t, s, printed)
			})
		})
	}
}

func TestSmokeTestRejectsLiveKeyBeforeSendingRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		asked := 0
		s.intercept = func(*http.Request) *http.Response { asked++; return nil }
		live := s.seeded.Organisations[1]
		_, bare, _ := strings.Cut(strings.TrimPrefix(live.PublicID, "public_"), "_")
		for _, publicID := range []string{live.PublicID, bare, fmt.Sprint("Public_test_", bare), ""} {
			printed, err := smoke(s, func(o *check.Options) {
				o.Credential, o.Rules = live, nil
				o.Credential.PublicID = publicID
			})
			if !errors.Is(err, check.ErrRefused) || asked != 0 || printed != "" {
				t.Errorf("%q: %v after %d requests, printed %s", publicID, err, asked, printed)
			}
		}
	})
}

// TestSmokeTestNeverPrintsKey checks that the smoke test never prints a key, even one contained in a server's error.
func TestSmokeTestNeverPrintsKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		own := s.seeded.Organisations[0]
		printed, err := smoke(s, func(o *check.Options) {
			o.Credential, o.Rules = own, nil
			o.HTTP.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
				response, err := s.Do(r)
				if _, key, ok := r.BasicAuth(); err == nil && ok {
					response.Header.Set("X-Request-Id", key)
					response.Header.Set("Content-Type", "text/"+key)
				}
				return response, err
			})
		})
		if err == nil || !strings.Contains(printed, "x-request-id …") || strings.Contains(printed, own.PrivateKey) {
			t.Errorf("%v, printed %s", err, printed)
		}
	})
}
