package store

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/org"
)

// CreateAttempt implements flow.CreateStore.
func (s Flow) CreateAttempt(ctx context.Context, a flow.Attempt, ticket binding.Ticket) error {
	a.Status = flow.Created
	attempt := types.TransactWriteItem{Put: &types.Put{
		TableName: &s.Table, Item: attemptItem(a),
		ConditionExpression:       aws.String(absent + " OR (#status = :created AND token_hash = :token)"),
		ExpressionAttributeNames:  map[string]string{"#status": "status"},
		ExpressionAttributeValues: item{":created": text(string(flow.Created)), ":token": text(a.TokenHash)},
	}}
	return transact(ctx, s.DB, attempt, putNew(s.Table, ticketItem(ticketKey(ticket.Hash), ticket)))
}

// Ticket implements flow.StartStore.
func (s Flow) Ticket(ctx context.Context, hash string, now time.Time) (binding.Ticket, error) {
	return s.ticket(ctx, ticketKey(hash), hash, now)
}

// OpenAttempt implements flow.StartStore.
func (s Flow) OpenAttempt(ctx context.Context, ticket binding.Ticket, a flow.Attempt, state binding.State) error {
	open := change{
		table: s.Table, key: attemptKey(a.Tenant, a.ID),
		set: "SET #status = :open, nonce_hash = :nonce, verifier = :verifier", when: "#status = :created",
		names: map[string]string{"#status": "status"},
		values: item{
			":created": text(string(flow.Created)), ":open": text(string(flow.Open)), ":nonce": text(a.NonceHash),
			":verifier": &types.AttributeValueMemberB{Value: a.Verifier},
		},
	}
	return transact(ctx, s.DB, usingUp(s.Table, ticketKey(ticket.Hash)), open.write(),
		putNew(s.Table, stateItem(stateKey(state.Hash), state)))
}

// CancelAttempt implements flow.CancelStore. CancelAttempt also removes the unused code verifier from the row.
func (s Flow) CancelAttempt(ctx context.Context, a flow.Attempt, end flow.Ending) error {
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: attemptKey(a.Tenant, a.ID),
		set: "SET #status = :failed, error_code = :error, error_description = :description, error_cause = :cause, " +
			"error_request_id = :request REMOVE verifier",
		when:  "#status = :created OR #status = :open",
		names: map[string]string{"#status": "status"},
		values: item{
			":created": text(string(flow.Created)), ":open": text(string(flow.Open)), ":failed": text(string(flow.Failed)),
			":error": text(end.Error), ":description": text(end.Description), ":cause": text(end.Cause),
			":request": text(end.RequestID),
		},
	})
	return err
}

// Attempt implements flow.Attempts.
func (s Flow) Attempt(ctx context.Context, tenant org.Tenant, id string) (flow.Attempt, error) {
	row, err := get(ctx, s.DB, s.Table, attemptKey(tenant, id))
	if err != nil {
		return flow.Attempt{}, err
	}
	return flow.Attempt{
		ID: id, Tenant: tenant, Status: flow.Status(row.text("status")), Look: row.look(),
		RequestID: row.text("request_id"), CreatedAt: row.time("created_at"),
		ExpiresAt: row.time("expires_at"), Ending: endingOf(row),
		Requester: flow.Requester{
			RedirectURI: row.text("redirect_uri"), TokenHash: row.text("token_hash"),
			ExternalID: row.text("external_id"), ExternalState: row.text("external_state"),
		},
		Institution: flow.Institution{
			EndpointID: row.text("endpoint_id"), BrandID: row.text("brand_id"),
			PortalID: row.text("portal_id"), PlatformType: row.text("platform_type"),
		},
		Renewal: flow.Renewal{Reconnect: row.text("reconnect_id"), WasEnded: row.text("was_ended")},
		Server: flow.Server{
			FHIRBase: row.text("fhir_base"), Issuer: row.text("issuer"),
			IssRequired:           row.flag("iss_required"),
			AuthorizationEndpoint: row.text("authorization_endpoint"),
			TokenEndpoint:         row.text("token_endpoint"), KeySet: row.text("jwks_uri"),
			Userinfo: row.text("userinfo_endpoint"),
			Upstream: flow.Upstream{
				Revocation: row.text("revocation_endpoint"), Introspection: row.text("introspection_endpoint"),
				IntrospectBearer: row.flag("introspect_bearer"), Consent: time.Duration(row.int("consent_seconds")) * time.Second,
			},
		},
		Client: flow.Client{
			ClientID: row.text("client_id"), ClientAuthID: row.text("client_auth_id"),
			Callback: row.text("callback_uri"), RawBasic: row.flag("raw_basic"),
		},
		Parameters: flow.Parameters{
			Aud: row.text("aud"), Scope: row.text("scope"), RepeatScope: row.flag("repeat_scope"),
			Nonce: row.flag("nonce"), NoChallenge: row.flag("no_challenge"),
			Extra: strings.Fields(row.text("extra_fields")),
		},
		Secrets: flow.Secrets{NonceHash: row.text("nonce_hash"), Verifier: row.bytes("verifier")},
	}, nil
}

