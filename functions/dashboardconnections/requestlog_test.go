package dashboardconnections_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/dashboardconnections"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/membertest"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/manage/account"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	requestsRoute = "/dashboard/organisations/{orgId}/{mode}/requests"
	signInsRoute  = "/dashboard/organisations/{orgId}/{mode}/sign-ins"
	requestsPath  = "/dashboard/organisations/" + membertest.OrgA + "/test/requests"
	signInsPath   = "/dashboard/organisations/" + membertest.OrgA + "/test/sign-ins"
	credentialID  = "b0000000-0000-4000-8000-00000000000b"
	connectionID  = "c0000000-0000-4000-8000-00000000000c"
	failedRequest = "d0000000-0000-4000-8000-00000000000d"
)

func ring(t *testing.T, letter string) secret.Keyring {
	t.Helper()
	made, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat(letter, 43) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// rows is a request log in which organisation A has one row of each kind in test mode. Its rows with an external ID are
// listed under mark.
type rows struct{ mark secret.Mark }

func (r rows) Requests(_ context.Context, of org.Tenant, in requestlog.List, between requestlog.Span,
	_ int,
) ([]requestlog.Request, bool, error) {
	if !r.has(of, in, between) {
		return nil, false, nil
	}
	return []requestlog.Request{{
		Tenant: of, ID: failedRequest, At: keyedtest.Moment(), Method: "GET", Route: "/bridge/connect", Status: 404,
		Error: "svc_not_found", CredentialID: credentialID, Latency: 7 * time.Millisecond, ConnectionID: connectionID,
		TaskID: "task", External: r.mark,
	}}, false, nil
}

func (r rows) SignIns(_ context.Context, of org.Tenant, in requestlog.List, between requestlog.Span,
	_ int,
) ([]requestlog.SignIn, bool, error) {
	if !r.has(of, in, between) {
		return nil, false, nil
	}
	return []requestlog.SignIn{{
		Tenant: of, AttemptID: credentialID, At: keyedtest.Moment(), Kind: requestlog.Reconnect,
		Outcome: requestlog.Failed, Cause: "no_answer", RequestID: failedRequest, BrandID: "brand", PortalID: "portal",
		EndpointID: "endpoint", Duration: time.Second, ConnectionID: connectionID, External: r.mark,
	}}, false, nil
}

func (r rows) has(of org.Tenant, in requestlog.List, between requestlog.Span) bool {
	at := keyedtest.Moment().UTC().Format(requestlog.Stamp)
	return of == org.Tenant{Mode: org.Test, OrgID: membertest.OrgA} && between.From <= at && at < between.Before &&
		(in.RequestID == "" || in.RequestID == failedRequest) &&
		(in.ConnectionID == "" || in.ConnectionID == connectionID) &&
		(in.External.Sum == nil || string(in.External.Sum) == string(r.mark.Sum))
}

// endpoints contains one endpoint.
type endpoints struct{}

func (endpoints) Endpoint(_ context.Context, id string) (catalog.Endpoint, error) {
	if id == "endpoint" {
		return catalog.Endpoint{ID: id, Name: "Alder Hospital"}, nil
	}
	return catalog.Endpoint{}, fault.Missing("no row")
}

// logs returns a handler whose rows have the external ID patient-7, hashed with the second keyring.
func logs(t *testing.T) http.Handler {
	t.Helper()
	rings := []secret.Keyring{ring(t, "a"), ring(t, "b")}
	tenant := org.Tenant{Mode: org.Test, OrgID: membertest.OrgA}
	return dashboardconnections.New(dashboardconnections.Deps{
		API: keyedtest.NewAPI(), Auth: membertest.Auth(), Disconnector: nobody{}, Hashing: rings,
		Log: requestlog.Log{
			Rows: rows{mark: rings[1].Sign(connection.ExternalText(tenant, "patient-7"))}, Now: keyedtest.Moment,
		},
		Endpoints: endpoints{},
	})
}

func TestLogsReturnRows(t *testing.T) {
	t.Parallel()
	for path, e := range map[string]struct{ route, want string }{
		requestsPath: {requestsRoute, `{"success":true,"data":{"requests":[{"request_id":"` + failedRequest +
			`","at":"2026-03-04T05:06:07Z","method":"GET","route":"/bridge/connect","status":404,"error":"svc_not_found",` +
			`"public_id":"public_test_` + credentialID + `","latency_ms":7,"org_connection_id":"` + connectionID +
			`","task_id":"task"}]}}`},
		signInsPath: {signInsRoute, `{"success":true,"data":{"sign_ins":[{"attempt_id":"` + credentialID +
			`","at":"2026-03-04T05:06:07Z","kind":"reconnect","outcome":"failed","cause":"no_answer","request_id":"` +
			failedRequest + `","brand_id":"brand","portal_id":"portal","endpoint_id":"endpoint",` +
			`"endpoint_name":"Alder Hospital","duration_ms":1000,` +
			`"org_connection_id":"` + connectionID + `"}]}}`},
	} {
		got := membertest.Exchange{Path: path, As: membertest.Viewer}.Send(t, e.route, logs(t))
		if strings.TrimSpace(got.Body.String()) != e.want {
			t.Errorf("%s: %s, want %s", path, got.Body, e.want)
		}
	}
}

func TestLogsApplyFilters(t *testing.T) {
	t.Parallel()
	both := map[string]int{
		"request_id=" + failedRequest: 1, "request_id=" + credentialID: 0,
		"connection_id=" + strings.ToUpper(connectionID): 1, "connection_id=" + credentialID: 0,
		"external_id=patient-7": 1, "external_id=patient-8": 0,
		"from=2026-03-04T00:00:00Z": 1, "to=2026-03-04T00:00:00Z": 0,
	}
	ask := func(route, path string, want int) {
		got := membertest.Exchange{Path: path, As: membertest.Viewer}.Send(t, route, logs(t))
		if found := strings.Count(got.Body.String(), `"at":`); got.Code != http.StatusOK || found != want {
			t.Errorf("%s: %d, %d rows, want %d", path, got.Code, found, want)
		}
	}
	for query, want := range both {
		ask(requestsRoute, requestsPath+"?"+query, want)
		ask(signInsRoute, signInsPath+"?"+query, want)
	}
	for query, want := range map[string]int{
		"status=404": 1, "status=4xx": 1, "status=error": 1, "status=2xx": 0, "route=/bridge/connect": 1, "route=/x": 0,
		"public_id=public_test_" + credentialID: 1, "public_id=" + connectionID: 0,
	} {
		ask(requestsRoute, requestsPath+"?"+query, want)
	}
	for query, want := range map[string]int{
		"outcome=failed": 1, "outcome=connected": 0, "cause=no_answer": 1, "cause=x": 0,
	} {
		ask(signInsRoute, signInsPath+"?"+query, want)
	}
}

func TestLogsRejectInvalidFilters(t *testing.T) {
	t.Parallel()
	for path, route := range map[string]string{
		requestsPath + "?status=x": requestsRoute, requestsPath + "?public_id=x": requestsRoute,
		requestsPath + "?from=x": requestsRoute, requestsPath + "?to=x": requestsRoute,
		requestsPath + "?cursor=x": requestsRoute, signInsPath + "?outcome=x": signInsRoute,
		signInsPath + "?from=x": signInsRoute, signInsPath + "?cursor=x": signInsRoute,
	} {
		got := membertest.Exchange{Path: path, As: membertest.Viewer}.Send(t, route, logs(t))
		if got.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
}

func TestLogsRequireMembership(t *testing.T) {
	t.Parallel()
	newHandler := func() http.Handler { return logs(t) }
	for route, path := range map[string]string{requestsRoute: requestsPath, signInsRoute: signInsPath} {
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			membertest.CheckMember(t, route, membertest.Exchange{Method: "GET", Path: path, As: membertest.Owner},
				account.View, newHandler)
		})
	}
}
