package operator_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
)

// queried counts queries.
type queried struct {
	*dynamodb.Client

	count int
}

func (q *queried) Query(ctx context.Context, in *dynamodb.QueryInput,
	o ...func(*dynamodb.Options),
) (*dynamodb.QueryOutput, error) {
	q.count++
	return q.Client.Query(ctx, in, o...)
}

// link stores a connection created a number of seconds after noon, as the callback does.
func (s *shelf) link(t *testing.T, second int, c connection.Connection) connection.Connection {
	t.Helper()
	c.ID, c.Tenant, c.PlatformType = fmt.Sprintf("c0000000-0000-4000-8000-%012d", second), owner, "smart"
	c.CreatedAt, c.Patient = noon.Add(time.Duration(second)*time.Second), secret.Mark{Version: 1, Sum: []byte("patient")}
	attempt := flow.Attempt{
		ID: fmt.Sprintf("a0000000-0000-4000-8000-%012d", s.links), Tenant: owner, Status: flow.Open, CreatedAt: noon,
		ExpiresAt: noon.Add(time.Hour),
	}
	s.links++
	expect.NoError(t, s.flow.BeginAttempt(t.Context(), attempt,
		binding.State{Hash: attempt.ID, Tenant: owner, AttemptID: attempt.ID, ExpiresAt: noon.Add(time.Hour)}))
	expect.NoError(t, s.flow.ConcludeAttempt(t.Context(), flow.Conclusion{Attempt: attempt, Connection: c}))
	c.Rev++
	return c
}

// listing returns connections that are read through a query counter.
func (s *shelf) listing() (operator.Connections, *queried) {
	q := &queried{Client: s.made.DB}
	rows := store.Connections{DB: q, Table: s.made.Name("ConnectionTable")}
	work := store.Work{DB: s.made.DB, Table: s.made.Name("WorkTable")}
	return operator.NewConnections(store.NewAccess(s.control), rows, store.Tasks(work), secret.Keyring{},
		func() time.Time { return noon }), q
}

// unindex makes a connection's rows look like those of release 0.1.0.
func (s *shelf) unindex(t *testing.T, id string) {
	t.Helper()
	name := s.made.Name("ConnectionTable")
	keyOf := func(pk string) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: "META"},
		}
	}
	_, err := s.made.DB.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: &name, Key: keyOf(owner.Key() + "#FIND#CONNECTION#" + id),
	})
	expect.NoError(t, err)
	_, err = s.made.DB.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: &name, Key: keyOf(owner.Key() + "#CONN#" + id), UpdateExpression: new("REMOVE filter_list"),
	})
	expect.NoError(t, err)
}

// rareFilters returns filters that match only the oldest connection of TestListFindsRareConnectionOnFirstPage.
func rareFilters() map[string]operator.ConnectionQuery {
	return map[string]operator.ConnectionQuery{
		"status":   {Status: connection.Rejected},
		"cause":    {Cause: connection.CauseDeclined},
		"brand":    {BrandID: "rare brand"},
		"portal":   {PortalID: "rare portal"},
		"endpoint": {EndpointID: "there"},
		"end date": {To: noon.Add(time.Second)},
		"several":  {Status: connection.Rejected, BrandID: "rare brand", From: noon, To: noon.Add(time.Second)},
	}
}

// TestListFindsRareConnectionOnFirstPage searches more connections than a page reads. make soak stores 50,000.
func TestListFindsRareConnectionOnFirstPage(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	count := 600
	if os.Getenv("RECORDBRIDGE_SOAK") != "" {
		count = 50_000
	}
	common := connection.Connection{Status: connection.Authorized, BrandID: "b", PortalID: "p", EndpointID: "here"}
	rare := s.link(t, 0, connection.Connection{
		Status: connection.Rejected, BrandID: "rare brand", PortalID: "rare portal", EndpointID: "there",
	})
	for second := 1; second < count; second++ {
		s.link(t, second, common)
	}
	listing, queries := s.listing()
	for name, q := range rareFilters() {
		queries.count = 0
		page, err := listing.List(t.Context(), owner, q)
		expect.NoError(t, err)
		if len(page.Connections) != 1 || page.Connections[0].ID != rare.ID || page.Next != "" || queries.count > 2 {
			t.Errorf("%s: %d connections, next %q in %d queries", name, len(page.Connections), page.Next, queries.count)
		}
	}
	last := operator.ConnectionQuery{From: noon.Add(time.Duration(count-3) * time.Second)}
	page, err := listing.List(t.Context(), owner, last)
	if err != nil || len(page.Connections) != 3 || page.Next != "" {
		t.Errorf("since a time: %d connections, next %q (%v)", len(page.Connections), page.Next, err)
	}
}

// TestIndexMakesConnectionsOfRelease010Findable also checks that filters find these connections before they are
// indexed, on a later page.
func TestIndexMakesConnectionsOfRelease010Findable(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	rare := s.link(t, 0, connection.Connection{
		Status: connection.Rejected, BrandID: "rare brand", PortalID: "rare portal", EndpointID: "there",
	})
	for second := 1; second < 520; second++ {
		s.link(t, second, connection.Connection{Status: connection.Authorized, EndpointID: "here"})
	}
	s.unindex(t, rare.ID)
	rare = s.link(t, 0, rare) // a reconnection indexes only this connection
	listing, queries := s.listing()
	q := operator.ConnectionQuery{BrandID: "rare brand"}
	page, err := listing.List(t.Context(), owner, q)
	expect.NoError(t, err)
	if len(page.Connections) != 0 || page.Next == "" || !page.SearchedTo.Equal(noon.Add(20*time.Second)) {
		t.Errorf("before: %d connections, next %q, searched back to %v", len(page.Connections), page.Next, page.SearchedTo)
	}
	q.After = page.Next
	page, err = listing.List(t.Context(), owner, q)
	if err != nil || len(page.Connections) != 1 || page.Next != "" || !page.SearchedTo.IsZero() {
		t.Errorf("the second page: %+v (%v)", page, err)
	}
	chains := store.Audit{DB: s.made.DB, Table: s.made.Name("AuditTable")}
	indexes := operator.NewIndexes(store.NewAccess(s.control),
		store.Connections{DB: s.made.DB, Table: s.made.Name("ConnectionTable")},
		operator.NewJournal(audit.Log{Rows: chains}, func() time.Time { return noon }, ids.Random, "an operator"))
	for range 2 {
		count, err := indexes.Index(t.Context(), owner)
		if err != nil || count != 520 {
			t.Fatalf("%d connections were indexed (%v)", count, err)
		}
	}
	for name, q := range rareFilters() {
		queries.count = 0
		page, err := listing.List(t.Context(), owner, q)
		if err != nil || len(page.Connections) != 1 || page.Connections[0].ID != rare.ID || queries.count > 2 {
			t.Errorf("%s: %d connections in %d queries (%v)", name, len(page.Connections), queries.count, err)
		}
	}
}

func TestListRejectsUnknownCause(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	_, err := s.connections.List(t.Context(), owner, operator.ConnectionQuery{Cause: "unhappy"})
	if !errors.Is(err, fault.Invalid) || fault.Of(err).Field != "cause" {
		t.Errorf("List = %v, want fault.Invalid for cause", err)
	}
}
