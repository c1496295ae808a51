package dashboardorg_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"recordbridge/infra/test/managed"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/org"
)

type liveShown struct {
	Stage, Purpose, Reason string
	RequestedAt            string `json:"requested_at"`
	Checklist              []struct {
		Step string
		Done bool
	}
}

func TestLiveAccessRequestRequiresCompleteChecklist(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	tenant := managed.Tenant(membertest.OrgA, org.Live)
	_, err := s.Operator.LiveReviews.Withdraw(t.Context(), tenant, "Its website is gone.")
	expect.NoError(t, err)
	h := handler(s)
	got := data[liveShown](t, membertest.Exchange{Path: onePath + "/live-access", As: membertest.Viewer}.Send(t,
		liveRoute, h))
	if got.Stage != "withdrawn" || got.Reason != "Its website is gone." || len(got.Checklist) != 4 {
		t.Errorf("shown %+v", got)
	}
	for _, c := range got.Checklist {
		// The organisation's notice address is already verified, so only that step is done.
		if isVerified := c.Step == string(operator.LiveNoticeAddress); c.Done != isVerified {
			t.Errorf("%s is done: %v", c.Step, c.Done)
		}
	}
	request := func(body string) *httptest.ResponseRecorder {
		return membertest.Exchange{Method: "POST", Path: onePath + "/live-access", As: membertest.Owner, Body: body}.Send(t,
			liveRoute, h)
	}
	purpose := strings.Repeat("Patients share records. ", 2)
	for body, status := range map[string]int{
		`{"purpose":"` + purpose + `","terms_accepted":true}`:                      http.StatusConflict,
		`{"purpose":"` + purpose + `"}`:                                            http.StatusBadRequest,
		`{"purpose":"too short","terms_accepted":true}`:                            http.StatusBadRequest,
		`{"purpose":"` + strings.Repeat("\u200b", 40) + `","terms_accepted":true}`: http.StatusBadRequest,
		`{"purpose":"` + strings.Repeat("x", 1001) + `","terms_accepted":true}`:    http.StatusBadRequest,
	} {
		if got := request(body); got.Code != status {
			t.Errorf("%.60s: %d %s, want %d", body, got.Code, got.Body, status)
		}
	}
}

func TestChangeOrganisationRejectsReviewedFieldsAfterGrant(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	asked := membertest.Exchange{Method: "PATCH", Path: onePath, As: membertest.Owner, Body: `{"name":"Maple Clinic"}`}
	if got := asked.Send(t, oneRoute, handler(s)); got.Code != http.StatusConflict {
		t.Errorf("another name: %d %s", got.Code, got.Body)
	}
	asked.Body = `{"name":"Alder Maple Clinic","accent":"#1a5fb4"}`
	if got := asked.Send(t, oneRoute, handler(s)); got.Code != http.StatusOK {
		t.Errorf("the same name: %d %s", got.Code, got.Body)
	}
	if rows := s.Audited(t, membertest.OrgA); len(rows) != 1 || !strings.HasPrefix(rows[0], account.Actor("")) {
		t.Errorf("audited %q", rows)
	}
}
