package operator_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/webhook"
	"recordbridge/shared/webhook/deliverylog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

var (
	owner = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}
	noon  = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
)

// shelf holds an operator and an organisation's rows, without deliveries.
type shelf struct {
	connections operator.Connections
	exports     operator.Exports
	made        tables.Tables
	flow        store.Conclusions
	work        store.Register
	links       int
	control     store.Control
	external    secret.Mark // keyed hash of the next connection's external ID
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	made := tables.New(t)
	control := store.Control{DB: made.DB, Table: made.Name("ControlTable")}
	links := store.Connections{DB: made.DB, Table: made.Name("ConnectionTable")}
	work := store.Work{DB: made.DB, Table: made.Name("WorkTable")}
	expect.NoError(t, store.Organisations(control).CreateOrganisation(t.Context(),
		org.Organisation{ID: owner.OrgID, Name: "Alder Clinic App", Status: org.Active, CreatedAt: noon}))
	for _, id := range []string{"here", "there", "nowhere"} {
		expect.NoError(t, store.Portals(control).SaveEndpoint(t.Context(),
			catalog.Endpoint{ID: id, Name: "Hospital " + id, Mode: "test", Status: catalog.EndpointActive}))
	}
	clock := func() time.Time { return noon }
	log := deliverylog.Log{
		Rows: store.DeliveryLog{DB: made.DB, Table: made.Name("WorkTable")}, Subscriptions: store.Hooks(control), Now: clock,
	}
	return &shelf{
		connections: operator.NewConnections(store.NewAccess(control), links, store.Tasks(work), secret.Keyring{}, clock),
		exports:     operator.NewExports(store.NewAccess(control), links, store.Tasks(work), log, clock), made: made,
		control: control,
		flow: store.NewConclusions(store.Flow{DB: made.DB, Table: made.Name("FlowTable")}, links,
			store.Tokens{DB: made.DB, Table: made.Name("TokensTable")}, store.Events(work)),
		work: store.NewRegister(work, links),
	}
}

// connect stores a connection to an endpoint, created one minute after the previous connection.
func (s *shelf) connect(t *testing.T, endpoint string) connection.Connection {
	t.Helper()
	s.links++
	number := fmt.Sprintf("0000-4000-8000-%012d", s.links)
	c := connection.Connection{
		Patient: secret.Mark{Version: 1, Sum: []byte("a-patient")},
		ID:      "c0000000-" + number, Tenant: owner, Status: connection.Authorized, EndpointID: endpoint,
		PlatformType: "smart", Generation: 1, External: s.external,
		CreatedAt: noon.Add(time.Duration(s.links) * time.Minute),
		Refresh:   connection.RefreshState{RefreshAt: noon.Add(24 * time.Hour)},
	}
	attempt := flow.Attempt{
		ID: "a0000000-" + number, Tenant: owner, Status: flow.Open, CreatedAt: noon,
		ExpiresAt:   noon.Add(time.Hour),
		Institution: flow.Institution{EndpointID: endpoint},
	}
	expect.NoError(t, s.flow.BeginAttempt(t.Context(), attempt,
		binding.State{Hash: number, Tenant: owner, AttemptID: attempt.ID, ExpiresAt: noon.Add(time.Hour)}))
	expect.NoError(t, s.flow.ConcludeAttempt(t.Context(), flow.Conclusion{
		Attempt: attempt, Connection: c, Tokens: tokens.Row{
			Tenant: owner, ConnectionID: c.ID,
			Sealed: []byte("sealed"), Version: 1,
		},
	}))
	return c
}

