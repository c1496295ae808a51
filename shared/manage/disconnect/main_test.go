package disconnect_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/manage/disconnect"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const connID = "c0000000-0000-4000-8000-000000000001"

var (
	tenant = org.Tenant{Mode: org.Test, OrgID: "0a000000-0000-4000-8000-00000000000a"}
	// start is the time at which the connection is made; asked is the time at which it is disconnected.
	start      = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	asked      = start.Add(time.Hour)
	errTrouble = errors.New("trouble on our side")
)

// world holds a connection in tables from template.yaml that no other test uses.
type world struct {
	tables   tables.Tables
	store    *stage
	vault    tokens.Vault
	enqueued []string
	d        disconnect.Disconnector
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{tables: tables.New(t), vault: tokens.Vault{Sealer: plainSealer{}}}
	w.store = &stage{Disconnections: store.Disconnections{
		Connections: store.Connections{DB: w.tables.DB, Table: w.tables.Name("ConnectionTable")},
		Tasks:       store.Tasks{DB: w.tables.DB, Table: w.tables.Name("WorkTable")},
		Sets:        store.Tokens{DB: w.tables.DB, Table: w.tables.Name("TokensTable")},
	}}
	w.d = disconnect.Disconnector{
		Store: w.store, Vault: w.vault, Sealer: plainSealer{}, Enqueuer: w,
		Now: func() time.Time { return asked },
	}
	return w
}

func (w *world) EnqueueEvent(_ context.Context, _ org.Tenant, id string) error {
	w.enqueued = append(w.enqueued, id)
	return errTrouble // simulates a lost message
}

// connect stores an authorized connection with tokens, as the callback does.
func (w *world) connect(t *testing.T) {
	t.Helper()
	w.keep(t, authorized())
	w.hold(t, 1)
}

func (w *world) keep(t *testing.T, c connection.Connection) {
	t.Helper()
	w.put(t, "ConnectionTable", connectionKey(), map[string]types.AttributeValue{"rev": number(0)})
	expect.NoError(t, w.refresh().SaveConnection(t.Context(), c))
}

func (w *world) hold(t *testing.T, version int64) {
	t.Helper()
	row, err := w.vault.Seal(t.Context(), tenant, connID, version, setOf(version))
	expect.NoError(t, err)
	w.put(t, "TokensTable", tokensKey(), map[string]types.AttributeValue{
		"sealed": &types.AttributeValueMemberB{Value: row.Sealed}, "version": number(version),
	})
}

func (w *world) put(t *testing.T, table string, key, row map[string]types.AttributeValue) {
	t.Helper()
	maps.Copy(row, key)
	_, err := w.tables.DB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: new(w.tables.Name(table)), Item: row})
	expect.NoError(t, err)
}

func (w *world) refresh() store.Refresh {
	return store.NewRefresh(w.store.Connections, w.store.Sets, store.Events(w.store.Tasks))
}

func (w *world) register() store.Register {
	return store.NewRegister(store.Work(w.store.Tasks), w.store.Connections)
}

func authorized() connection.Connection {
	return connection.Connection{
		ID: connID, Tenant: tenant, Status: connection.Authorized, BrandID: "brand", PortalID: "portal",
		EndpointID:   "endpoint",
		PlatformType: "sandbox", Scope: "patient/*.read", ConsentExpiresAt: start.Add(1000 * time.Hour), Generation: 1,
		CreatedAt: start,
		Patient:   secret.Mark{Version: 1, Sum: []byte("keyed hash")},
		Refresh:   connection.RefreshState{RefreshAt: start.Add(100 * time.Hour), Failures: 2, Warned: true},
	}
}

func setOf(version int64) tokens.Set {
	return tokens.Set{
		AccessToken: secret.New(fmt.Sprint("access ", version)), RefreshToken: secret.New(refreshToken(version)),
		TokenEndpoint: "https://ehr.example/token", RevocationEndpoint: "https://ehr.example/revoke", ClientID: "client",
		ExpiresAt: start.Add(time.Minute),
	}
}

func refreshToken(version int64) string { return fmt.Sprint("refresh ", version) }

