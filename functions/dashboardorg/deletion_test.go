package dashboardorg_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"recordbridge/infra/test/managed"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/manage/account"
)

const (
	deletionRoute = oneRoute + "/deletion"
	deletionPath  = onePath + "/deletion"
	rightName     = `{"name":"Alder Maple Clinic"}`
)

func TestDeletionRequiresOwner(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]struct {
		method, body string
		needed       account.Permission
	}{
		"shown": {http.MethodGet, "", account.View}, "requested": {http.MethodPost, rightName, account.Own},
		"cancelled": {http.MethodDelete, "", account.Own},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := membertest.Exchange{Method: e.method, Path: deletionPath, As: membertest.Owner, Body: e.body}
			membertest.CheckMember(t, deletionRoute, asked, e.needed, func() http.Handler { return handler(managed.New(t)) })
		})
	}
}

func TestDeletionRequiresRecentProofAndName(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	h := handler(s)
	membertest.Exchange{
		Method: http.MethodPost, Path: deletionPath, As: membertest.Stale, Body: rightName, Status: 403,
		Want: membertest.ProofRequired,
	}.Check(t, deletionRoute, h)
	for _, body := range []string{`{}`, `{"name":""}`, `{"name":"Birch Hill Practice"}`, `{"name":"alder maple clinic"}`} {
		if got := (membertest.Exchange{Method: http.MethodPost, Path: deletionPath, As: membertest.Owner, Body: body}).Send(t,
			deletionRoute, h); got.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", body, got.Code, got.Body)
		}
	}
	if rows, sent := s.Audited(t, membertest.OrgA), s.Mail(); len(rows) > 0 || len(sent) > 0 {
		t.Errorf("audited %q, told %v", rows, sent)
	}
}

func TestDeletionRequestAndCancellationAreAuditedAndNotified(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	h := handler(s)
	ask := func(method, body string, status int, want string) {
		t.Helper()
		membertest.Exchange{
			Method: method, Path: deletionPath, As: membertest.Owner, Body: body, Status: status,
			Want: want,
		}.Check(t, deletionRoute, h)
	}
	const waiting = `{"success":true,"data":{"stage":"waiting","requested_at":"2026-03-04T05:06:07Z",` +
		`"begins_at":"2026-03-11T05:06:07Z","can_cancel":true}}`
	for range 2 { // repeating a request returns the deletion's status
		ask(http.MethodPost, rightName, 200, waiting)
	}
	ask(http.MethodGet, "", 200, waiting)
	ask(http.MethodDelete, "", 200, `{"success":true}`)
	who := account.Actor(membertest.AccountOf(membertest.Owner))
	want := []string{
		who + " organisation.deletion_requested " + membertest.OrgA,
		who + " organisation.deletion_cancelled " + membertest.OrgA,
	}
	if rows := s.Audited(t, membertest.OrgA); !slices.Equal(rows, want) {
		t.Errorf("audited %q, want %q", rows, want)
	}
	sent := s.Mail()
	if len(sent) != 2 || sent[0].To[0] != "ops@alder.example.org" ||
		!strings.Contains(sent[0].Text, "Deletion starts: 2026-03-11 05:06 UTC") ||
		!strings.Contains(sent[1].Text, "cancelled") {
		t.Errorf("told %+v", sent)
	}
}
