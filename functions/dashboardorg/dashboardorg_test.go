package dashboardorg_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/dashboardorg"
	"recordbridge/infra/test/managed"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/export/share"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/manage/usage"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

const (
	foundRoute    = "/dashboard/organisations"
	oneRoute      = foundRoute + "/{orgId}"
	auditRoute    = oneRoute + "/audit"
	liveRoute     = oneRoute + "/live-access"
	overviewRoute = oneRoute + "/{mode}/overview"
	onePath       = foundRoute + "/" + membertest.OrgA
)

type founder struct{}

func (founder) Found(_ context.Context, accountID, name string) (org.Organisation, error) {
	return org.Organisation{ID: accountID, Name: name, Plan: org.Free, Status: org.Active}, nil
}

// meter reports usage with a connection count equal to the month's number.
type meter struct{}

func (meter) Month(_ context.Context, tenant org.Tenant, month string) (usage.Month, error) {
	n, err := strconv.ParseInt(month[5:], 10, 64)
	if tenant.OrgID != membertest.OrgA {
		n = 99
	}
	return usage.Month{Month: month, Counts: usage.Counts{Connections: n}}, err
}

func TestUsageIsGroupedByMonth(t *testing.T) {
	t.Parallel()
	h := handler(managed.New(t))
	ask := func(query string) *httptest.ResponseRecorder {
		return membertest.Exchange{Path: onePath + "/live/usage" + query, As: membertest.Viewer}.Send(t,
			oneRoute+"/{mode}/usage", h)
	}
	type answer struct {
		Months []usage.Month
		CSV    string
	}
	if got := data[answer](t, ask("")); len(got.Months) != 1 || got.Months[0].Month != "2026-03" || got.CSV != "" {
		t.Errorf("this month: %+v", got)
	}
	got := data[answer](t, ask("?from=2025-12&to=2026-02&format=csv"))
	if len(got.Months) != 3 || got.Months[2].Connections != 2 ||
		!strings.HasSuffix(got.CSV, "2026-01,1,0,0,0,0,0,0\n2026-02,2,0,0,0,0,0,0\n") {
		t.Errorf("three months: %+v", got)
	}
	for _, query := range []string{
		"?from=x", "?from=2026-03&to=2026-02", "?from=2024-01&to=2026-02", "?format=xml",
		"?from=2026-3",
	} {
		if got := ask(query); got.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, got.Code, got.Body)
		}
	}
}

func handler(s *managed.Stack) http.Handler {
	return dashboardorg.New(dashboardorg.Deps{
		API: keyedtest.NewAPI(), Auth: membertest.Auth(), Founder: founder{}, Accounts: people{}, Audit: s.Audit,
		Meter: meter{}, Now: keyedtest.Moment,
		Organisations: s.Operator.Organisations, Notices: notices(s), LiveAccess: s.Operator.LiveAccess,
		Deletions: s.Operator.Deletions,
		Setup:     s.Setup(), Inquiries: s.Operator.Inquiries, Shares: shares{}, ConcurrentExports: 20,
	})
}

func data[T any](t *testing.T, w *httptest.ResponseRecorder) T {
	t.Helper()
	var answer struct{ Data T }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return answer.Data
}

type shown struct {
	ID       string
	Name     string
	Role     string
	Accent   string
	Contrast float64 `json:"accent_contrast"`
	OnDark   float64 `json:"accent_contrast_dark"`
	Radius   *int
	Font     string
	Scheme   string `json:"color_scheme"`
	English  string `json:"purpose"`
	Spanish  string `json:"purpose_es"`
	Website  string `json:"website_uri"`
	Emails   []string
	Verified []string `json:"verified_emails"`
}

func TestCreateOrganisationMakesCallerOwner(t *testing.T) {
	t.Parallel()
	h := handler(managed.New(t))
	asked := membertest.Exchange{
		Method: "POST", Path: foundRoute, As: membertest.Stranger,
		Body: `{"name":"Cedar Practice"}`,
	}
	if got := data[shown](t, asked.Send(t, foundRoute, h)); got.ID != membertest.AccountOf(membertest.Stranger) ||
		got.Name != "Cedar Practice" || got.Role != "owner" {
		t.Errorf("founded %+v", got)
	}
	membertest.Exchange{
		Method: "POST", Path: foundRoute, As: membertest.Pending, Body: `{"name":"x"}`, Status: 403,
		Want: membertest.ProofRequired,
	}.Check(t, foundRoute, h)
}

