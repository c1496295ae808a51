package store

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/words/org"
)

// TEFCA stores TEFCA attempts in Work, where the sweeper finds them, and their browser bindings in Flow. Each located
// facility has a separate row, so that concurrent reads of facilities' records don't conflict.
type TEFCA struct {
	Flow Flow
	Work Work
}

// CreateAttempt implements attempt.CreateStore.
func (s TEFCA) CreateAttempt(ctx context.Context, a attempt.Attempt, ticket binding.Ticket) error {
	row, err := tefcaItem(a)
	if err != nil {
		return err
	}
	return transact(ctx, s.Flow.DB, putNew(s.Work.Table, row),
		putNew(s.Flow.Table, ticketItem(identityTicketKey(ticket.Hash), ticket)))
}

// Ticket implements attempt.StartStore.
func (s TEFCA) Ticket(ctx context.Context, hash string, now time.Time) (binding.Ticket, error) {
	return s.Flow.ticket(ctx, identityTicketKey(hash), hash, now)
}

// OpenAttempt implements attempt.StartStore.
func (s TEFCA) OpenAttempt(ctx context.Context, ticket binding.Ticket, a attempt.Attempt, state binding.State) error {
	row, err := tefcaItem(a)
	if err != nil {
		return err
	}
	return transact(ctx, s.Flow.DB, usingUp(s.Flow.Table, identityTicketKey(ticket.Hash)),
		putOver(s.Work.Table, row, a.Rev),
		putNew(s.Flow.Table, stateItem(identityStateKey(state.Hash), state)))
}

// TakeState implements binding.States.
func (s TEFCA) TakeState(ctx context.Context, hash, bindingHash string, now time.Time) (binding.State, error) {
	return s.Flow.takeState(ctx, identityStateKey(hash), hash, bindingHash, now)
}

// Attempt implements attempt.Attempts.
func (s TEFCA) Attempt(ctx context.Context, tenant org.Tenant, id string) (attempt.Attempt, error) {
	row, err := get(ctx, s.Work.DB, s.Work.Table, tefcaKey(tenant, id))
	if err != nil {
		return attempt.Attempt{}, err
	}
	a := attempt.Attempt{
		ID: id, Tenant: tenant, Status: attempt.Status(row.text("status")), TokenHash: row.text("token_hash"),
		Provider: row.text("provider"), Look: row.look(),
		ExternalID: row.text("external_id"), ExternalState: row.text("external_state"), RequestID: row.text("request_id"),
		CreatedAt: row.time("created_at"), ExpiresAt: row.time("expires_at"),
		NonceHash: row.text("nonce_hash"), Verifier: row.bytes("verifier"),
		Assertion: row.bytes("assertion"), IdentityEnds: row.time("identity_ends"),
		Ending: attempt.Ending{
			Error: row.text("error_code"), Description: row.text("error_description"), Cause: row.text("error_cause"),
			RequestID: row.text("error_request_id"),
		},
		Counted: row.flag("counted"), LeaseUntil: row.time("lease_until"), DueAt: row.time("due_at"), Rev: row.int("rev"),
	}
	return a, row.json("authority", &a.Authority)
}

// SaveAttempt implements attempt.Saver.
func (s TEFCA) SaveAttempt(ctx context.Context, a attempt.Attempt) error {
	row, err := tefcaItem(a)
	if err != nil {
		return err
	}
	return replace(ctx, s.Work.DB, s.Work.Table, row, a.Rev)
}

func tefcaItem(a attempt.Attempt) (item, error) {
	row := newItem(tefcaKey(a.Tenant, a.ID))
	row.setText("status", string(a.Status))
	row.setLook(a.Look)
	row.setText("token_hash", a.TokenHash)
	row.setText("provider", a.Provider)
	row.setText("external_id", a.ExternalID)
	row.setText("external_state", a.ExternalState)
	row.setText("request_id", a.RequestID)
	row.setTime("created_at", a.CreatedAt)
	row.setTime("expires_at", a.ExpiresAt)
	row.setInt("ttl", a.ExpiresAt.Add(ttlGrace).Unix())
	row.setText("nonce_hash", a.NonceHash)
	row.setBytes("verifier", a.Verifier)
	row.setBytes("assertion", a.Assertion)
	row.setTime("identity_ends", a.IdentityEnds)
	row.setText("error_code", a.Ending.Error)
	row.setText("error_description", a.Ending.Description)
	row.setText("error_cause", a.Ending.Cause)
	row.setText("error_request_id", a.Ending.RequestID)
	row.setFlag("counted", a.Counted)
	row.setTime("lease_until", a.LeaseUntil)
	row.setInt("rev", a.Rev+1)
	if !a.DueAt.IsZero() {
		row.setDue(a.ID, a.DueAt)
	}
	return row, row.setJSON("authority", a.Authority)
}

