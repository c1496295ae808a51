package store

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

func ticketItem(k key, ticket binding.Ticket) item {
	row := newItem(k)
	row.setText("mode", string(ticket.Tenant.Mode))
	row.setText("org_id", ticket.Tenant.OrgID)
	row.setText("attempt_id", ticket.AttemptID)
	row.setTime("expires_at", ticket.ExpiresAt)
	row.setInt("ttl", ticket.ExpiresAt.Add(ttlGrace).Unix())
	return row
}

// ticket reads a ticket by its key. It returns fault.NotFound if the ticket is missing or has expired at now.
func (s Flow) ticket(ctx context.Context, k key, hash string, now time.Time) (binding.Ticket, error) {
	row, err := get(ctx, s.DB, s.Table, k)
	if err != nil {
		return binding.Ticket{}, err
	}
	ticket := binding.Ticket{
		Hash: hash, Tenant: org.Tenant{Mode: org.Mode(row.text("mode")), OrgID: row.text("org_id")},
		AttemptID: row.text("attempt_id"), ExpiresAt: row.time("expires_at"),
	}
	if !now.Before(ticket.ExpiresAt) {
		return binding.Ticket{}, fault.Missing("Attempt not found.")
	}
	return ticket, nil
}

func (r item) setLook(look binding.Look) {
	r.setText("lang", look.Language)
	r.setText("org_name", look.Organisation)
	r.setText("logo_uri", look.Logo)
	r.setText("accent", look.Accent)
}

func (r item) look() binding.Look {
	return binding.Look{
		Language: r.text("lang"), Organisation: r.text("org_name"), Logo: r.text("logo_uri"), Accent: r.text("accent"),
	}
}

// usingUp returns the write that deletes a ticket. The transaction fails if the ticket is missing.
func usingUp(table string, k key) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName: &table, Key: k.attributes(),
		ConditionExpression: aws.String("attribute_exists(pk)"),
	}}
}

func stateItem(k key, state binding.State) item {
	row := newItem(k)
	row.setText("binding", state.BindingHash)
	row.setText("mode", string(state.Tenant.Mode))
	row.setText("org_id", state.Tenant.OrgID)
	row.setText("attempt_id", state.AttemptID)
	row.setTime("expires_at", state.ExpiresAt)
	row.setInt("ttl", state.ExpiresAt.Add(ttlGrace).Unix())
	return row
}

// takeState reads and removes a state with a single conditional delete, so that each state can be used only once.
func (s Flow) takeState(ctx context.Context, k key, hash, bindingHash string, now time.Time) (binding.State, error) {
	row, err := remove(ctx, s.DB, change{
		table: s.Table, key: k, when: "binding = :binding AND expires_at > :now",
		values: item{":binding": text(bindingHash), ":now": moment(now)},
	})
	if errors.Is(err, fault.Conflict) {
		var there item
		if unmet, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
			there = unmet.Item
		}
		return stateOf(there, hash), fault.Missing("Sign-in not found.").Because(err)
	}
	if err != nil {
		return binding.State{}, err
	}
	return stateOf(row, hash), nil
}

// stateOf returns the state in a row, or the zero State if there is no row.
func stateOf(row item, hash string) binding.State {
	if len(row) == 0 {
		return binding.State{}
	}
	return binding.State{
		Hash: hash, BindingHash: row.text("binding"),
		Tenant:    org.Tenant{Mode: org.Mode(row.text("mode")), OrgID: row.text("org_id")},
		AttemptID: row.text("attempt_id"), ExpiresAt: row.time("expires_at"),
	}
}
