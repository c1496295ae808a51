package dashboardsession_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/dashboardsession"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/account/signin"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// counter is a signin.Service that lets anyone sign in with the code 123456.
type counter struct{ signin.Service }

func (counter) SendCode(context.Context, string, signin.Browser) (verification.Sent, error) {
	return verification.Sent{ID: "id", ExpiresAt: keyedtest.Moment(), ResendAfter: keyedtest.Moment()}, nil
}

func (counter) ByCode(_ context.Context, b signin.Browser, _, _, code string) (signin.SignedIn, error) {
	if code != "123456" {
		return signin.SignedIn{}, fault.BadRequest("The code is wrong.")
	}
	at := keyedtest.Moment()
	s := account.Session{
		AccountID: membertest.AccountOf(membertest.Owner), Pending: !b.Device.Empty(), ProvenAt: at,
		StartedAt: at, SeenAt: at,
	}
	return signin.SignedIn{Token: secret.New("new"), Device: secret.New("device"), Session: s}, nil
}

func (counter) Account(_ context.Context, s account.Session) (account.Account, []account.Membership, error) {
	a := account.Account{
		ID: s.AccountID, Email: "ada@alder.example",
		Passkeys: []account.Passkey{{ID: "k", Name: "Telephone", CreatedAt: keyedtest.Moment()}},
	}
	if s.Pending {
		return a, nil, nil
	}
	return a, []account.Membership{
		{OrgID: membertest.OrgA, AccountID: s.AccountID, Role: account.Owner},
		{OrgID: membertest.OrgB, Role: account.Viewer},
	}, nil
}

func (counter) RecoveryCodesLeft(context.Context, account.Account) (int, error) { return 7, nil }

func (counter) ByRecoveryCode(ctx context.Context, b signin.Browser, _ account.Session,
	code string,
) (signin.SignedIn, error) {
	e, err := counter{}.ByCode(ctx, b, "", "", code)
	e.RecoveryCodes = []secret.Text{secret.New("0123-4567-89AB-CDEF")}
	return e, err
}

func (counter) MakeRecoveryCodes(context.Context, account.Session) ([]secret.Text, error) {
	return []secret.Text{secret.New("0123-4567-89AB-CDEF")}, nil
}

func (counter) SignOut(context.Context, account.Session) error { return nil }

// Organisation implements dashboardsession.Organisations. Organisation returns an error for every organisation except
// OrgA.
func (counter) Organisation(_ context.Context, tenant org.Tenant) (org.Organisation, error) {
	if tenant.OrgID != membertest.OrgA {
		return org.Organisation{}, fault.Missing("Record not found.")
	}
	return org.Organisation{ID: tenant.OrgID, Name: "Alder", Plan: org.Free, Status: org.Active}, nil
}

func newHandler() http.Handler {
	return dashboardsession.New(dashboardsession.Deps{
		API: keyedtest.NewAPI(), Auth: membertest.Auth(), Service: counter{},
		Organisations: counter{},
	})
}

func TestSignInReturnsSessionAndStrictCookies(t *testing.T) {
	t.Parallel()
	const route = "/dashboard/session"
	view := func(token secret.Text, needs, organisations, fresh, ends string) string {
		return `{"success":true,"data":{"account":{"id":"` + membertest.AccountOf(membertest.Owner) +
			`","email":"ada@alder.example","totp":false,` +
			`"passkeys":[{"id":"k","name":"Telephone","created_at":"2026-03-04T05:06:07Z"}],"recovery_codes_left":7},` +
			`"csrf_token":"` + account.CSRFToken(token) + `","needs":"` + needs +
			`","fresh_until":"` + fresh + `","ends_at":"` + ends + `","organisations":[` + organisations + `]}}`
	}
	const alder = `{"id":"` + membertest.OrgA + `","name":"Alder","role":"owner","plan":"free","status":"active"}`
	const strict = "; HttpOnly; Secure; SameSite=Strict"
	for name, e := range map[string]membertest.Exchange{
		"a code": {
			Method: "POST", Body: `{"email":"a@b.example","verification_id":"id","code":"123456"}`, Status: 200,
			Want: view(secret.New("new"), "", alder, "2026-03-04T05:21:07Z", "2026-03-04T07:06:07Z"),
			Header: map[string]string{"Set-Cookie": "__Host-recordbridge-session=new; Path=/; Max-Age=43200" + strict +
				", __Host-recordbridge-device=device; Path=/; Max-Age=15552000" + strict},
		},
		"a wrong code": {
			Method: "POST", Body: `{"email":"a@b.example","verification_id":"id","code":"1"}`, Status: 400,
			Want: keyedtest.FailureBody("svc_invalid_request", "The code is wrong."),
		},
		"of another site": {
			Method: "POST", Site: "cross-site",
			Body: `{"email":"a@b.example","verification_id":"id","code":"123456"}`, Status: 403, Want: membertest.OtherSite,
		},
		"as a form": {
			Method: "POST", Media: "application/x-www-form-urlencoded", Body: `email=a`, Status: 415,
			Want: keyedtest.FailureBody("svc_unsupported_media_type",
				"The request body must be uncompressed UTF-8 and have the content type application/json."),
		},
		"it is looked at": {
			As: membertest.Owner, Status: 200,
			Want: view(membertest.Token(membertest.Owner), "", alder, "2026-03-04T05:20:07Z", "2026-03-04T07:05:07Z"),
		},
		"there is none": {Status: 401, Want: membertest.NoSession},
		"it ends": {
			Method: "DELETE", As: membertest.Pending, Status: 200, Want: `{"success":true}`,
			Header: map[string]string{"Set-Cookie": "__Host-recordbridge-session=; Path=/; Max-Age=0" + strict},
		},
		"without a token ": {Method: "DELETE", As: membertest.Owner, NoToken: true, Status: 403, Want: membertest.NoToken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.Path = route
			e.Check(t, route, newHandler())
		})
	}
}

