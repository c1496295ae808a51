package attempt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/tefca"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

// document is the JSON form of an assertion, which is stored encrypted.
type document struct {
	Provider  string       `json:"provider"`
	Issuer    string       `json:"issuer"`
	Subject   string       `json:"subject"`
	Level     int          `json:"level"`
	Person    tefca.Person `json:"person"`
	Token     string       `json:"token"`
	IssuedAt  time.Time    `json:"issued_at"`
	ExpiresAt time.Time    `json:"expires_at"`
}

// sealAssertion encrypts an assertion and binds it to its attempt. A copy in another attempt's row can't be decrypted.
func sealAssertion(ctx context.Context, sealer tokens.Sealer, a Attempt, who tefca.Assertion) ([]byte, error) {
	plain, err := json.Marshal(document{
		Provider: who.Provider, Issuer: who.Issuer, Subject: who.Subject, Level: who.Level, Person: who.Person,
		Token: who.Token.Reveal(), IssuedAt: who.IssuedAt, ExpiresAt: who.ExpiresAt,
	})
	if err != nil {
		return nil, errors.New("encode the assertion") // the cause is omitted, because it could quote the assertion
	}
	sealed, err := sealer.Seal(ctx, a.Tenant, assertionBinding(a), plain)
	if err != nil {
		return nil, fmt.Errorf("seal the assertion: %w", err)
	}
	return sealed, nil
}

func openAssertion(ctx context.Context, sealer tokens.Sealer, a Attempt) (tefca.Assertion, error) {
	damaged := fault.Spot{Operation: "open", Row: "TEFCA", Attribute: "assertion"}
	plain, err := sealer.Open(ctx, a.Tenant, assertionBinding(a), a.Assertion)
	if err != nil {
		return tefca.Assertion{}, damaged.Failed(fmt.Errorf("open the assertion: %w", err))
	}
	var d document
	if json.Unmarshal(plain, &d) != nil {
		return tefca.Assertion{}, damaged.Failed(errors.New("decode the assertion"))
	}
	return tefca.Assertion{
		Provider: d.Provider, Issuer: d.Issuer, Subject: d.Subject, Level: d.Level, Person: d.Person,
		Token: secret.New(d.Token), IssuedAt: d.IssuedAt, ExpiresAt: d.ExpiresAt,
	}, nil
}

// sealLocal encrypts the facility's identifiers for the person.
func sealLocal(ctx context.Context, sealer tokens.Sealer, a Attempt, f tefca.Facility) ([]byte, error) {
	if f.Local.Empty() {
		return nil, nil
	}
	sealed, err := sealer.Seal(ctx, a.Tenant, localBinding(a, f.ID), []byte(f.Local.Reveal()))
	if err != nil {
		return nil, fmt.Errorf("seal what a facility knows the person by: %w", err)
	}
	return sealed, nil
}

// located decrypts the facility's identifiers for the person and returns the facility as its network reported it.
func located(ctx context.Context, sealer tokens.Sealer, a Attempt, f Facility) (tefca.Facility, error) {
	var local []byte
	if len(f.Local) > 0 {
		var err error
		if local, err = sealer.Open(ctx, a.Tenant, localBinding(a, f.ID), f.Local); err != nil {
			damaged := fault.Spot{Operation: "open", Row: "TEFCA", Attribute: "local"}
			return tefca.Facility{}, damaged.Failed(fmt.Errorf("open what a facility knows the person by: %w", err))
		}
	}
	return tefca.Facility{
		ID: f.ID, Name: f.Name, City: f.City, State: f.State, Match: f.Match, Access: f.Access,
		Local: secret.New(string(local)),
	}, nil
}

func assertionBinding(a Attempt) string { return "identity-assertion|" + a.Tenant.Key() + "|" + a.ID }

func localBinding(a Attempt, facilityID string) string {
	return "facility-local|" + a.Tenant.Key() + "|" + a.ID + "|" + facilityID
}
