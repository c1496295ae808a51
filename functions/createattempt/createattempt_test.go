package createattempt_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"recordbridge/functions/createattempt"
	"recordbridge/infra/testkit/browsertest"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

type creator struct {
	asked []flow.Request
	err   error
}

func (c *creator) Create(_ context.Context, r flow.Request) (flow.Prepared, error) {
	c.asked = append(c.asked, r)
	if c.err != nil {
		return flow.Prepared{}, c.err
	}
	return flow.Prepared{
		AttemptID: "a0000000-0000-4000-8000-0000000000aa", Token: c.token(r), Start: secret.New("start-1"),
		ExpiresAt:  time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC),
		EndpointID: "e1", PortalID: "p1", BrandID: "b1",
	}, nil
}

// token returns the attempt's token, or an empty secret if the widget generated its own token.
func (*creator) token(r flow.Request) secret.Text {
	if r.TokenHash != "" {
		return secret.Text{}
	}
	return secret.New("token-1")
}

func (c *creator) handler() http.Handler {
	auth := browsertest.Auth()
	auth.Own = ownhosts.Own()
	return createattempt.New(createattempt.Deps{
		API: keyedtest.NewAPI(), Auth: auth, Flows: c,
		BaseURL: "https://api.example/v1",
	})
}

func (c *creator) post(t *testing.T, body string) *httptest.ResponseRecorder {
	t.Helper()
	return browsertest.Send(t, c.handler(), http.MethodPost, createattempt.Route+browsertest.Page, body)
}

func TestCreateAttemptForwardsWidgetParameters(t *testing.T) {
	t.Parallel()
	var c creator
	w := c.post(t, `{"endpoint_id":"e","brand_id":"b","portal_id":"p","external_id":"x","external_state":"s",
		"request_id":"r","reconnect_org_connection_id":"c",
		"lang":"es","redirect_uri":"https://evil.example/","PublicID":"other"}`)
	browsertest.CheckAnswer(t, w,
		`{"success":true,"data":{"attempt_id":"a0000000-0000-4000-8000-0000000000aa","attempt_token":"token-1",`+
			`"connect_url":"https://api.example/v1/bridge/connect","start_value":"start-1",`+
			`"expires_at":"2026-03-04T05:06:07Z","endpoint_id":"e1","portal_id":"p1","brand_id":"b1"}}`)
	caller, err := browsertest.Directory{}.ByPublicID(t.Context(), keyedtest.PublicA)
	expect.NoError(t, err)
	asked := []flow.Request{{
		Caller: caller, Reconnect: "c", EndpointID: "e", BrandID: "b", PortalID: "p", ExternalID: "x", ExternalState: "s",
		RequestID: "r",
		Look: binding.Look{
			Language: "es", Organisation: "Alder Maple Clinic", Logo: "https://cdn.example/a.png", Accent: "#0a7d33",
		},
	}}
	same := gocmp.Comparer(func(a, b org.VerifiedRedirect) bool { return a == b })
	if diff := gocmp.Diff(asked, c.asked, same); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestCreateAttemptOmitsTokenWhenWidgetProvidesHash(t *testing.T) {
	t.Parallel()
	var c creator
	w := c.post(t, `{"endpoint_id":"e","attempt_id":"own","token_hash":"hash"}`)
	want := `{"success":true,"data":{"attempt_id":"a0000000-0000-4000-8000-0000000000aa",` +
		`"connect_url":"https://api.example/v1/bridge/connect","start_value":"start-1",` +
		`"expires_at":"2026-03-04T05:06:07Z","endpoint_id":"e1","portal_id":"p1","brand_id":"b1"}}`
	if got := strings.TrimSpace(w.Body.String()); got != want || c.asked[0].AttemptID != "own" ||
		c.asked[0].TokenHash != "hash" {
		t.Errorf("got %s, asked %+v", got, c.asked)
	}
}

func TestCreateAttemptUsesDefaultRequestID(t *testing.T) {
	t.Parallel()
	var c creator
	c.post(t, `{"endpoint_id":"e"}`)
	if len(c.asked) != 1 || c.asked[0].RequestID != keyedtest.RequestID {
		t.Errorf("asked for %+v", c.asked)
	}
}

func TestCreateAttemptReturnsStatusOfEachError(t *testing.T) {
	t.Parallel()
	browsertest.CheckRefusals(t, createattempt.Route, "{}", map[string]browsertest.Refusal{
		"an unknown endpoint": {Err: catalog.MissingEndpoint(), Status: 400, Code: "svc_invalid_request"},
		"a portal that is off": {
			Err: fault.New(fault.Unavailable, fault.CodeUnavailable, "Off."), Status: 503,
			Code: "svc_unavailable",
		},
		"an id that is taken": {
			Err: fault.New(fault.Conflict, fault.CodeInvalidRequest, "No."), Status: 409,
			Code: "svc_invalid_request",
		},
		"a language that windows don't have": {
			Body: `{"endpoint_id":"e","lang":"fr"}`, Status: 400, Code: "svc_invalid_request",
		},
		"no string": {Body: `{"endpoint_id":1}`, Status: 400, Code: "svc_invalid_request"},
	}, func(err error) (http.Handler, func() int) {
		c := creator{err: err}
		return c.handler(), func() int { return len(c.asked) }
	})
}

func TestCreateAttemptReturnsCauseWhenErrorCodeIsAmbiguous(t *testing.T) {
	t.Parallel()
	unanswered := fault.New(fault.Upstream, fault.CodeUnavailable, "No.")
	unanswered.Cause = "portal_unavailable"
	for name, cause := range map[*fault.Error]string{
		unanswered: `,"cause":"portal_unavailable"`, fault.New(fault.Unavailable, fault.CodeUnavailable, "No."): "",
	} {
		c := creator{err: name}
		w := c.post(t, `{"endpoint_id":"e"}`)
		want := strings.TrimSuffix(keyedtest.FailureBody("svc_unavailable", "No."), "}") + cause + "}"
		if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusServiceUnavailable || got != want {
			t.Errorf("got %d %s\nwant %s", w.Code, got, want)
		}
	}
}
