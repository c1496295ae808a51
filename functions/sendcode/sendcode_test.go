package sendcode_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"recordbridge/functions/sendcode"
	"recordbridge/infra/testkit/browsertest"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/manage/verification"
	"recordbridge/shared/platform/maillimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

type directory struct{ access org.LiveAccess }

func (d directory) Organisation(context.Context, string) (org.Organisation, error) {
	return org.Organisation{ID: "0a", Name: "Alder App", LiveAccess: d.access, FoundedBy: "ac"}, nil
}

type sender struct {
	asked []verification.Request
	err   error
}

func (s *sender) Send(_ context.Context, r verification.Request) (verification.Sent, error) {
	s.asked = append(s.asked, r)
	at := time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC)
	return verification.Sent{ID: "id-1", ExpiresAt: at.Add(5 * time.Minute), ResendAfter: at.Add(30 * time.Second)}, s.err
}

func (s *sender) handler() http.Handler { return s.handlerAt(org.LiveGranted) }

func (s *sender) handlerAt(access org.LiveAccess) http.Handler {
	return sendcode.New(sendcode.Deps{
		API: keyedtest.NewAPI(), Auth: browsertest.Auth(),
		Organisations: directory{access}, Codes: s,
	})
}

func TestSendCodeNamesOrganisationOnlyWhenApproved(t *testing.T) {
	t.Parallel()
	for access, want := range map[org.LiveAccess]verification.Request{
		org.LiveNone:      {Organisation: "", From: maillimit.From{Organisation: "ac"}},
		org.LiveRequested: {Organisation: "", From: maillimit.From{Organisation: "ac"}},
		org.LiveWithdrawn: {Organisation: "", From: maillimit.From{Organisation: "ac"}},
		org.LiveGranted:   {Organisation: "Alder App", From: maillimit.From{Organisation: "0a"}},
	} {
		var s sender
		browsertest.Send(t, s.handlerAt(access), http.MethodPost, sendcode.Route+browsertest.Page,
			`{"email":"ada@example.com"}`)
		if len(s.asked) != 1 || s.asked[0].Organisation != want.Organisation || s.asked[0].From != want.From {
			t.Errorf("%s: asked for %+v", access, s.asked)
		}
	}
}

func TestSendCodeUsesOrganisationOfPublicID(t *testing.T) {
	t.Parallel()
	var s sender
	w := browsertest.Send(t, s.handler(), http.MethodPost, sendcode.Route+browsertest.Page,
		`{"email":"ada@example.com","lang":"es","public_id":"other","Organisation":"Evil","Network":"other"}`)
	browsertest.CheckAnswer(t, w,
		`{"success":true,"data":{"verification_id":"id-1","expires_at":"2026-03-04T05:11:07Z",`+
			`"resend_after":"2026-03-04T05:06:37Z"}}`)
	asked := verification.Request{
		Tenant: keyedtest.Tenants()[keyedtest.PublicA], Organisation: "Alder App",
		From: maillimit.From{Organisation: "0a"}, Email: "ada@example.com", Language: "es", Network: "192.0.2.1",
	}
	if len(s.asked) != 1 || s.asked[0] != asked {
		t.Errorf("asked for %+v", s.asked)
	}
}

func TestSendCodeReturnsStatusOfEachError(t *testing.T) {
	t.Parallel()
	browsertest.CheckRefusals(t, sendcode.Route, `{"email":"ada@example.com"}`, map[string]browsertest.Refusal{
		"too many": {
			Err: fault.New(fault.Limited, fault.CodeRateLimited, "Wait.").After(time.Minute), Status: 429,
			Code: "svc_rate_limited",
		},
		"a mail that fails": {
			Err: fault.New(fault.Unavailable, fault.CodeUnavailable, "Off."), Status: 503,
			Code: "svc_unavailable",
		},
		"no address":          {Body: `{"email":null}`, Status: 400, Code: "svc_invalid_request"},
		"an address of lists": {Body: `{"email":["a@example.com"]}`, Status: 400, Code: "svc_invalid_request"},
	}, func(err error) (http.Handler, func() int) {
		s := sender{err: err}
		return s.handler(), func() int { return len(s.asked) }
	})
}
