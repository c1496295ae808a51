package requestsupport_test

import (
	"context"
	"net/http"
	"testing"

	"recordbridge/functions/requestsupport"
	"recordbridge/infra/testkit/browsertest"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/words/fault"
)

type recorder struct {
	from  []inquiry.From
	asked []inquiry.Support
	err   error
}

func (r *recorder) AskSupport(_ context.Context, from inquiry.From, asked inquiry.Support) error {
	r.from, r.asked = append(r.from, from), append(r.asked, asked)
	return r.err
}

func (r *recorder) handler() http.Handler {
	return requestsupport.New(requestsupport.Deps{API: keyedtest.NewAPI(), Auth: browsertest.Auth(), Inquiries: r})
}

func TestRequestSupportRecordsInquiry(t *testing.T) {
	t.Parallel()
	var r recorder
	browsertest.CheckAnswer(t, browsertest.Send(t, r.handler(), http.MethodPost, requestsupport.Route+browsertest.Page,
		`{"email":"ada@example.com","name":"Ada","subject":"s","body":"b","health_system":"h","email_token":"token-1",`+
			`"request_key":"page-1","Tenant":"other"}`), `{"success":true}`)
	if len(r.asked) != 1 || r.asked[0] != (inquiry.Support{Name: "Ada", Subject: "s", Body: "b", HealthSystem: "h"}) {
		t.Fatalf("asked for %+v", r.asked)
	}
	if from := r.from[0]; from.Tenant != keyedtest.Tenants()[keyedtest.PublicA] || from.Email != "ada@example.com" ||
		from.Token.Reveal() != "token-1" || from.RequestKey != "page-1" {
		t.Errorf("asked by %+v", from)
	}
}

func TestRequestSupportReturnsStatusOfEachError(t *testing.T) {
	t.Parallel()
	browsertest.CheckRefusals(t, requestsupport.Route, `{"email":"ada@example.com","name":"x"}`,
		map[string]browsertest.Refusal{
			"what cannot be taken": {
				Err: fault.BadRequest("name is required.").About("name"), Status: 400,
				Code: "svc_invalid_request",
			},
			"no address":        {Body: `{"name":"x"}`, Status: 400, Code: "svc_invalid_request"},
			"a member of lists": {Body: `{"email":"ada@example.com","name":["x"]}`, Status: 400, Code: "svc_invalid_request"},
		}, func(err error) (http.Handler, func() int) {
			r := recorder{err: err}
			return r.handler(), func() int { return len(r.asked) }
		})
}
