package dashboardorg_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/test/managed"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

const (
	inquiriesRoute = oneRoute + "/{mode}/inquiries"
	inquiryRoute   = inquiriesRoute + "/{inquiryId}"
	inboxPath      = onePath + "/test/inquiries"
	helpID         = "e0000000-0000-4000-8000-000000000001"
	systemID       = "e0000000-0000-4000-8000-000000000002"
	patientsEmail  = "juniper.vale@mailbox.example"
)

// inboxOf returns a stack with two test-mode requests: a support request and a newer request for a health system.
func inboxOf(t *testing.T) *managed.Stack {
	t.Helper()
	s := managed.New(t)
	rows := store.Inquiries{DB: store.NewClient(s.AWS), Table: s.Outputs["WorkTable"]}
	for n, i := range []inquiry.Inquiry{
		{ID: helpID, Type: webhook.SupportRequested, Name: "Juniper Vale", Subject: "No sign-in", Body: "It says no."},
		{
			ID: systemID, Type: webhook.HealthSystemRequested, Name: "Cedar Hospital", Website: "https://cedar.example",
			StreetAddress: "1 Elm Street", EmailVerified: true,
		},
	} {
		i.Tenant, i.Email, i.CreatedAt = managed.Tenant(membertest.OrgA, org.Test), patientsEmail,
			keyedtest.Moment().Add(time.Duration(n-5)*time.Minute)
		event, err := webhook.NewEvent(i.Tenant, i.Type, i.ID, 0, i.CreatedAt, map[string]string{})
		expect.NoError(t, err)
		expect.NoError(t, rows.CreateInquiry(t.Context(), i, event))
	}
	return s
}

type shownInquiry struct {
	ID       string `json:"inquiry_id"`
	Kind     string
	Status   string
	Email    string
	Verified bool `json:"email_verified"`
	Body     string
	Answers  []struct{ At, By, Text, Delivery string }
}

func TestInboxAppliesFilters(t *testing.T) {
	t.Parallel()
	s := inboxOf(t)
	for query, want := range map[string]string{
		"": systemID + " " + helpID, "?kind=support": helpID, "?kind=health_system": systemID,
		"?status=open":   systemID + " " + helpID,
		"?status=closed": "", "?status=open&kind=support": helpID,
	} {
		got := data[struct{ Inquiries []shownInquiry }](t,
			membertest.Exchange{Path: inboxPath + query, As: membertest.Developer}.Send(t, inquiriesRoute, handler(s)))
		found := make([]string, 0, 2)
		for _, i := range got.Inquiries {
			found = append(found, i.ID)
		}
		if strings.Join(found, " ") != want {
			t.Errorf("%q: %q", query, found)
		}
	}
	for _, query := range []string{"?status=done", "?kind=help", "?cursor=x"} {
		if w := (membertest.Exchange{Path: inboxPath + query, As: membertest.Developer}).Send(t, inquiriesRoute,
			handler(s)); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
	live := data[struct{ Inquiries []shownInquiry }](t,
		membertest.Exchange{Path: onePath + "/live/inquiries", As: membertest.Developer}.Send(t, inquiriesRoute, handler(s)))
	if len(live.Inquiries) != 0 {
		t.Errorf("in live mode: %+v", live)
	}
}

func TestInquiryReplyAndStatusChangeAreAudited(t *testing.T) {
	t.Parallel()
	s := inboxOf(t)
	send := func(method, path, body string) *httptest.ResponseRecorder {
		route := strings.Replace(strings.Replace(path, membertest.OrgA+"/test", "{orgId}/{mode}", 1), helpID,
			"{inquiryId}", 1)
		return membertest.Exchange{Method: method, Path: path, As: membertest.Admin, Body: body}.Send(t, route, handler(s))
	}
	const one = inboxPath + "/" + helpID
	before := data[shownInquiry](t, send("GET", one, ""))
	if before.Status != "open" || before.Kind != "support" || before.Email != patientsEmail || before.Verified ||
		before.Body != "It says no." || before.Answers == nil {
		t.Errorf("before: %+v", before)
	}
	by := account.Actor(membertest.AccountOf(membertest.Admin))
	for range 2 { // the second request simulates a retry after a lost response
		got := data[shownInquiry](t, send("POST", one+"/answers", `{"text":"Call us."}`))
		if got.Status != "answered" || len(got.Answers) != 1 || got.Answers[0].By != by ||
			got.Answers[0].Text != "Call us." || got.Answers[0].Delivery != "sent" ||
			got.Answers[0].At != keyedtest.Moment().UTC().Format(time.RFC3339) {
			t.Errorf("answered: %+v", got)
		}
	}
	if sent := s.Mail(); len(sent) != 1 || sent[0].To[0] != patientsEmail ||
		sent[0].ReplyTo[0] != "ops@alder.example.org" ||
		!strings.Contains(sent[0].Text, "Alder Maple Clinic (test mode) replied") {
		t.Errorf("mails: %+v", sent)
	}
	for range 2 {
		if got := data[shownInquiry](t, send("PATCH", one, `{"status":"closed"}`)); got.Status != "closed" {
			t.Errorf("closed: %+v", got)
		}
	}
	if got := send("PATCH", one, `{"status":"done"}`); got.Code != http.StatusBadRequest {
		t.Errorf("an unknown status: %d", got.Code)
	}
	want := by + " inquiry.answered " + helpID + "|" + by + " inquiry.moved " + helpID + " closed"
	if rows := strings.Join(s.Audited(t, membertest.OrgA), "|"); rows != want {
		t.Errorf("audited %q", rows)
	}
	for what, w := range map[string]*httptest.ResponseRecorder{
		"an unknown one": membertest.Exchange{
			Path: inboxPath + "/e0000000-0000-4000-8000-00000000000f",
			As:   membertest.Owner,
		}.Send(t, inquiryRoute, handler(s)),
		"in the other mode": membertest.Exchange{Path: onePath + "/live/inquiries/" + helpID, As: membertest.Owner}.Send(t,
			inquiryRoute, handler(s)),
		"another's, to answer": membertest.Exchange{
			Method: "POST",
			Path:   strings.Replace(one, membertest.OrgA, membertest.OrgB, 1) + "/answers", As: membertest.Stranger,
			Body: `{"text":"x"}`,
		}.Send(t, inquiryRoute+"/answers", handler(s)),
	} {
		if w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), patientsEmail) {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
	}
}

func TestInboxRequiresPermission(t *testing.T) {
	t.Parallel()
	s := inboxOf(t)
	newHandler := func() http.Handler { return handler(s) }
	for _, e := range []struct {
		method, route, path, body string
		needed                    account.Permission
	}{
		{"GET", inquiriesRoute, inboxPath, "", account.Inspect},
		{"GET", inquiryRoute, inboxPath + "/" + helpID, "", account.Inspect},
		{"PATCH", inquiryRoute, inboxPath + "/" + helpID, `{"status":"done"}`, account.Operate},
		{"POST", inquiryRoute + "/answers", inboxPath + "/" + helpID + "/answers", `{"text":" "}`, account.Operate},
	} {
		t.Run(e.method+e.route, func(t *testing.T) {
			t.Parallel()
			membertest.CheckMember(t, e.route, membertest.Exchange{
				Method: e.method, Path: e.path, As: membertest.Owner,
				Body: e.body,
			}, e.needed, newHandler)
		})
	}
}