// export creates the connection's next export and makes it fail, so that another can be created.
func (s *shelf) export(t *testing.T, c connection.Connection, previous string) string {
	t.Helper()
	s.links++
	task := export.Task{
		ID: fmt.Sprintf("7a%030d", s.links), Tenant: owner, ConnectionID: c.ID, Status: export.Pending,
		CreatedAt: noon.Add(time.Duration(s.links) * time.Minute),
	}
	expect.NoError(t, s.work.OpenTask(t.Context(), task, previous))
	claimed, err := s.work.ClaimTask(t.Context(), owner, task.ID, task.CreatedAt, task.CreatedAt.Add(time.Minute))
	expect.NoError(t, err)
	failed, event, err := claimed.Fail(export.ScopePatientMissing, task.CreatedAt.Add(time.Second))
	expect.NoError(t, err)
	expect.NoError(t, s.work.FinishTask(t.Context(), failed, event))
	return task.ID
}

// damage replaces an attribute of a row with an unreadable value.
func (s *shelf) damage(t *testing.T, table, pk, attribute string) {
	t.Helper()
	_, err := s.made.DB.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(s.made.Name(table)), UpdateExpression: aws.String("SET #a = :broken"),
		ExpressionAttributeNames: map[string]string{"#a": attribute},
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: pk},
			"sk": &types.AttributeValueMemberS{Value: "META"},
		},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":broken": &types.AttributeValueMemberS{Value: `{"since":`},
		},
	})
	expect.NoError(t, err)
}

func TestConnectionsListSupportsFiltersAndPagination(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	var here, there []string
	for i := range 5 {
		if i%2 == 0 {
			here = append([]string{s.connect(t, "here").ID}, here...)
		} else {
			there = append([]string{s.connect(t, "there").ID}, there...)
		}
	}
	for endpoint, want := range map[string][]string{"here": here, "there": there, "nowhere": {}} {
		got, q := []string{}, operator.ConnectionQuery{
			Paging: operator.Paging{Limit: 1}, EndpointID: endpoint,
			Status: connection.Authorized,
		}
		for range 10 {
			page, err := s.connections.List(t.Context(), owner, q)
			expect.NoError(t, err)
			for _, c := range page.Connections {
				got = append(got, c.ID)
			}
			if q.After = page.Next; q.After == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("at %s: %q, want %q", endpoint, got, want)
		}
	}
	full, err := s.connections.List(t.Context(), owner, operator.ConnectionQuery{Paging: operator.Paging{Limit: 5}})
	if err != nil || len(full.Connections) != 5 || full.Next != "" {
		t.Errorf("a page of all that there is: %d, next %q (%v)", len(full.Connections), full.Next, err)
	}
	page, err := s.connections.List(t.Context(), owner, operator.ConnectionQuery{Status: connection.Revoked})
	if err != nil || len(page.Connections) != 0 || page.Next != "" {
		t.Errorf("revoked ones: %+v (%v)", page, err)
	}
	for field, q := range map[string]operator.ConnectionQuery{
		"limit": {Paging: operator.Paging{Limit: 101}}, "after": {Paging: operator.Paging{After: "yesterday"}},
		"status": {Status: "active"},
	} {
		_, err := s.connections.List(t.Context(), owner, q)
		if !errors.Is(err, fault.Invalid) || fault.Of(err).Field != field {
			t.Errorf("a wrong %s: %v", field, err)
		}
	}
	other := org.Tenant{Mode: org.Live, OrgID: owner.OrgID}
	if _, err := s.connections.Show(t.Context(), other, here[0]); !errors.Is(err, fault.NotFound) {
		t.Errorf("in the other mode: %v", err)
	}
}

