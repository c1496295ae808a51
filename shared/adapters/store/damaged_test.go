package store_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/words/fault"
)

// TestDamagedRowErrorOmitsContent checks that the error for a damaged row contains only the attribute's name, because
// the row may contain a secret or a patient's data.
func TestDamagedRowErrorOmitsContent(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	credential := "cd000000-0000-4000-8000-000000000001"
	for _, test := range []struct {
		table, pk, sk, attribute string
		read                     func() error
		want                     fault.Spot
	}{
		{"WorkTable", tenant.Key() + "#TASK#" + taskID, "META", "stats", func() error {
			_, err := s.tasks.Task(t.Context(), tenant, taskID)
			return err
		}, fault.Spot{Operation: "decode", Row: "TASK", Attribute: "stats"}},
		{"ControlTable", tenant.Key(), "CRED#" + credential, "keys", func() error {
			_, err := s.callers.Credential(t.Context(), tenant, credential)
			return err
		}, fault.Spot{Operation: "decode", Row: "CRED", Attribute: "keys"}},
		{"ControlTable", "CLIENT#" + credential, "*", "origins", func() error {
			_, err := s.clients.ClientAuth(t.Context(), tenant, credential)
			return err
		}, fault.Spot{Operation: "decode", Row: "CLIENT", Attribute: "origins"}},
	} {
		_, err := s.db.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String(s.names[test.table]), Item: map[string]types.AttributeValue{
				"pk": &types.AttributeValueMemberS{Value: test.pk}, "sk": &types.AttributeValueMemberS{Value: test.sk},
				test.attribute: &types.AttributeValueMemberS{Value: `{"total_resources":5374.5,"keys":5374,"x":"5374"}5374`},
			},
		})
		expect.NoError(t, err)
		err = test.read()
		if err == nil || strings.Contains(err.Error(), "5374") || fault.SpotOf(err) != test.want {
			t.Errorf("%s: got %v at %+v, want it at %+v", test.attribute, err, fault.SpotOf(err), test.want)
		}
	}
}

func TestStoreErrorsIncludeTableAndOperation(t *testing.T) {
	t.Parallel()
	made := tables.New(t)
	client := store.NewClient(made.Config)
	work, conns := store.Work{DB: client, Table: "none"}, store.Connections{DB: client, Table: "neither"}
	_, err := store.Tasks(work).Task(t.Context(), tenant, taskID)
	if got, want := fault.SpotOf(err),
		(fault.Spot{Table: "none", Operation: "GetItem", Class: "ResourceNotFoundException"}); got != want {
		t.Errorf("reading: %+v, want %+v", got, want)
	}
	refresh := store.NewRefresh(conns, store.Tokens{DB: client, Table: "none"}, store.Events(work))
	err = refresh.SaveConnection(t.Context(), connectionOf(tenant), eventOf(tenant, eventID))
	if got, want := fault.SpotOf(err),
		(fault.Spot{
			Table: "neither,none", Operation: "TransactWriteItems",
			Class: "ResourceNotFoundException",
		}); got != want {
		t.Errorf("writing: %+v, want %+v", got, want)
	}
	flows := store.Flow{DB: client, Table: made.Names()["FlowTable"]}
	expect.NoError(t, flows.BeginAttempt(t.Context(), attemptOf(tenant), stateOf(tenant)))
	// A failed transaction's error contains the reason and table of the write that failed.
	err = flows.BeginAttempt(t.Context(), attemptOf(tenant), stateOf(tenant))
	if got, want := fault.SpotOf(err),
		(fault.Spot{Table: flows.Table, Operation: "TransactWriteItems", Class: "ConditionalCheckFailed"}); got != want {
		t.Errorf("writing again: %+v, want %+v", got, want)
	}
}
