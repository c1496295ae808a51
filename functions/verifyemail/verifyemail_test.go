package verifyemail_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/verifyemail"
	"recordbridge/infra/testkit/browsertest"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

type checker struct{}

func (checker) Check(_ context.Context, of org.Tenant, id, digits string) (verification.Verified, error) {
	switch {
	case of != keyedtest.Tenants()[keyedtest.PublicA] || id != "id-1":
		return verification.Verified{}, fault.Missing("Request a new one.")
	case digits != "123456":
		return verification.Verified{}, fault.BadRequest("This is not the code.")
	}
	return verification.Verified{
		Token:     secret.New("token-1"),
		ExpiresAt: time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC),
	}, nil
}

func TestVerifyEmailChecksCode(t *testing.T) {
	t.Parallel()
	handler := verifyemail.New(verifyemail.Deps{API: keyedtest.NewAPI(), Auth: browsertest.Auth(), Codes: checker{}})
	for name, c := range map[string]struct {
		method, query, body string
		status              int
		answer              string
	}{
		"the right one": {
			http.MethodPost, browsertest.Page, `{"verification_id":"id-1","code":"123456"}`, 200,
			`{"success":true,"data":{"email_token":"token-1","expires_at":"2026-03-04T05:06:07Z"}}`,
		},
		"a wrong one": {
			http.MethodPost, browsertest.Page, `{"verification_id":"id-1","code":"654321"}`, 400,
			"svc_invalid_request",
		},
		"one that is over": {
			http.MethodPost, browsertest.Page, `{"verification_id":"id-2","code":"123456"}`, 404,
			"svc_not_found",
		},
		"none": {http.MethodPost, browsertest.Page, `{"verification_id":"id-1"}`, 400, "code is required."},
		"a number": {
			http.MethodPost, browsertest.Page, `{"verification_id":"id-1","code":123456}`, 400,
			"code must be a string.",
		},
		"no id": {http.MethodPost, browsertest.Page, `{"code":"123456"}`, 400, "verification_id is required."},
		"an unknown public id": {
			http.MethodPost, "?public_id=x", `{"verification_id":"id-1","code":"123456"}`, 401,
			"svc_unauthorized_client",
		},
		"GET": {http.MethodGet, browsertest.Page, "", 405, "svc_method_not_allowed"},
	} {
		w := browsertest.Send(t, handler, c.method, verifyemail.Route+c.query, c.body)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.answer) {
			t.Errorf("%s: got %d %s", name, w.Code, w.Body)
		}
	}
}