// TestConnectionsListFindsConnectionByExternalID checks every version of the hash key, and that a connection is found
// only in its own organisation and mode.
func TestConnectionsListFindsConnectionByExternalID(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	keys := func(current int) secret.Keyring {
		ring, err := secret.ParseKeyring(secret.New(
			fmt.Sprintf(`{"current":"%d","1":"%s","2":"%s"}`, current, strings.Repeat("a", 43), strings.Repeat("b", 43))))
		expect.NoError(t, err)
		return ring
	}
	var want []string
	for n, made := range []int{1, 2, 1, 2, 2, 1} {
		s.external = keys(made).Sign(connection.ExternalText(owner,
			[]string{"chart 7", "chart 7", "chart 7", "chart 8", "chart 7", "chart 7"}[n]))
		if c := s.connect(t, "here"); n != 3 {
			want = append([]string{c.ID}, want...)
		}
	}
	s.external = secret.Mark{}
	s.connect(t, "here")
	links := store.Connections{DB: s.made.DB, Table: s.made.Name("ConnectionTable")}
	connections := operator.NewConnections(store.NewAccess(s.control), links, s.work.Tasks, keys(2),
		func() time.Time { return noon })
	var got []string
	q := operator.ConnectionQuery{Paging: operator.Paging{Limit: 2}, ExternalID: "chart 7"}
	for range 5 {
		page, err := connections.List(t.Context(), owner, q)
		expect.NoError(t, err)
		for _, c := range page.Connections {
			got = append(got, c.ID)
		}
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	for what, q := range map[string]operator.ConnectionQuery{
		"an unknown one":      {ExternalID: "chart 9"},
		"a part of one":       {ExternalID: "chart"},
		"one that is revoked": {ExternalID: "chart 7", Status: connection.Revoked},
		"one elsewhere":       {ExternalID: "chart 7", EndpointID: "there"},
	} {
		if page, err := connections.List(t.Context(), owner, q); err != nil || len(page.Connections) != 0 {
			t.Errorf("%s: %+v (%v)", what, page, err)
		}
	}
}

// TestConnectionsShowToleratesDamagedExport checks that a damaged row hides only its damaged parts and that earlier
// exports remain visible.
func TestConnectionsShowToleratesDamagedExport(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	c, other := s.connect(t, "here"), s.connect(t, "here")
	s.export(t, other, "")
	var all []string
	for range 7 {
		previous := ""
		if len(all) > 0 {
			previous = all[0]
		}
		all = append([]string{s.export(t, c, previous)}, all...)
	}
	s.damage(t, "WorkTable", owner.Key()+"#TASK#"+all[2], "options")
	shown, err := s.connections.Show(t.Context(), owner, c.ID)
	expect.NoError(t, err)
	got := make([]string, 0, len(shown.Exports))
	for i, e := range shown.Exports {
		got = append(got, e.ID)
		if isDamaged := len(e.Damaged) == 1 && e.Damaged[0].Attribute == "options"; isDamaged != (i == 2) ||
			e.Status != export.Failed {
			t.Errorf("export %d: %+v", i, e)
		}
	}
	if !slices.Equal(got, all[:5]) || shown.Organisation != "Alder Clinic App" || shown.Endpoint != "Hospital here" ||
		!strings.Contains(shown.Do, "ctl export show -org "+owner.OrgID+" -mode test -id "+all[0]) {
		t.Errorf("shown %q of %q, to do %q", got, all, shown.Do)
	}
	page, err := s.exports.List(
		t.Context(), owner,
		operator.ExportQuery{Paging: operator.Paging{Limit: 4}, ConnectionID: c.ID, Status: export.Failed},
	)
	expect.NoError(t, err)
	rest, err := s.exports.List(
		t.Context(), owner, operator.ExportQuery{Paging: operator.Paging{After: page.Next}, ConnectionID: c.ID},
	)
	if err != nil || len(page.Exports) != 4 || len(rest.Exports) != 3 || rest.Next != "" || rest.Exports[2].ID != all[6] {
		t.Errorf("of the connection: %+v, then %+v (%v)", page, rest, err)
	}
	foreign := operator.ExportQuery{Paging: operator.Paging{After: page.Next}, ConnectionID: other.ID}
	if _, err = s.exports.List(t.Context(), owner, foreign); !errors.Is(err, fault.Invalid) {
		t.Errorf("a position of another connection's list: %v", err)
	}
	everybodys, err := s.exports.List(t.Context(), owner, operator.ExportQuery{})
	if err != nil || len(everybodys.Exports) != 8 ||
		everybodys.Exports[0].EventID != webhook.EventID(owner, webhook.ExportFailed, all[0], 0) {
		t.Errorf("all: %d, %+v (%v)", len(everybodys.Exports), everybodys.Exports[0], err)
	}
}
