package dashboardexports_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"recordbridge/functions/dashboardexports"
	"recordbridge/infra/test/managed"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/org"
)

const (
	listRoute = "/dashboard/organisations/{orgId}/{mode}/exports"
	oneRoute  = listRoute + "/{taskId}"
	listPath  = "/dashboard/organisations/" + membertest.OrgA + "/test/exports"
)

func handler(s *managed.Stack) http.Handler {
	return dashboardexports.New(
		dashboardexports.Deps{API: keyedtest.NewAPI(), Auth: membertest.Auth(), Exports: s.Operator.Exports},
	)
}

func failed(t *testing.T, s *managed.Stack, tenant org.Tenant, reason export.Reason) (task, connectionID string) {
	t.Helper()
	c := s.Connect(t, tenant, func(*connection.Connection) {})
	return s.FailedExport(t, c, reason), c.ID
}

func data[T any](t *testing.T, w *httptest.ResponseRecorder) T {
	t.Helper()
	var answer struct{ Data T }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return answer.Data
}

func TestFailedExportIncludesSuggestedAction(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	for reason, helps := range map[export.Reason]string{
		export.TokenRefreshFailure: "ask the patient to reconnect", export.ScopePatientMissing: "allow demographics",
		export.ResourceInvalidContent: "ontact the operator",
		export.ResourcePatientFailure: "ontact the operator", export.SuppressedPleaseContact: "once the portal has recovered",
		export.TEFCANoDocumentsFound: "In test mode, request a fixture", "anything_else": "Request a new export.",
	} {
		task, _ := failed(t, s, managed.Tenant(membertest.OrgA, org.Test), reason)
		got := data[map[string]any](t, membertest.Exchange{Path: listPath + "/" + task, As: membertest.Viewer}.Send(t,
			oneRoute, handler(s)))
		if said, _ := got["suggested_action"].(string); got["status"] != "failed" ||
			got["failure_reason"] != string(reason) || !strings.Contains(said, helps) {
			t.Errorf("%s is %v, want to be told %q", reason, got, helps)
		}
		for _, absent := range []string{"stats", "scope", "files_until", "complete", "missing"} {
			if got[absent] != nil {
				t.Errorf("%s, which has failed, has %s: %v", reason, absent, got[absent])
			}
		}
	}
}

func TestListExportsAppliesFilters(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	task, connectionID := failed(t, s, managed.Tenant(membertest.OrgA, org.Test), export.TokenRefreshFailure)
	_, other := failed(t, s, managed.Tenant(membertest.OrgB, org.Test), export.TokenRefreshFailure)
	for query, count := range map[string]int{
		"": 1, "?connection_id=" + connectionID: 1, "?status=failed": 1, "?status=success": 0,
		"?status=failed&connection_id=" + strings.ToUpper(connectionID): 1,
	} {
		got := data[struct {
			Exports []struct {
				ID string `json:"task_id"`
			}
		}](t, membertest.Exchange{Path: listPath + query, As: membertest.Viewer}.Send(t, listRoute, handler(s)))
		if len(got.Exports) != count || count == 1 && got.Exports[0].ID != task {
			t.Errorf("%s finds %v, want %d", query, got, count)
		}
	}
	for query, status := range map[string]int{
		"?status=x": 400, "?cursor=x": 400, "?connection_id=" + other: 404,
		"?connection_id=x": 404,
	} {
		if got := (membertest.Exchange{Path: listPath + query, As: membertest.Viewer}).Send(t, listRoute,
			handler(s)); got.Code != status {
			t.Errorf("%s: %d, want %d", query, got.Code, status)
		}
	}
}

func TestExportsAreHiddenFromOtherTenants(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	for name, tenant := range map[string]org.Tenant{
		"another organisation": managed.Tenant(membertest.OrgB, org.Test),
		"the other mode":       managed.Tenant(membertest.OrgA, org.Live),
	} {
		task, _ := failed(t, s, tenant, export.TokenRefreshFailure)
		if got := (membertest.Exchange{Path: listPath + "/" + task, As: membertest.Owner}).Send(t, oneRoute,
			handler(s)); got.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", name, got.Code, got.Body)
		}
	}
}

func TestExportsRequireMembership(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	task, _ := failed(t, s, managed.Tenant(membertest.OrgA, org.Test), export.TokenRefreshFailure)
	newHandler := func() http.Handler { return handler(s) }
	for route, path := range map[string]string{listRoute: listPath, oneRoute: listPath + "/" + task} {
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			membertest.CheckMember(t, route, membertest.Exchange{Path: path, As: membertest.Owner}, account.View, newHandler)
		})
	}
}