func (w *world) open(t *testing.T, number int, previous string) export.Task {
	t.Helper()
	task := taskOf(number)
	expect.NoError(t, w.register().OpenTask(t.Context(), task, previous))
	return task
}

// claim creates the connection's next task, which a worker claims.
func (w *world) claim(t *testing.T, number int, previous string) export.Task {
	t.Helper()
	task, err := w.store.ClaimTask(t.Context(), tenant, w.open(t, number, previous).ID, start, asked.Add(time.Hour))
	expect.NoError(t, err)
	return task
}

// export creates the connection's next task and completes it. The task's file expires after eight days.
func (w *world) export(t *testing.T, number int, previous string) export.Task {
	t.Helper()
	task := succeeded(w.claim(t, number, previous))
	expect.NoError(t, w.store.FinishTask(t.Context(), task, doneEvent(task)))
	return task
}

func taskOf(number int) export.Task {
	return export.Task{
		ID: fmt.Sprintf("7a0000000000400080000000%08d", number), Tenant: tenant, ConnectionID: connID, Status: export.Pending,
		CreatedAt: start,
	}
}

func succeeded(task export.Task) export.Task {
	task.Status, task.Files = export.Success, []export.File{{Name: task.ID + ".jsonl", Key: "test/" + task.ID, Bytes: 1}}
	task.FinishedAt, task.SentAt, task.FilesUntil = start, start, start.Add(8*24*time.Hour)
	return task
}

func doneEvent(task export.Task) webhook.Event {
	return webhook.Event{
		ID:     webhook.EventID(tenant, webhook.ExportSucceeded, task.ID, 0),
		Tenant: tenant, Type: webhook.ExportSucceeded, Body: []byte("{}"), CreatedAt: start,
	}
}

// reconnect authorizes the connection again with the next version of its tokens, as the callback does.
func (w *world) reconnect(t *testing.T) {
	t.Helper()
	c, err := w.store.Disconnections.Connection(t.Context(), tenant, connID)
	expect.NoError(t, err)
	c.Status, c.Refresh = connection.Authorized, connection.RefreshState{}
	c.Generation++
	expect.NoError(t, w.refresh().SaveConnection(t.Context(), c))
	w.hold(t, w.version(t)+1)
}

func connectionKey() map[string]types.AttributeValue {
	return keyOf(tenant.Key()+"#CONN#"+connID, "META")
}

func tokensKey() map[string]types.AttributeValue {
	return keyOf(tenant.Key()+"#CONN#"+connID, "TOKENS")
}

func keyOf(pk, sk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": text(pk), "sk": text(sk)}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// version returns the version in the token row, which may be a tombstone.
func (w *world) version(t *testing.T) int64 {
	t.Helper()
	out, err := w.tables.DB.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: new(w.tables.Name("TokensTable")), Key: tokensKey(), ConsistentRead: new(true),
	})
	expect.NoError(t, err)
	stored, ok := out.Item["version"].(*types.AttributeValueMemberN)
	if !ok {
		t.Fatal("the tokens' row has no version")
	}
	var version int64
	_, err = fmt.Sscan(stored.Value, &version)
	expect.NoError(t, err)
	return version
}

func (w *world) upstream(t *testing.T) []byte {
	t.Helper()
	sealed, err := w.refresh().Upstream(t.Context(), tenant, connID)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	expect.NoError(t, err)
	return sealed
}

// plainSealer stores secrets unencrypted and checks their bindings.
type plainSealer struct{}

func (plainSealer) Seal(_ context.Context, of org.Tenant, boundTo string, plain []byte) ([]byte, error) {
	return append([]byte(of.Key()+" "+boundTo+"\n"), plain...), nil
}

func (plainSealer) Open(_ context.Context, of org.Tenant, boundTo string, sealed []byte) ([]byte, error) {
	plain, ok := bytes.CutPrefix(sealed, []byte(of.Key()+" "+boundTo+"\n"))
	if !ok {
		return nil, errors.New("sealed for another place")
	}
	return plain, nil
}

func sealedAs(text string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"sealed":  &types.AttributeValueMemberB{Value: []byte(text)},
		"version": number(1),
	}
}
