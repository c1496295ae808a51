package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

func (s stores) requestLog() store.RequestLog {
	return store.RequestLog{DB: s.db, Table: s.names["RequestLogTable"]}
}

func (s stores) searchLog() requestlog.Log {
	return requestlog.Log{Rows: s.requestLog(), Now: func() time.Time { return now }}
}

// loggedRequest returns request number n, which began n seconds before now.
func loggedRequest(of org.Tenant, n int) requestlog.Request {
	return requestlog.Request{
		Tenant: of, ID: fmt.Sprintf("e0000000-0000-4000-8000-%012d", n), At: now.Add(-time.Duration(n) * time.Second),
		Method: "GET", Route: "/bridge/org", Status: 200, CredentialID: connID, Latency: 12 * time.Millisecond,
	}
}

func loggedSignIn(of org.Tenant, facility string) requestlog.SignIn {
	return requestlog.SignIn{
		Tenant: of, AttemptID: eventID, At: now, Kind: requestlog.TEFCA, Outcome: requestlog.Failed, Cause: "no_answer",
		RequestID: delivID, BrandID: "brand", PortalID: "portal", EndpointID: "endpoint", DirectoryID: facility,
		Duration: time.Minute, ConnectionID: connID, External: secret.Mark{Version: 2, Sum: []byte("hash")},
	}
}

func requestIDs(page requestlog.Page[requestlog.Request]) []string {
	found := make([]string, len(page.Rows))
	for i, r := range page.Rows {
		found[i] = r.ID
	}
	return found
}

func TestRequestLogReturnsStoredRows(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	request := loggedRequest(tenant, 1)
	request.Status, request.Error, request.ConnectionID, request.TaskID = 404, "svc_not_found", connID, taskID
	request.External = secret.Mark{Version: 3, Sum: []byte("hash")}
	expect.NoError(t, s.requestLog().PutRequest(t.Context(), request))
	requests, err := s.searchLog().Requests(t.Context(), tenant, requestlog.RequestQuery{})
	expect.NoError(t, err)
	if diff := cmp.Diff([]requestlog.Request{request}, requests.Rows); diff != "" {
		t.Error(diff)
	}
	for _, facility := range []string{"urn:oid:2.999.1", "urn:oid:2.999.2"} { // two facilities of one attempt
		expect.NoError(t, s.requestLog().PutSignIn(t.Context(), loggedSignIn(tenant, facility)))
	}
	signIns, err := s.searchLog().SignIns(t.Context(), tenant, requestlog.SignInQuery{})
	expect.NoError(t, err)
	want := []requestlog.SignIn{loggedSignIn(tenant, "urn:oid:2.999.2"), loggedSignIn(tenant, "urn:oid:2.999.1")}
	if diff := cmp.Diff(want, signIns.Rows); diff != "" {
		t.Error(diff)
	}
}

