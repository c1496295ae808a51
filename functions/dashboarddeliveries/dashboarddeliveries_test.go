package dashboarddeliveries_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/dashboarddeliveries"
	"recordbridge/infra/test/managed"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/org"
)

const (
	listRoute = "/dashboard/organisations/{orgId}/{mode}/deliveries"
	oneRoute  = listRoute + "/{deliveryId}"
	listPath  = "/dashboard/organisations/" + membertest.OrgA + "/test/deliveries"
)

func handler(s *managed.Stack) http.Handler {
	return dashboarddeliveries.New(dashboarddeliveries.Deps{
		API: keyedtest.NewAPI(), Auth: membertest.Auth(), Log: s.Operator.Log, Deliveries: s.Operator.Deliveries,
		Patients: store.ExternalIDs{DB: store.NewClient(s.AWS), Table: s.Outputs["ConnectionTable"]},
	})
}

// sent stores the delivery of a simulated export event, with one failed attempt.
func sent(t *testing.T, s *managed.Stack, tenant org.Tenant) webhook.Delivery {
	t.Helper()
	sub, _, err := s.Operator.Webhooks.Create(t.Context(), webhook.Draft{Tenant: tenant, URL: "https://hooks.example/"})
	if err != nil {
		t.Fatal(err)
	}
	event, err := s.Operator.Deliveries.Simulate(t.Context(), tenant, sub.ID, webhook.ExportFailed)
	if err != nil {
		t.Fatal(err)
	}
	work := store.Work{DB: store.NewClient(s.AWS), Table: s.Outputs["WorkTable"]}
	now := keyedtest.Moment()
	d, err := store.Deliveries(work).ClaimDelivery(t.Context(), tenant, webhook.DeliveryID(event, sub.ID), now, now)
	if err != nil {
		t.Fatal(err)
	}
	d.Status = webhook.Exhausted
	err = store.Deliveries(work).RecordAttempt(t.Context(), d, webhook.Attempt{
		Number: 1, Trigger: webhook.ByClock, At: now, Status: 500, Failure: webhook.FailedStatus,
		RequestHeader: map[string]string{"Webhook-Signature": "v1,hush"}, ResponseHeader: map[string]string{"X-Echo": "hush"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func data[T any](t *testing.T, w *httptest.ResponseRecorder) T {
	t.Helper()
	var answer struct{ Data T }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return answer.Data
}

type found struct {
	Deliveries []struct {
		ID string `json:"delivery_id"`
	}
	Next string
}

func TestListDeliveriesAppliesFilters(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	d := sent(t, s, managed.Tenant(membertest.OrgA, org.Test))
	other := sent(t, s, managed.Tenant(membertest.OrgB, org.Test))
	var example struct {
		TaskID       string `json:"task_id"`
		ConnectionID string `json:"org_connection_id"`
	}
	made, err := json.Marshal(webhook.Example(webhook.ExportFailed))
	if err != nil || json.Unmarshal(made, &example) != nil {
		t.Fatal(err)
	}
	for query, count := range map[string]int{
		"": 1, "?webhook_id=" + d.SubscriptionID: 1, "?webhook_id=" + other.SubscriptionID: 0,
		"?type=patient.ehi_export_failed": 1, "?type=webhook.test": 0,
		"?status=exhausted": 1, "?status=held": 0, "?event_id=" + d.EventID: 1, "?event_id=" + other.EventID: 0,
		"?subject=" + example.TaskID:                        1,
		"?subject=" + strings.ToUpper(example.ConnectionID): 1, "?subject=" + d.ID: 0, "?from=2026-03-04T00:00:00Z": 1,
		"?to=2026-03-04T00:00:00Z": 0,
	} {
		got := data[found](t, membertest.Exchange{Path: listPath + query, As: membertest.Viewer}.Send(t,
			listRoute, handler(s)))
		if len(got.Deliveries) != count || count == 1 && got.Deliveries[0].ID != d.ID {
			t.Errorf("%s finds %+v, want %d", query, got, count)
		}
	}
	for _, query := range []string{"?type=x", "?status=x", "?from=x", "?to=x", "?cursor=x"} {
		if got := (membertest.Exchange{Path: listPath + query, As: membertest.Viewer}).Send(t, listRoute,
			handler(s)); got.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", query, got.Code)
		}
	}
}

func TestDeliveriesShowExternalIDOfOwnConnection(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	type named struct {
		ConnectionID string `json:"org_connection_id"`
		ExternalID   string `json:"external_id"`
	}
	var want named
	example, err := json.Marshal(webhook.Example(webhook.ExportFailed))
	if err != nil || json.Unmarshal(example, &want) != nil {
		t.Fatal(err)
	}
	want.ExternalID = "patient-7"
	for orgID, external := range map[string]string{
		membertest.OrgA: want.ExternalID, membertest.OrgB: "another patient",
	} {
		s.Connect(t, managed.Tenant(orgID, org.Test), func(c *connection.Connection) {
			c.ID, c.ExternalID = want.ConnectionID, external
		})
	}
	d := sent(t, s, managed.Tenant(membertest.OrgA, org.Test))
	if got := data[struct{ Deliveries []named }](t, membertest.Exchange{Path: listPath, As: membertest.Viewer}.Send(t,
		listRoute, handler(s))).Deliveries; len(got) != 1 || got[0] != want {
		t.Errorf("listed %+v, want %+v", got, want)
	}
	if got := data[named](t, membertest.Exchange{Path: listPath + "/" + d.ID, As: membertest.Viewer}.Send(t, oneRoute,
		handler(s))); got != want {
		t.Errorf("shown %+v, want %+v", got, want)
	}
}

// stopped is a delivery log whose searches reach their limit without a match.
type stopped struct{ operator.DeliveryLog }

func (stopped) Search(context.Context, org.Tenant, deliverylog.Query) (deliverylog.Page, error) {
	return deliverylog.Page{Next: "older", SearchedTo: keyedtest.Moment()}, nil
}

func TestListDeliveriesReportsHowFarItSearchedWhenLimitEndsPage(t *testing.T) {
	t.Parallel()
	endpoint := dashboarddeliveries.New(dashboarddeliveries.Deps{
		API: keyedtest.NewAPI(), Auth: membertest.Auth(), Log: operator.NewLog(stopped{}), Patients: store.ExternalIDs{},
	})
	got := data[struct {
		Next     string
		Searched time.Time `json:"searched_to"`
	}](t, membertest.Exchange{Path: listPath, As: membertest.Viewer}.Send(t, listRoute, endpoint))
	if got.Next != "older" || !got.Searched.Equal(keyedtest.Moment().Truncate(time.Second)) {
		t.Errorf("got %+v", got)
	}
}

func TestDeliveryContentRequiresInspectPermission(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	d := sent(t, s, managed.Tenant(membertest.OrgA, org.Test))
	for who, isShown := range map[string]bool{
		membertest.Owner: true, membertest.Developer: true,
		membertest.Viewer: false,
	} {
		got := membertest.Exchange{Path: listPath + "/" + d.ID, As: who}.Send(t, oneRoute, handler(s)).Body.String()
		if !strings.Contains(got, `"status":500`) {
			t.Errorf("%s does not see the attempt: %s", who, got)
		}
		for _, part := range []string{"hush", `\"task_id\"`} {
			if strings.Contains(got, part) != isShown {
				t.Errorf("%s sees %s: %v", who, part, !isShown)
			}
		}
	}
}

func TestReplaySchedulesDeliveryAndIsAudited(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	d := sent(t, s, managed.Tenant(membertest.OrgA, org.Test))
	ask := membertest.Exchange{Method: "POST", Path: listPath + "/" + d.ID + "/replay", As: membertest.Developer}
	if got := data[struct{ Status string }](t, ask.Send(t, oneRoute+"/replay", handler(s))); got.Status != "scheduled" {
		t.Errorf("it is %s", got.Status)
	}
	work := store.Deliveries{DB: store.NewClient(s.AWS), Table: s.Outputs["WorkTable"]}
	now := keyedtest.Moment()
	if _, err := work.ClaimDelivery(t.Context(), d.Tenant, d.ID, now, now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if again := ask.Send(t, oneRoute+"/replay", handler(s)); again.Code != http.StatusConflict {
		t.Errorf("replay while an attempt is running: %d %s", again.Code, again.Body)
	}
	rows := s.Audited(t, membertest.OrgA)
	if want := account.Actor(membertest.AccountOf(membertest.Developer)) + " delivery.replayed " +
		d.ID; rows[len(rows)-1] != want {
		t.Errorf("audited %q, want %q last", rows, want)
	}
}

func TestDeliveriesAreHiddenFromOtherTenants(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	for name, tenant := range map[string]org.Tenant{
		"another organisation": managed.Tenant(membertest.OrgB, org.Test),
		"the other mode":       managed.Tenant(membertest.OrgA, org.Live),
	} {
		d := sent(t, s, tenant)
		for below, method := range map[string]string{"": "GET", "/replay": "POST"} {
			got := membertest.Exchange{Method: method, Path: listPath + "/" + d.ID + below, As: membertest.Owner}.Send(t,
				oneRoute+below, handler(s))
			if got.Code != http.StatusNotFound || !strings.Contains(got.Body.String(), "Delivery not found.") {
				t.Errorf("%s %s: %d %s", name, below, got.Code, got.Body)
			}
		}
	}
}

func TestDeliveriesRequirePermission(t *testing.T) {
	t.Parallel()
	s := managed.New(t)
	d := sent(t, s, managed.Tenant(membertest.OrgA, org.Test))
	newHandler := func() http.Handler { return handler(s) }
	for _, e := range []struct {
		method, route, path string
		needed              account.Permission
	}{
		{"GET", listRoute, listPath, account.View},
		{"GET", oneRoute, listPath + "/" + d.ID, account.View},
		{"POST", oneRoute + "/replay", listPath + "/" + d.ID + "/replay", account.Develop},
	} {
		t.Run(e.method+e.route, func(t *testing.T) {
			t.Parallel()
			membertest.CheckMember(t, e.route, membertest.Exchange{Method: e.method, Path: e.path, As: membertest.Owner},
				e.needed, newHandler)
		})
	}
}