func TestChangeOrganisationAppliesToBothModes(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	live := managed.Tenant(membertest.OrgA, org.Live)
	if _, err := s.Operator.LiveReviews.Withdraw(t.Context(), live, "Its website moves."); err != nil {
		t.Fatal(err)
	}
	asked := membertest.Exchange{
		Method: "PATCH", Path: onePath, As: membertest.Admin,
		Body: `{"accent":"#1a5fb4","website_uri":"https://alder.example","emails":["a@alder.example"]}`,
	}
	got := data[shown](t, asked.Send(t, oneRoute, handler(s)))
	if got.Name != "Alder Maple Clinic" || got.Accent != "#1a5fb4" || got.Contrast != 6.3 ||
		got.Website != "https://alder.example" || len(got.Emails) != 1 || got.Role != "admin" {
		t.Errorf("changed to %+v", got)
	}
	for _, mode := range []org.Mode{org.Test, org.Live} {
		if kept, err := s.Operator.Organisations.Show(t.Context(), managed.Tenant(membertest.OrgA, mode)); err != nil ||
			kept.Accent != "#1a5fb4" {
			t.Errorf("in %s mode: %+v (%v)", mode, kept, err)
		}
	}
	if rows := s.Audited(t, membertest.OrgA); len(rows) != 2 ||
		rows[1] != account.Actor(membertest.AccountOf(membertest.Admin))+" organisation.changed "+membertest.OrgA {
		t.Errorf("audited %q", rows)
	}
	for _, body := range []string{
		`{"name":" "}`, `{"accent":"blue"}`, `{"logo_uri":"http://alder.example/l.svg"}`,
		`{"emails":["Alder <a@alder.example>"]}`,
	} {
		asked.Body = body
		if got := asked.Send(t, oneRoute, handler(s)); got.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", body, got.Code, got.Body)
		}
	}
}