func endingOf(row item) flow.Ending {
	return flow.Ending{
		ConnectionID: row.text("connection_id"), ConnectionStatus: connection.Status(row.text("connection_status")),
		Scope: row.text("granted_scope"), ConsentExpiresAt: row.time("consent_expires_at"),
		Initials: row.text("patient_initials"),
		Error:    row.text("error_code"), Description: row.text("error_description"), Cause: row.text("error_cause"),
		RequestID: row.text("error_request_id"),
	}
}

func attemptItem(a flow.Attempt) item {
	row := newItem(attemptKey(a.Tenant, a.ID))
	row.setText("status", string(a.Status))
	row.setLook(a.Look)
	row.setText("redirect_uri", a.RedirectURI)
	row.setText("token_hash", a.TokenHash)
	row.setText("reconnect_id", a.Reconnect)
	row.setText("was_ended", a.WasEnded)
	row.setText("endpoint_id", a.EndpointID)
	row.setText("brand_id", a.BrandID)
	row.setText("portal_id", a.PortalID)
	row.setText("platform_type", a.PlatformType)
	row.setText("external_id", a.ExternalID)
	row.setText("external_state", a.ExternalState)
	row.setText("request_id", a.RequestID)
	row.setTime("created_at", a.CreatedAt)
	row.setTime("expires_at", a.ExpiresAt)
	row.setInt("ttl", a.ExpiresAt.Add(ttlGrace).Unix())
	row.setText("fhir_base", a.FHIRBase)
	row.setText("issuer", a.Issuer)
	row.setFlag("iss_required", a.IssRequired)
	row.setText("authorization_endpoint", a.AuthorizationEndpoint)
	row.setText("token_endpoint", a.TokenEndpoint)
	row.setText("jwks_uri", a.KeySet)
	row.setText("userinfo_endpoint", a.Userinfo)
	row.setText("client_id", a.ClientID)
	row.setText("client_auth_id", a.ClientAuthID)
	row.setText("callback_uri", a.Callback)
	row.setText("revocation_endpoint", a.Upstream.Revocation)
	row.setText("introspection_endpoint", a.Upstream.Introspection)
	row.setFlag("introspect_bearer", a.Upstream.IntrospectBearer)
	row.setInt("consent_seconds", int64(a.Upstream.Consent/time.Second))
	row.setText("aud", a.Aud)
	row.setText("scope", a.Scope)
	row.setFlag("repeat_scope", a.RepeatScope)
	row.setFlag("raw_basic", a.RawBasic)
	row.setText("extra_fields", strings.Join(a.Extra, " "))
	row.setFlag("no_challenge", a.NoChallenge)
	row.setFlag("nonce", a.Nonce)
	row.setText("nonce_hash", a.NonceHash)
	row.setBytes("verifier", a.Verifier)
	return row
}
