package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
)

func (s stores) damage(t *testing.T, table, pk string, values map[string]types.AttributeValue) {
	t.Helper()
	for name, value := range values {
		_, err := s.db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: aws.String(s.names[table]), Key: map[string]types.AttributeValue{
				"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: "META"},
			},
			UpdateExpression: aws.String("SET #name = :value"), ExpressionAttributeNames: map[string]string{"#name": name},
			ExpressionAttributeValues: map[string]types.AttributeValue{":value": value},
		})
		expect.NoError(t, err)
	}
}

func TestInspectReturnsDamagedRow(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.open(t, tenant)
	c, damaged, err := s.conns.InspectConnection(t.Context(), tenant, connID)
	want := connectionOf(tenant)
	want.Rev = 1
	if diff := cmp.Diff(want, c); err != nil || diff != "" || len(damaged) > 0 {
		t.Fatalf("a whole connection (-want +got):\n%s(%v, %v)", diff, damaged, err)
	}
	task, dueAt, damaged, err := s.tasks.InspectTask(t.Context(), tenant, taskID)
	if diff := cmp.Diff(pendingTask(tenant), task); err != nil || diff != "" || len(damaged) > 0 ||
		!dueAt.Equal(now.Add(30*time.Second)) {
		t.Fatalf("a whole task (-want +got):\n%s(%v, %v, due at %v)", diff, damaged, err, dueAt)
	}
	broken := &types.AttributeValueMemberS{Value: `{"since":5374`}
	s.damage(t, "ConnectionTable", tenant.Key()+"#CONN#"+connID, map[string]types.AttributeValue{
		"status": &types.AttributeValueMemberN{Value: "5374"}, "refresh_at": broken,
	})
	s.damage(t, "WorkTable", tenant.Key()+"#TASK#"+taskID,
		map[string]types.AttributeValue{"options": broken, "outcome": broken, "due_at": broken})
	c, damaged, err = s.conns.InspectConnection(t.Context(), tenant, connID)
	spots := []fault.Spot{
		{Operation: "decode", Row: "CONN", Attribute: "status"},
		{Operation: "decode", Row: "CONN", Attribute: "refresh_at"},
	}
	if err != nil || c.EndpointID != "endpoint" || !slices.Equal(damaged, spots) {
		t.Errorf("the connection: %+v, damaged %+v (%v)", c, damaged, err)
	}
	task, _, damaged, err = s.tasks.InspectTask(t.Context(), tenant, taskID)
	spots = []fault.Spot{
		{Operation: "decode", Row: "TASK", Attribute: "due_at"},
		{Operation: "decode", Row: "TASK", Attribute: "outcome"},
		{Operation: "decode", Row: "TASK", Attribute: "options"},
	}
	if err != nil || task.ConnectionID != connID || task.Status != export.Pending || !slices.Equal(damaged, spots) {
		t.Errorf("the task: %+v, damaged %+v (%v)", task, damaged, err)
	}
}

func TestRowsAreListedNewestFirstAfterCursor(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	previous := s.open(t, tenant).ID
	for i := range 2 {
		task := pendingTask(tenant)
		task.ID, task.CreatedAt = taskNumber(i+2), now.Add(time.Duration(i+1)*time.Second)
		expect.NoError(t, s.register.OpenTask(t.Context(), task, previous))
		previous = task.ID
	}
	var places []string
	for after, isMore := "", true; isMore; {
		found, more, err := s.tasks.TasksBefore(t.Context(), tenant, after, 2)
		expect.NoError(t, err)
		places = append(places, found...)
		after, isMore = places[len(places)-1], more
	}
	want := []string{
		"2026-03-04T05:06:09.123456Z#" + taskNumber(3), "2026-03-04T05:06:08.123456Z#" + taskNumber(2),
		"2026-03-04T05:06:07.123456Z#" + taskID,
	}
	if !slices.Equal(places, want) {
		t.Errorf("listed %q, want %q", places, want)
	}
}