// TestAccountChangesRequireRecentProof checks that sensitive changes fail if the user has not recently proved their
// identity or if a second factor is pending.
func TestAccountChangesRequireRecentProof(t *testing.T) {
	t.Parallel()
	const account = "/dashboard/account/"
	for _, c := range []struct{ method, path, route, body string }{
		{"POST", "totp", "totp", ""},
		{"PUT", "totp", "totp", `{"code":"123456"}`},
		{"DELETE", "totp", "totp", ""},
		{"POST", "passkeys/options", "passkeys/options", ""},
		{"POST", "recovery-codes", "recovery-codes", ""},
		{"POST", "passkeys", "passkeys", `{"name":"n","response":{}}`},
		{"DELETE", "passkeys/k", "passkeys/{passkeyId}", ""},
		{"POST", "email", "email", `{"email":"a@b.example"}`},
		{"PUT", "email", "email", `{"email":"a@b.example","verification_id":"id","code":"123456"}`},
	} {
		for who, want := range map[string]string{
			membertest.Stale:   membertest.ProofRequired,
			membertest.Pending: membertest.ProofRequired, "": membertest.NoSession,
		} {
			t.Run(c.method+" "+c.path+" as "+who, func(t *testing.T) {
				t.Parallel()
				status := http.StatusForbidden
				if who == "" {
					status = http.StatusUnauthorized
				}
				e := membertest.Exchange{
					Method: c.method, Path: account + c.path, As: who, Body: c.body,
					Status: status, Want: want,
				}
				e.Check(t, account+c.route, newHandler())
			})
		}
		t.Run(c.method+" "+c.path+" without the token", func(t *testing.T) {
			t.Parallel()
			e := membertest.Exchange{
				Method: c.method, Path: account + c.path, As: membertest.Owner, NoToken: true, Body: c.body,
				Status: 403, Want: membertest.NoToken,
			}
			e.Check(t, account+c.route, newHandler())
		})
	}
}

func TestSendCodeReturnsVerification(t *testing.T) {
	t.Parallel()
	at := keyedtest.Moment().UTC().Format(time.RFC3339)
	e := membertest.Exchange{
		Method: http.MethodPost, Path: "/dashboard/session/codes", Body: `{"email":"a@b.example"}`, Status: 200,
		Want: strings.ReplaceAll(`{"success":true,"data":{"verification_id":"id","expires_at":"AT","resend_after":"AT"}}`,
			"AT", at),
	}
	e.Check(t, "/dashboard/session/codes", newHandler())
}

func TestRecoveryCodesAreReturnedOnce(t *testing.T) {
	t.Parallel()
	const code = `"recovery_codes":["0123-4567-89AB-CDEF"]`
	for name, e := range map[string]membertest.Exchange{
		"new codes": {
			Path: "/dashboard/account/recovery-codes", As: membertest.Owner, Status: 200,
			Want: `{"success":true,"data":{` + code + `}}`,
		},
		"nobody's": {Path: "/dashboard/account/recovery-codes", Status: 401, Want: membertest.NoSession},
		"a wrong code completes no sign-in": {
			Path: "/dashboard/session/recovery-code", As: membertest.Pending, Body: `{"code":"1"}`, Status: 400,
			Want: keyedtest.FailureBody("svc_invalid_request", "The code is wrong."),
		},
		"without a session": {
			Path: "/dashboard/session/recovery-code", Body: `{"code":"123456"}`, Status: 401,
			Want: membertest.NoSession,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.Method = http.MethodPost
			e.Check(t, e.Path, newHandler())
		})
	}
}
