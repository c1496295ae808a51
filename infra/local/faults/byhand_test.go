package faults_test

import (
	"slices"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/local/faults"
)

// namedProbes returns functions that make calls as who, keyed by the name of each call's target.
func namedProbes(t *testing.T, cloud *aws.Cloud, who string) map[string]func() error {
	t.Helper()
	cfg := cloud.Config(who)
	cfg.RetryMaxAttempts = 1
	db, queues := dynamodb.NewFromConfig(cfg), sqs.NewFromConfig(cfg)
	key := map[string]ddbtypes.AttributeValue{"pk": &ddbtypes.AttributeValueMemberS{Value: "a"}}
	queue := awssdk.String("http://127.0.0.1:4566/000000000000/q")
	return map[string]func() error{
		"the row": func() error {
			_, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: awssdk.String("items"), Key: key})
			return err
		},
		"the transaction": func() error {
			_, err := db.TransactWriteItems(t.Context(),
				&dynamodb.TransactWriteItemsInput{TransactItems: []ddbtypes.TransactWriteItem{
					{Put: &ddbtypes.Put{TableName: awssdk.String("items"), Item: key}},
				}})
			return err
		},
		"the message": func() error {
			_, err := queues.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: queue, MessageBody: awssdk.String("m")})
			return err
		},
		"the queue": func() error {
			_, err := queues.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: queue})
			return err
		},
	}
}

func TestManualFaultMatchesNamedCalls(t *testing.T) {
	t.Parallel()
	byHand := faults.NewByHand()
	b := &bench{}
	var err error
	b.cloud, err = aws.New(aws.Options{Middleware: []wire.Middleware{byHand.Middleware(), b.count}})
	check(t, err)
	b.prepare(t)
	tests := map[string]struct {
		on   []faults.Fault
		hits []string
	}{
		"nothing is on": {nil, nil},
		"a table is throttled": {
			[]faults.Fault{{Name: "items", Kind: "throttled"}},
			[]string{"the row", "the transaction"},
		},
		"another table": {[]faults.Fault{{Name: "item", Kind: "throttled"}}, nil},
		"a queue refuses": {
			[]faults.Fault{{Name: "q", Operation: "SendMessage", Kind: "failed"}},
			[]string{"the message"},
		},
		"a service is broken":   {[]faults.Fault{{Service: "sqs", Kind: "broken"}}, []string{"the message", "the queue"}},
		"somebody else's calls": {[]faults.Fault{{Caller: "OtherFunction", Kind: "failed"}}, nil},
		"two faults, one is fit": {
			[]faults.Fault{{Name: "none", Kind: "failed"}, {Service: "sqs", Kind: "throttled"}},
			[]string{"the message", "the queue"},
		},
		"all calls of a function": {
			[]faults.Fault{{Caller: caller, Kind: "failed"}},
			[]string{"the message", "the queue", "the row", "the transaction"},
		},
	}
	for name, test := range tests {
		check(t, byHand.Set(test.on))
		for who, isFunction := range map[string]bool{caller: true, "operator": false} {
			for what, call := range namedProbes(t, b.cloud, who) {
				if failed, want := call() != nil, isFunction && slices.Contains(test.hits, what); failed != want {
					t.Errorf("%s: %s of %s failed: %v, want %v", name, what, who, failed, want)
				}
			}
		}
	}
	if err := byHand.Set([]faults.Fault{{Kind: "throtled"}}); err == nil {
		t.Error("a fault of an unknown kind was taken")
	}
}