// Facilities implements attempt.Facilities.
func (s TEFCA) Facilities(ctx context.Context, tenant org.Tenant, attemptID string) ([]attempt.Facility, error) {
	var found []attempt.Facility
	var after map[string]types.AttributeValue
	for {
		page, err := s.Work.DB.Query(ctx, &dynamodb.QueryInput{
			TableName: &s.Work.Table, ConsistentRead: aws.Bool(true),
			KeyConditionExpression:    aws.String("pk = :attempt AND begins_with(sk, :facility)"),
			ExpressionAttributeValues: item{":attempt": text(tefcaKey(tenant, attemptID).pk), ":facility": text(facilityPrefix)},
			ExclusiveStartKey:         after,
		})
		if err != nil {
			return nil, fmt.Errorf("query facilities: %w", err)
		}
		for _, row := range page.Items {
			found = append(found, facilityOf(row))
		}
		if after = page.LastEvaluatedKey; len(after) == 0 {
			return found, nil
		}
	}
}

// SaveFacility implements attempt.WorkStore.
func (s TEFCA) SaveFacility(ctx context.Context, tenant org.Tenant, attemptID string, f attempt.Facility) error {
	row := facilityItem(tenant, attemptID, f)
	if f.Rev == 0 {
		return create(ctx, s.Work.DB, s.Work.Table, row)
	}
	return replace(ctx, s.Work.DB, s.Work.Table, row, f.Rev)
}

// Choose implements attempt.ChoiceStore.
func (s TEFCA) Choose(ctx context.Context, a attempt.Attempt, chosen []attempt.Facility) error {
	row, err := tefcaItem(a)
	if err != nil {
		return err
	}
	writes := []types.TransactWriteItem{putOver(s.Work.Table, row, a.Rev)}
	for _, f := range chosen {
		writes = append(writes, putOver(s.Work.Table, facilityItem(a.Tenant, a.ID, f), f.Rev))
	}
	return transact(ctx, s.Work.DB, writes...)
}

func facilityItem(tenant org.Tenant, attemptID string, f attempt.Facility) item {
	row := newItem(facilityKey(tenant, attemptID, f.ID))
	row.setText("directory_id", f.ID)
	row.setText("name", f.Name)
	row.setText("city", f.City)
	row.setText("state", f.State)
	row.setText("match", string(f.Match))
	row.setText("access", string(f.Access))
	row.setBytes("local", f.Local)
	row.setText("outcome", string(f.Outcome))
	row.setText("reason", string(f.Reason))
	row.setText("connection_id", f.Connected.ConnectionID)
	row.setTime("consent_expires_at", f.Connected.ConsentExpiresAt)
	row.setTime("lease_until", f.LeaseUntil)
	row.setTime("expires_at", f.ExpiresAt)
	row.setInt("ttl", f.ExpiresAt.Add(ttlGrace).Unix())
	row.setInt("rev", f.Rev+1)
	return row
}

func facilityOf(row item) attempt.Facility {
	return attempt.Facility{
		ID: row.text("directory_id"), Name: row.text("name"), City: row.text("city"), State: row.text("state"),
		Match: tefca.Match(row.text("match")), Access: tefca.Access(row.text("access")), Local: row.bytes("local"),
		Outcome: attempt.Outcome(row.text("outcome")), Reason: attempt.Reason(row.text("reason")),
		Connected: attempt.Connected{
			ConnectionID:     row.text("connection_id"),
			ConsentExpiresAt: row.time("consent_expires_at"),
		},
		LeaseUntil: row.time("lease_until"), ExpiresAt: row.time("expires_at"), Rev: row.int("rev"),
	}
}
