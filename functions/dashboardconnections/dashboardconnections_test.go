package dashboardconnections_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/dashboardconnections"
	"recordbridge/infra/test/managed"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/export"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	listRoute = "/dashboard/organisations/{orgId}/{mode}/connections"
	oneRoute  = listRoute + "/{connectionId}"
	listPath  = "/dashboard/organisations/" + membertest.OrgA + "/test/connections"
)

type nobody struct{}

func (nobody) Disconnect(context.Context, org.Tenant, string, string) (connection.Connection, error) {
	return connection.Connection{}, connection.Missing()
}

func handler(s *managed.Stack) http.Handler {
	return dashboardconnections.New(dashboardconnections.Deps{
		API: keyedtest.NewAPI(), Auth: membertest.Auth(), Connections: s.Operator.Connections, Erasures: s.Operator.Erasures,
		Disconnector: nobody{}, Log: requestlog.Log{Rows: rows{}, Now: keyedtest.Moment},
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
	ID, Status, Cause string
	Action            string `json:"suggested_action"`
	Renewal           struct {
		NextAt   string `json:"next_at"`
		Failures int
	}
	Timeline []struct{ At, What string }
}

// TestConnectionShowsCauseAndActionWhenUnhealthy also checks that a healthy connection has no cause or action.
func TestConnectionShowsCauseAndActionWhenUnhealthy(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	now := keyedtest.Moment()
	ended := func(as string) func(*connection.Connection) {
		return func(c *connection.Connection) {
			c.Status, c.Refresh = connection.Revoked, connection.RefreshState{Ended: as, EndedAt: now}
		}
	}
	kept := func(r connection.RefreshState) func(*connection.Connection) {
		r.RefreshAt = now.Add(time.Hour)
		return func(c *connection.Connection) { c.Refresh = r }
	}
	for cause, c := range map[string]struct {
		change func(*connection.Connection)
		helps  string
	}{
		"":                {kept(connection.RefreshState{}), ""},
		"declined":        {func(c *connection.Connection) { c.Status = connection.Rejected }, "allow access"},
		"disconnected":    {ended(connection.Disconnected), "Your organisation revoked this connection"},
		"access_ended":    {ended(connection.AccessEnded), "Ask the patient to reconnect."},
		"consent_ended":   {ended("invalid_grant"), "Ask the patient to reconnect."},
		"renewal_refused": {kept(connection.RefreshState{RefusedAt: now, Failures: 1}), "retry automatically"},
		"renewal_failing": {kept(connection.RefreshState{Failures: 2}), "no data is lost"},
		"not_renewable":   {kept(connection.RefreshState{Unrenewable: true}), "Export now"},
	} {
		made := s.Connect(t, managed.Tenant(membertest.OrgA, org.Test), c.change)
		got := data[shown](t, membertest.Exchange{Path: listPath + "/" + made.ID, As: membertest.Viewer}.Send(t,
			oneRoute, handler(s)))
		if got.Cause != cause || !strings.Contains(got.Action, c.helps) || (got.Action == "") != (cause == "") {
			t.Errorf("%q: %+v, want to be told %q", cause, got, c.helps)
		}
		if isKept := made.Status == connection.Authorized; (got.Renewal.NextAt != "") != isKept {
			t.Errorf("%q is renewed next at %q", cause, got.Renewal.NextAt)
		}
	}
}

func TestListAndDetailShowExternalID(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	made := s.Connect(t, managed.Tenant(membertest.OrgA, org.Test), func(c *connection.Connection) {
		c.ExternalID = "patient-7"
	})
	type named struct {
		ExternalID string `json:"external_id"`
	}
	if got := data[named](t, membertest.Exchange{Path: listPath + "/" + made.ID, As: membertest.Viewer}.Send(t, oneRoute,
		handler(s))); got.ExternalID != "patient-7" {
		t.Errorf("the detail shows external ID %q", got.ExternalID)
	}
	if got := data[struct{ Connections []named }](t, membertest.Exchange{Path: listPath, As: membertest.Viewer}.Send(t,
		listRoute, handler(s))).Connections; len(got) != 1 || got[0].ExternalID != "patient-7" {
		t.Errorf("the list shows %+v", got)
	}
}

func TestTimelineIsSortedNewestFirst(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	made := s.Connect(t, managed.Tenant(membertest.OrgA, org.Test), func(c *connection.Connection) {
		c.Refresh = connection.RefreshState{
			RefreshAt: keyedtest.Moment().Add(time.Hour),
			RenewedAt: keyedtest.Moment().Add(-time.Minute * 30),
		}
	})
	s.FailedExport(t, made, export.TokenRefreshFailure)
	got := data[shown](t, membertest.Exchange{Path: listPath + "/" + made.ID, As: membertest.Viewer}.Send(t,
		oneRoute, handler(s)))
	told := make([]string, len(got.Timeline))
	for i, fact := range got.Timeline {
		told[i] = fact.What
	}
	if want := []string{"export_failed", "export_begun", "tokens_renewed", "connected"}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}

// TestEraseRequiresRecentProof also checks that only owners can erase connections, and that a repeated request returns
// the erasure's status.
func TestEraseRequiresRecentProof(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	made := s.Connect(t, managed.Tenant(membertest.OrgA, org.Test), func(*connection.Connection) {})
	path := listPath + "/" + made.ID + "/erase"
	membertest.Exchange{
		Method: "POST", Path: path, As: membertest.Stale, Status: 403,
		Want: membertest.ProofRequired,
	}.Check(t, oneRoute+"/erase", handler(s))
	if rows := s.Audited(t, membertest.OrgA); len(rows) != 0 {
		t.Errorf("without one: %q", rows)
	}
	type state struct {
		ID    string `json:"erasure_id"`
		Stage string
	}
	begun := data[state](t, membertest.Exchange{Method: "POST", Path: path, As: membertest.Owner}.Send(t,
		oneRoute+"/erase", handler(s)))
	again := data[state](t, membertest.Exchange{Method: "POST", Path: path, As: membertest.Owner}.Send(t,
		oneRoute+"/erase", handler(s)))
	stands := data[state](t, membertest.Exchange{Path: listPath + "/" + made.ID + "/erasure", As: membertest.Owner}.Send(t,
		oneRoute+"/erasure", handler(s)))
	if begun.Stage != "finding" || again != begun || stands != begun {
		t.Errorf("begun %+v, asked again %+v, stands %+v", begun, again, stands)
	}
	if rows := s.Audited(t, membertest.OrgA); len(rows) == 0 ||
		!strings.HasPrefix(rows[0], account.Actor(membertest.AccountOf(membertest.Owner))+" connection.eras") {
		t.Errorf("audited %q", rows)
	}
}

func TestListConnectionsAppliesFilters(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	made := s.Connect(t, managed.Tenant(membertest.OrgA, org.Test), func(*connection.Connection) {})
	s.Connect(t, managed.Tenant(membertest.OrgB, org.Test), func(*connection.Connection) {})
	for query, count := range map[string]int{
		"": 1, "?status=authorized": 1, "?status=revoked": 0, "?cause=declined": 0, "?brand_id=none": 0, "?portal_id=none": 0,
		"?from=2026-03-04T00:00:00Z": 1, "?to=2026-03-04T00:00:00Z": 0,
	} {
		got := data[struct {
			Connections []struct {
				ID string `json:"org_connection_id"`
			}
		}](t, membertest.Exchange{Path: listPath + query, As: membertest.Viewer}.Send(t, listRoute, handler(s)))
		if len(got.Connections) != count || count == 1 && got.Connections[0].ID != made.ID {
			t.Errorf("%s finds %v, want %d", query, got, count)
		}
	}
	for query, status := range map[string]int{
		"?status=x": 400, "?cause=x": 400, "?from=x": 400, "?to=x": 400, "?cursor=x": 400, "?endpoint_id=nobodys": 404,
	} {
		if got := (membertest.Exchange{Path: listPath + query, As: membertest.Viewer}).Send(t, listRoute,
			handler(s)); got.Code != status {
			t.Errorf("%s: %d, want %d", query, got.Code, status)
		}
	}
}

// stale lists only connections that no longer exist.
type stale struct{ store.Connections }

func (stale) ConnectionsBefore(_ context.Context, _ org.Tenant, _ string, limit int) ([]string, bool, error) {
	places := make([]string, limit)
	for i := range places {
		places[i] = "2026-03-04T05:06:07.000000Z#" + membertest.OrgA
	}
	return places, true, nil
}

func TestListConnectionsReportsHowFarItSearchedWhenLimitEndsPage(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	db := store.NewClient(s.AWS)
	rows := stale{store.Connections{DB: db, Table: s.Outputs["ConnectionTable"]}}
	endpoint := dashboardconnections.New(dashboardconnections.Deps{
		API: keyedtest.NewAPI(), Auth: membertest.Auth(), Connections: operator.NewConnections(
			store.NewAccess(store.Control{DB: db, Table: s.Outputs["ControlTable"]}), rows,
			store.Tasks{DB: db, Table: s.Outputs["WorkTable"]}, secret.Keyring{}, keyedtest.Moment),
	})
	got := data[struct {
		Next     string
		Searched string `json:"searched_to"`
	}](t, membertest.Exchange{Path: listPath, As: membertest.Viewer}.Send(t, listRoute, endpoint))
	if got.Next == "" || got.Searched != "2026-03-04T05:06:07Z" {
		t.Errorf("got %+v", got)
	}
}

func TestConnectionsRequirePermission(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	one := listPath + "/" + s.Connect(t, managed.Tenant(membertest.OrgA, org.Test), func(*connection.Connection) {}).ID
	newHandler := func() http.Handler { return handler(s) }
	for _, e := range []struct {
		method, route, path string
		needed              account.Permission
	}{
		{"GET", listRoute, listPath, account.View},
		{"GET", oneRoute, one, account.View},
		{"POST", oneRoute + "/disconnect", listPath + "/x/disconnect", account.Develop},
		{"POST", oneRoute + "/erase", listPath + "/x/erase", account.Own},
		{"GET", oneRoute + "/erasure", listPath + "/x/erasure", account.Own},
	} {
		t.Run(e.method+e.route, func(t *testing.T) {
			t.Parallel()
			membertest.CheckMember(t, e.route, membertest.Exchange{Method: e.method, Path: e.path, As: membertest.Owner},
				e.needed, newHandler)
		})
	}
}

func TestConnectionsAreHiddenFromOtherTenants(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	for name, tenant := range map[string]org.Tenant{
		"another organisation": managed.Tenant(membertest.OrgB, org.Test),
		"the other mode":       managed.Tenant(membertest.OrgA, org.Live),
	} {
		made := s.Connect(t, tenant, func(*connection.Connection) {})
		for below, method := range map[string]string{"": "GET", "/erase": "POST", "/erasure": "GET"} {
			got := membertest.Exchange{Method: method, Path: listPath + "/" + made.ID + below, As: membertest.Owner}.Send(t,
				oneRoute+below, handler(s))
			if got.Code != http.StatusNotFound || !strings.Contains(got.Body.String(), "Connection not found.") {
				t.Errorf("%s %s: %d %s", name, below, got.Code, got.Body)
			}
		}
	}
}
