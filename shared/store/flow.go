package store

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/fault"
	"recordbridge/shared/flow"
	"recordbridge/shared/org"
)

// Flow keeps connect attempts, states and rate limits. Concluding an attempt also writes to the other tables, in the
// same transaction; a function that never concludes leaves their names empty.
type Flow struct {
	DB              DB
	Table           string
	ConnectionTable string
	TokensTable     string
	WorkTable       string
}

// afterlife is how long an expired row stays readable before DynamoDB may delete it.
const afterlife = time.Hour

// BeginAttempt implements flow.Store.
func (s Flow) BeginAttempt(ctx context.Context, a flow.Attempt, state flow.State) error {
	row := newItem(stateKey(state.Hash))
	row.setText("binding", state.BindingHash)
	row.setText("mode", string(state.Tenant.Mode))
	row.setText("org_id", state.Tenant.OrgID)
	row.setText("attempt_id", state.AttemptID)
	row.setTime("expires_at", state.ExpiresAt)
	row.setInt("ttl", state.ExpiresAt.Add(afterlife).Unix())
	return transact(ctx, s.DB, putNew(s.Table, attemptItem(a)), putNew(s.Table, row))
}

// TakeState implements flow.Store: one conditional delete that returns the row, so a state works once.
func (s Flow) TakeState(ctx context.Context, hash, bindingHash string, now time.Time) (flow.State, error) {
	row, err := remove(ctx, s.DB, change{
		table: s.Table, key: stateKey(hash), when: "binding = :binding AND expires_at > :now",
		values: item{":binding": text(bindingHash), ":now": moment(now)},
	})
	if errors.Is(err, fault.Conflict) {
		return flow.State{}, fault.Missing("There is no such sign-in.").Because(err)
	}
	if err != nil {
		return flow.State{}, err
	}
	return flow.State{
		Hash: hash, BindingHash: bindingHash, Tenant: org.Tenant{Mode: org.Mode(row.text("mode")), OrgID: row.text("org_id")},
		AttemptID: row.text("attempt_id"), ExpiresAt: row.time("expires_at"),
	}, nil
}

// Attempt implements flow.Store.
func (s Flow) Attempt(ctx context.Context, tenant org.Tenant, id string) (flow.Attempt, error) {
	row, err := get(ctx, s.DB, s.Table, attemptKey(tenant, id))
	if err != nil {
		return flow.Attempt{}, err
	}
	return flow.Attempt{
		ID: id, Tenant: tenant, RedirectURI: row.text("redirect_uri"),
		EndpointID: row.text("endpoint_id"), BrandID: row.text("brand_id"), PortalID: row.text("portal_id"),
		PlatformType: row.text("platform_type"), FHIRBase: row.text("fhir_base"),
		Issuer: row.text("issuer"), IssRequired: row.flag("iss_required"), TokenEndpoint: row.text("token_endpoint"),
		KeySet: row.text("jwks_uri"), Userinfo: row.text("userinfo_endpoint"), NonceHash: row.text("nonce_hash"),
		ClientID: row.text("client_id"), ClientAuthID: row.text("client_auth_id"), Upstream: flow.Upstream{
			Revocation: row.text("revocation_endpoint"), Introspection: row.text("introspection_endpoint"),
			IntrospectBearer: row.flag("introspect_bearer"), Consent: time.Duration(row.int("consent_seconds")) * time.Second,
		}, Scope: row.text("scope"), RepeatScope: row.flag("repeat_scope"), Verifier: row.bytes("verifier"),
		ExternalID: row.text("external_id"), ExternalState: row.text("external_state"), RequestID: row.text("request_id"),
		CreatedAt: row.time("created_at"), ExpiresAt: row.time("expires_at"),
	}, nil
}

func attemptItem(a flow.Attempt) item {
	row := newItem(attemptKey(a.Tenant, a.ID))
	row.setText("status", "open")
	row.setText("redirect_uri", a.RedirectURI)
	row.setText("endpoint_id", a.EndpointID)
	row.setText("brand_id", a.BrandID)
	row.setText("portal_id", a.PortalID)
	row.setText("platform_type", a.PlatformType)
	row.setText("fhir_base", a.FHIRBase)
	row.setText("issuer", a.Issuer)
	row.setFlag("iss_required", a.IssRequired)
	row.setText("token_endpoint", a.TokenEndpoint)
	row.setText("jwks_uri", a.KeySet)
	row.setText("userinfo_endpoint", a.Userinfo)
	row.setText("nonce_hash", a.NonceHash)
	row.setText("client_id", a.ClientID)
	row.setText("client_auth_id", a.ClientAuthID)
	row.setText("revocation_endpoint", a.Upstream.Revocation)
	row.setText("introspection_endpoint", a.Upstream.Introspection)
	row.setFlag("introspect_bearer", a.Upstream.IntrospectBearer)
	row.setInt("consent_seconds", int64(a.Upstream.Consent/time.Second))
	row.setText("scope", a.Scope)
	row.setFlag("repeat_scope", a.RepeatScope)
	row.setBytes("verifier", a.Verifier)
	row.setText("external_id", a.ExternalID)
	row.setText("external_state", a.ExternalState)
	row.setText("request_id", a.RequestID)
	row.setTime("created_at", a.CreatedAt)
	row.setTime("expires_at", a.ExpiresAt)
	row.setInt("ttl", a.ExpiresAt.Add(afterlife).Unix())
	return row
}

// ConcludeAttempt implements flow.Store. The verifier leaves the row with its use.
func (s Flow) ConcludeAttempt(ctx context.Context, c flow.Conclusion) error {
	end := change{
		table: s.Table, key: attemptKey(c.Attempt.Tenant, c.Attempt.ID),
		set:  "SET #status = :done, error_code = :code, connection_id = :connection REMOVE verifier",
		when: "#status = :open", names: map[string]string{"#status": "status"},
		values: item{
			":open": text("open"), ":done": text("done"), ":code": text(c.Error), ":connection": text(c.Connection.ID),
		},
	}
	writes := []types.TransactWriteItem{end.write()}
	if c.Connection.ID != "" {
		writes = append(writes, putNew(s.ConnectionTable, connectionItem(c.Connection)))
	}
	if len(c.Tokens.Sealed) > 0 {
		writes = append(writes, putNew(s.TokensTable, tokensItem(c.Tokens)))
	}
	for _, event := range c.Events {
		writes = append(writes, putNew(s.WorkTable, eventItem(event)))
	}
	return transact(ctx, s.DB, writes...)
}
