package e2e_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
)

// keepTokens copies token sets to a separate table that represents a restored DynamoDB backup.
func keepTokens(s *stack, into string, connections ...string) {
	s.t.Helper()
	attribute, kind := "pk", types.ScalarAttributeTypeS
	sort := "sk"
	_, err := s.rows.CreateTable(s.t.Context(), &dynamodb.CreateTableInput{
		TableName: &into, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: &attribute, AttributeType: kind},
			{AttributeName: &sort, AttributeType: kind},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: &attribute, KeyType: types.KeyTypeHash},
			{AttributeName: &sort, KeyType: types.KeyTypeRange},
		},
	})
	expect.NoError(s.t, err)
	from := "test-TokensTable"
	for _, id := range connections {
		row, err := s.rows.GetItem(s.t.Context(), &dynamodb.GetItemInput{TableName: &from, Key: tokensOf(s, id)})
		expect.NoError(s.t, err)
		_, err = s.rows.PutItem(s.t.Context(), &dynamodb.PutItemInput{TableName: &into, Item: row.Item})
		expect.NoError(s.t, err)
	}
}

func tokensOf(s *stack, connectionID string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: s.tenant() + "#CONN#" + connectionID},
		"sk": &types.AttributeValueMemberS{Value: "TOKENS"},
	}
}

func loseTokens(s *stack, connections ...string) {
	s.t.Helper()
	from := "test-TokensTable"
	for _, id := range connections {
		_, err := s.rows.DeleteItem(s.t.Context(), &dynamodb.DeleteItemInput{TableName: &from, Key: tokensOf(s, id)})
		expect.NoError(s.t, err)
	}
}

// TestRestoreSkipsTokensUsedSinceBackup loses tokens and restores them from a backup. Tokens that have not been used
// since the backup must work again. Tokens used since the backup must never be sent to the portal, and their
// connections must end.
func TestRestoreSkipsTokensUsedSinceBackup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		ledger, tenant := s.ehr.keepLedger(), s.owner()
		connect := func(who string) string { return s.patient.connect(who, "approve").Get("org_connection_id") }
		idle, used, exported, gone := connect("alder-maple"), connect("willow-ash"), connect("hazel-fern"),
			connect("cedar-brook")
		s.clock.advance(1)
		keepTokens(s, "restored", idle, used, exported, gone)
		<-time.After(time.Minute)
		moment := time.Now()
		<-time.After(2 * time.Hour) // lets the access tokens expire
		expect.NoError(t, store.Connections{DB: s.rows, Table: "test-ConnectionTable"}.RefreshDue(t.Context(), tenant,
			used, time.Now()))
		s.org.startExport(exported)
		s.org.request("DELETE", "/bridge/org_connection/"+gone, nil)
		later := connect("rowan-birch")
		s.clock.advance(5)
		before := ledger.refreshes()
		loseTokens(s, idle, used, exported, later)
		expect.NoError(t, store.Connections{DB: s.rows, Table: "test-ConnectionTable"}.RefreshDue(t.Context(), tenant,
			idle, time.Now()))
		s.clock.advance(2) // lets a worker discover that the tokens are missing

		outputs := s.template.Outputs
		rows, err := wiring.Restore(t.Context(), s.cloud.Config("operator"), outputs, "restored")
		expect.NoError(t, err)
		for _, isMeant := range []bool{false, true, true} {
			done, err := s.operator.Restores.Tokens(t.Context(), rows, tenant, moment, isMeant)
			expect.NoError(t, err)
			slices.Sort(done.Ended)
			want := slices.Sorted(slices.Values([]string{used, exported, later}))
			if isRepeated := done.Kept == 5; isRepeated {
				continue
			}
			if done.Kept != 1 || !slices.Equal(done.Restored, []string{idle}) || !slices.Equal(done.Ended, want) {
				t.Errorf("applied %t: %+v, want %s restored and %v ended", isMeant, done, idle, want)
			}
		}
		if after := ledger.refreshes(); after != before {
			t.Errorf("restoring used %d refresh tokens", after-before)
		}
		s.clock.advance(2)
		if after := ledger.refreshes(); after != before+1 {
			t.Errorf("%d refreshes of the one connection with tokens, want 1", after-before)
		}
		if got := len(s.webhooks.events("patient.authorization_revoked")); got != 3 {
			t.Errorf("%d organisations heard of lost tokens, want 3", got)
		}
		s.org.startExport(idle)
		s.clock.advance(5)
		if got := len(s.webhooks.events("patient.ehi_export_success")); got != 2 {
			t.Errorf("%d exports succeeded, want that before and one with the restored tokens", got)
		}
		ledger.checkUses(t, 1)
		for _, id := range []string{used, later, gone} { // not exported, because a request returns the recent export
			if got := s.org.request("POST", "/bridge/fhir/ehi-export",
				map[string]string{"org_connection_id": id}); got.Error != "svc_connection_not_exportable" {
				t.Errorf("an export of %s answered %d %s", id, got.status, got.Error)
			}
		}
	})
}