func TestRequestLogAppliesFilters(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	marks := []secret.Mark{{Version: 1, Sum: []byte("old")}, {Version: 2, Sum: []byte("new")}}
	failed, other, external, moved := loggedRequest(tenant, 1), loggedRequest(tenant, 2), loggedRequest(tenant, 3),
		loggedRequest(tenant, 4)
	failed.Status, failed.Error, failed.ConnectionID = 404, "svc_not_found", connID
	other.Route, other.CredentialID = "/bridge/connect", eventID
	external.Status, external.Error, external.External = 302, "access_denied", marks[0]
	moved.External, moved.ConnectionID = marks[1], connID
	for _, r := range []requestlog.Request{failed, other, external, moved} {
		expect.NoError(t, s.requestLog().PutRequest(t.Context(), r))
	}
	type query = requestlog.RequestQuery
	for name, e := range map[string]struct {
		query query
		want  []string
	}{
		"no filter":     {query{}, []string{failed.ID, other.ID, external.ID, moved.ID}},
		"status":        {query{Status: "404"}, []string{failed.ID}},
		"class":         {query{Status: "2xx"}, []string{other.ID, moved.ID}},
		"errors":        {query{Status: "error"}, []string{failed.ID, external.ID}},
		"route":         {query{Route: "/bridge/connect"}, []string{other.ID}},
		"credential":    {query{CredentialID: eventID}, []string{other.ID}},
		"request":       {query{Query: requestlog.Query{RequestID: external.ID}}, []string{external.ID}},
		"connection":    {query{Query: requestlog.Query{ConnectionID: connID}}, []string{failed.ID, moved.ID}},
		"external ID":   {query{Query: requestlog.Query{External: marks}}, []string{external.ID, moved.ID}},
		"several":       {query{Query: requestlog.Query{External: marks, ConnectionID: connID}}, []string{moved.ID}},
		"start":         {query{Query: requestlog.Query{From: other.At}}, []string{failed.ID, other.ID}},
		"end":           {query{Query: requestlog.Query{To: other.At}}, []string{external.ID, moved.ID}},
		"empty period":  {query{Query: requestlog.Query{From: now, To: now.Add(-time.Hour)}}, []string{}},
		"no such value": {query{Query: requestlog.Query{RequestID: "none"}}, []string{}},
	} {
		page, err := s.searchLog().Requests(t.Context(), tenant, e.query)
		if got := requestIDs(page); err != nil || page.Next != "" || !cmp.Equal(got, e.want) {
			t.Errorf("%s: %v, next %q, %v, want %v", name, got, page.Next, err, e.want)
		}
	}
	for _, wrong := range []query{{Status: "x"}, {Status: "9xx"}, {Query: requestlog.Query{After: "x"}}} {
		if _, err := s.searchLog().Requests(t.Context(), tenant, wrong); !errors.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}

func TestSignInLogAppliesFilters(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	failed, done := loggedSignIn(tenant, "a"), loggedSignIn(tenant, "b")
	done.Outcome, done.Cause, done.ConnectionID = requestlog.Connected, "", eventID
	for _, a := range []requestlog.SignIn{failed, done} {
		expect.NoError(t, s.requestLog().PutSignIn(t.Context(), a))
	}
	expect.NoError(t, s.requestLog().PutRequest(t.Context(), loggedRequest(tenant, 1))) // not a sign-in attempt
	type query = requestlog.SignInQuery
	for name, e := range map[string]struct {
		query query
		want  int
	}{
		"no filter":  {query{}, 2},
		"outcome":    {query{Outcome: requestlog.Connected}, 1},
		"cause":      {query{Cause: "no_answer"}, 1},
		"connection": {query{Query: requestlog.Query{ConnectionID: connID}}, 1},
		"request":    {query{Query: requestlog.Query{RequestID: delivID}}, 2},
		"external":   {query{Query: requestlog.Query{External: []secret.Mark{failed.External}}}, 2},
		"another ID": {query{Query: requestlog.Query{External: []secret.Mark{{Version: 1, Sum: []byte("x")}}}}, 0},
	} {
		page, err := s.searchLog().SignIns(t.Context(), tenant, e.query)
		if err != nil || len(page.Rows) != e.want {
			t.Errorf("%s: %d attempts, %v, want %d", name, len(page.Rows), err, e.want)
		}
	}
	if _, err := s.searchLog().SignIns(t.Context(), tenant, query{Outcome: "x"}); !errors.Is(err, fault.Invalid) {
		t.Error(err)
	}
}

func TestRequestLogPagesContainEachRowOnce(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	marks := []secret.Mark{{Version: 1, Sum: []byte("old")}, {Version: 2, Sum: []byte("new")}}
	want := make([]string, 0, 260)
	for n := range 260 {
		r := loggedRequest(tenant, n)
		r.External = marks[n%2]
		expect.NoError(t, s.requestLog().PutRequest(t.Context(), r))
		want = append(want, r.ID)
	}
	for name, q := range map[string]requestlog.Query{"all": {}, "of two hashes": {External: marks}} {
		var got []string
		for range 10 {
			page, err := s.searchLog().Requests(t.Context(), tenant, requestlog.RequestQuery{Query: q})
			expect.NoError(t, err)
			got = append(got, requestIDs(page)...)
			if q.After = page.Next; q.After == "" {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestRequestLogRowsExpire(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	old := loggedRequest(tenant, 1)
	old.At = now.Add(-requestlog.Kept - time.Second)
	expect.NoError(t, s.requestLog().PutRequest(t.Context(), old))
	page, err := s.searchLog().Requests(t.Context(), tenant, requestlog.RequestQuery{
		Query: requestlog.Query{RequestID: old.ID, From: old.At},
	})
	if err != nil || len(page.Rows) != 0 {
		t.Errorf("an expired row is shown: %v, %v", page.Rows, err)
	}
	out, err := s.db.Query(t.Context(), &dynamodb.QueryInput{
		TableName: awssdk.String(s.names["RequestLogTable"]), KeyConditionExpression: awssdk.String("pk = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": &types.AttributeValueMemberS{Value: tenant.Key() + "#REQUESTS"},
		},
	})
	expect.NoError(t, err)
	if got, want := plain(out.Items[0])["ttl"], fmt.Sprint("number ", now.Unix()-1); got != want {
		t.Errorf("ttl is %v, want %s", got, want)
	}
}

func TestRequestLogIsTenantIsolated(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	request, attempt := loggedRequest(tenant, 1), loggedSignIn(tenant, "")
	expect.NoError(t, s.requestLog().PutRequest(t.Context(), request))
	expect.NoError(t, s.requestLog().PutSignIn(t.Context(), attempt))
	for name, of := range foreignTenants() {
		for _, q := range []requestlog.Query{
			{},
			{RequestID: request.ID},
			{RequestID: attempt.RequestID},
			{ConnectionID: connID},
			{External: []secret.Mark{attempt.External}},
		} {
			requests, err := s.searchLog().Requests(t.Context(), of, requestlog.RequestQuery{Query: q})
			expect.NoError(t, err)
			signIns, err := s.searchLog().SignIns(t.Context(), of, requestlog.SignInQuery{Query: q})
			expect.NoError(t, err)
			if len(requests.Rows)+len(signIns.Rows) > 0 {
				t.Errorf("%s sees %v and %v", name, requests.Rows, signIns.Rows)
			}
		}
	}
}