func TestOverviewMarksCompletedSetupSteps(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	tenant := managed.Tenant(membertest.OrgA, org.Test)
	done := func() map[string]bool {
		got := data[struct {
			Checklist []struct {
				Step string
				Done bool
			}
			Failing []struct{ Disabled bool } `json:"failing_webhooks"`
		}](t, membertest.Exchange{Path: onePath + "/test/overview", As: membertest.Viewer}.Send(t, overviewRoute, handler(s)))
		steps := map[string]bool{"failing": len(got.Failing) > 0}
		for _, c := range got.Checklist {
			steps[c.Step] = c.Done
		}
		return steps
	}
	if before := done(); len(before) != 7 || before["credential_made"] || before["webhook_made"] || before["failing"] {
		t.Errorf("before anything: %v", before)
	}
	if _, _, err := s.Operator.Credentials.Create(t.Context(),
		operator.CredentialDraft{Tenant: tenant, Redirects: []string{"https://app.example/"}}); err != nil {
		t.Fatal(err)
	}
	sub, _, err := s.Operator.Webhooks.Create(t.Context(), webhook.Draft{Tenant: tenant, URL: "https://hooks.example/"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Operator.Webhooks.Disable(t.Context(), tenant, sub.ID); err != nil {
		t.Fatal(err)
	}
	after := done()
	if !after["credential_made"] || !after["redirect_registered"] || !after["webhook_made"] || !after["failing"] ||
		after["webhook_verified"] || after["first_connection"] || after["first_export"] {
		t.Errorf("then: %v", after)
	}
}

// shares holds two running exports and one whose lease has expired.
type shares struct{}

func (shares) Share(_ context.Context, tenant org.Tenant) (share.Row, error) {
	if tenant.Mode == org.Live {
		return share.Row{}, nil
	}
	now := keyedtest.Moment()
	return share.Row{Places: map[int]share.Holder{
		0: {Until: now.Add(time.Minute)}, 3: {Until: now.Add(time.Second)}, 4: {Until: now},
	}}, nil
}

func TestOverviewShowsUseOfEachLimit(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	if _, _, err := s.Operator.Webhooks.Create(t.Context(), webhook.Draft{
		Tenant: managed.Tenant(membertest.OrgA, org.Test), URL: "https://hooks.example/",
	}); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[string]string{
		"test": "[{concurrent_exports 2 20} {webhooks 1 25}]", "live": "[{concurrent_exports 0 20} {webhooks 0 25}]",
	} {
		got := data[struct {
			Limits []struct {
				Name        string
				Used, Limit int
			}
		}](t, membertest.Exchange{Path: onePath + "/" + mode + "/overview", As: membertest.Viewer}.Send(t, overviewRoute,
			handler(s)))
		if fmt.Sprint(got.Limits) != want {
			t.Errorf("%s: limits %v, want %s", mode, got.Limits, want)
		}
	}
}

// TestAuditLogCanBeListedAndExported checks that third parties can verify the exported log, and that the log doesn't
// contain other organisations' rows.
func TestAuditLogCanBeListedAndExported(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	for _, id := range []string{membertest.OrgA, membertest.OrgB} {
		for range 3 {
			if _, err := s.Operator.Deliveries.SendTest(t.Context(), managed.Tenant(id, org.Test)); err != nil {
				t.Fatal(err)
			}
		}
	}
	type list struct {
		Rows []struct {
			Seq    int64
			Action string
			Mode   string
		}
		Next int64
	}
	got := data[list](t, membertest.Exchange{Path: onePath + "/audit?before=3", As: membertest.Admin}.Send(t,
		auditRoute, handler(s)))
	if len(got.Rows) != 2 || got.Rows[0].Seq != 2 || got.Rows[0].Action != "webhook.tested" ||
		got.Rows[0].Mode != "test" || got.Next != 0 {
		t.Errorf("listed %+v", got)
	}
	if wrong := (membertest.Exchange{Path: onePath + "/audit?before=x", As: membertest.Admin}).Send(t, auditRoute,
		handler(s)); wrong.Code != http.StatusBadRequest {
		t.Errorf("before=x: %d", wrong.Code)
	}
	file := data[struct {
		NDJSON string `json:"ndjson"`
		Seq    int64
		Hash   string
	}](t, membertest.Exchange{Path: onePath + "/audit/export", As: membertest.Admin}.Send(t,
		auditRoute+"/export", handler(s)))
	report, err := audit.VerifyExport(bytes.NewBufferString(file.NDJSON), audit.Head{Seq: file.Seq, Hash: file.Hash})
	if err != nil || len(report.Breaks) != 0 || file.Seq != 3 || strings.Contains(file.NDJSON, membertest.OrgB) {
		t.Errorf("exported %s: %+v %v", file.NDJSON, report, err)
	}
}

// TestAuditLogCanBeFiltered checks every filter, and that entries contain the change and its source.
func TestAuditLogCanBeFiltered(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	ctx := audit.WithSource(t.Context(), "ctl")
	live := managed.Tenant(membertest.OrgA, org.Live)
	accent := "#1a5fb4"
	if _, err := s.Operator.Organisations.Change(ctx, live, operator.OrganisationChange{Accent: &accent}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Operator.Deliveries.SendTest(ctx, live); err != nil {
		t.Fatal(err)
	}
	asked := membertest.Exchange{
		Method: "PATCH", Path: onePath, As: membertest.Admin, Body: `{"accent":"#000000"}`,
	}
	asked.Send(t, oneRoute, handler(s))
	type list struct {
		Rows []struct {
			Seq     int64
			From    string
			Changes []audit.Change
		}
	}
	member := account.Actor(membertest.AccountOf(membertest.Admin))
	for query, want := range map[string][]int64{
		"": {3, 2, 1}, "?actor=" + member: {3}, "?actor=operator&action=organisation.": {1}, "?action=webhook.": {2},
		"?target=" + membertest.OrgA: {3, 1}, "?from=2026-03-04T05:06:08Z": nil, "?to=2026-03-04T05:06:07Z": nil,
		"?from=2026-03-04T05:06:07Z&to=2026-03-04T05:06:08Z": {3, 2, 1}, "?action=organisation.&before=3": {1},
	} {
		got := data[list](t, membertest.Exchange{Path: onePath + "/audit" + query, As: membertest.Admin}.Send(t, auditRoute,
			handler(s)))
		seqs := make([]int64, 0, len(got.Rows))
		for _, row := range got.Rows {
			seqs = append(seqs, row.Seq)
		}
		if !slices.Equal(seqs, want) {
			t.Errorf("%s: rows %v, want %v", query, seqs, want)
		}
		if query != "" {
			continue
		}
		change := []audit.Change{{Field: "accent", Old: accent, New: "#000000"}}
		if first, last := got.Rows[2], got.Rows[0]; first.From != "ctl" || last.From != "192.0.2.0/24" ||
			!slices.Equal(last.Changes, change) {
			t.Errorf("listed %+v", got)
		}
	}
	for _, query := range []string{"?from=yesterday", "?to=2026-03-04"} {
		if got := (membertest.Exchange{Path: onePath + "/audit" + query, As: membertest.Admin}).Send(t, auditRoute,
			handler(s)); got.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", query, got.Code)
		}
	}
}

func TestOrganisationsRequirePermission(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	newHandler := func() http.Handler { return handler(s) }
	for _, e := range []struct {
		method, route, path, body string
		needed                    account.Permission
	}{
		{"GET", oneRoute, onePath, "", account.View},
		{"PATCH", oneRoute, onePath, `{"accent":"blue"}`, account.Operate},
		{"POST", emailsRoute, onePath + "/emails", `{"email":"x@alder.example"}`, account.Operate},
		{
			"PUT", emailsRoute, onePath + "/emails", `{"email":"x@alder.example","verification_id":"x","code":"123456"}`,
			account.Operate,
		},
		{"GET", liveRoute, onePath + "/live-access", "", account.View},
		{"POST", liveRoute, onePath + "/live-access", `{"purpose":"x","terms_accepted":true}`, account.Own},
		{"GET", overviewRoute, onePath + "/test/overview", "", account.View},
		{"GET", auditRoute, onePath + "/audit", "", account.Manage},
		{"GET", auditRoute + "/export", onePath + "/audit/export", "", account.Manage},
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
