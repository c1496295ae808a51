package tokens

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Sealer encrypts data with one of the tenant's data keys and binds the ciphertext to its storage location.
type Sealer interface {
	Seal(ctx context.Context, tenant org.Tenant, boundTo string, plain []byte) ([]byte, error)
	Open(ctx context.Context, tenant org.Tenant, boundTo string, sealed []byte) ([]byte, error)
}

// document is a Set's JSON encoding before sealing.
type document struct {
	AccessToken   string    `json:"access_token"`
	RefreshToken  string    `json:"refresh_token,omitempty"`
	PatientID     string    `json:"patient_id,omitempty"`
	Scope         string    `json:"scope,omitempty"`
	AskedScope    string    `json:"asked_scope,omitempty"`
	RepeatScope   bool      `json:"repeat_scope,omitempty"`
	EndpointID    string    `json:"endpoint_id,omitempty"`
	FHIRBase      string    `json:"fhir_base"`
	TokenEndpoint string    `json:"token_endpoint"`
	ClientID      string    `json:"client_id"`
	ClientAuthID  string    `json:"client_auth_id,omitempty"`
	RawBasic      bool      `json:"raw_basic,omitempty"`
	ExpiresAt     time.Time `json:"expires_at"`

	RevocationEndpoint    string    `json:"revocation_endpoint,omitempty"`
	IntrospectionEndpoint string    `json:"introspection_endpoint,omitempty"`
	IntrospectBearer      bool      `json:"introspect_bearer,omitempty"`
	ConsentExpiresAt      time.Time `json:"consent_expires_at,omitzero"`
	RefreshExpiresAt      time.Time `json:"refresh_expires_at,omitzero"`
	ConsentStated         bool      `json:"consent_stated,omitempty"`

	Extra   map[string]string `json:"extra,omitempty"`
	Records *Records          `json:"records,omitempty"`
}

// Vault encrypts and decrypts token sets.
type Vault struct {
	Sealer Sealer
}

// Seal encrypts set and returns it as the row for the given version of the connection's tokens.
func (v Vault) Seal(ctx context.Context, tenant org.Tenant, connectionID string, version int64, set Set) (Row, error) {
	plain, err := json.Marshal(document{
		AccessToken: set.AccessToken.Reveal(), RefreshToken: set.RefreshToken.Reveal(), PatientID: set.PatientID.Reveal(),
		Scope: set.Scope, AskedScope: set.AskedScope, RepeatScope: set.RepeatScope, FHIRBase: set.FHIRBase,
		TokenEndpoint: set.TokenEndpoint,
		ClientID:      set.ClientID, ClientAuthID: set.ClientAuthID, ExpiresAt: set.ExpiresAt,
		RevocationEndpoint:    set.RevocationEndpoint,
		IntrospectionEndpoint: set.IntrospectionEndpoint, IntrospectBearer: set.IntrospectBearer,
		ConsentExpiresAt: set.ConsentExpiresAt, RefreshExpiresAt: set.RefreshExpiresAt, ConsentStated: set.ConsentStated,
		Extra: set.Extra, EndpointID: set.EndpointID, RawBasic: set.RawBasic, Records: set.Records,
	})
	if err != nil {
		return Row{}, fmt.Errorf("encode tokens: %w", err)
	}
	sealed, err := v.Sealer.Seal(ctx, tenant, boundTo(tenant, connectionID, version), plain)
	if err != nil {
		return Row{}, fmt.Errorf("seal tokens: %w", err)
	}
	return Row{Tenant: tenant, ConnectionID: connectionID, Sealed: sealed, Version: version}, nil
}

// Open decrypts a row's token set. It fails if the row was moved to another connection, tenant or version.
func (v Vault) Open(ctx context.Context, row Row) (Set, error) {
	plain, err := v.Sealer.Open(ctx, row.Tenant, boundTo(row.Tenant, row.ConnectionID, row.Version), row.Sealed)
	damaged := fault.Spot{Operation: "open", Row: "TOKENS", Attribute: "sealed"}
	if err != nil {
		return Set{}, damaged.Failed(fmt.Errorf("open tokens: %w", err))
	}
	var stored document
	if json.Unmarshal(plain, &stored) != nil { // the JSON error could quote the tokens
		return Set{}, damaged.Failed(fmt.Errorf("decode tokens of version %d", row.Version))
	}
	return Set{
		AccessToken: secret.New(stored.AccessToken), RefreshToken: secret.New(stored.RefreshToken),
		PatientID: secret.New(stored.PatientID),
		Scope:     stored.Scope, AskedScope: stored.AskedScope, RepeatScope: stored.RepeatScope, FHIRBase: stored.FHIRBase,
		TokenEndpoint: stored.TokenEndpoint,
		ClientID:      stored.ClientID, ClientAuthID: stored.ClientAuthID, ExpiresAt: stored.ExpiresAt,
		RevocationEndpoint:    stored.RevocationEndpoint,
		IntrospectionEndpoint: stored.IntrospectionEndpoint, IntrospectBearer: stored.IntrospectBearer,
		ConsentExpiresAt: stored.ConsentExpiresAt, RefreshExpiresAt: stored.RefreshExpiresAt,
		ConsentStated: stored.ConsentStated,
		Extra:         stored.Extra, EndpointID: stored.EndpointID, RawBasic: stored.RawBasic, Records: stored.Records,
	}, nil
}

func boundTo(tenant org.Tenant, connectionID string, version int64) string {
	return "tokens|" + tenant.Key() + "|" + connectionID + "|" + strconv.FormatInt(version, 10)
}
