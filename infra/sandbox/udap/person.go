package udap

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/infra/sandbox/persona"
)

// verified holds the claims, both top-level and nested, that an identity provider makes about a person (OpenID Connect
// for Identity Assurance).
type verified struct {
	demographics

	Issuer   string `json:"iss"`
	Expires  int64  `json:"exp"`
	Verified struct {
		Claims demographics `json:"claims"`
	} `json:"verified_claims"`
}

type demographics struct {
	Given     string `json:"given_name"`
	Family    string `json:"family_name"`
	BirthDate string `json:"birthdate"`
}

// patient holds the fields of a FHIR Patient used for matching.
type patient struct {
	Type string `json:"resourceType"`
	Name []struct {
		Family string   `json:"family"`
		Given  []string `json:"given"`
	} `json:"name"`
	BirthDate string `json:"birthDate"`
}

// person returns the persona to which a token request refers. An identity provider must have verified the person, whose
// details must match the Patient resource in the request.
func (s *Server) person(ctx context.Context, purpose extensions) (persona.Persona, problem, error) {
	who, ok, err := s.identity(ctx, purpose.IAS.IDToken)
	if err != nil {
		return persona.Persona{}, problem{}, err
	}
	if !ok {
		return persona.Persona{}, problem{"invalid_grant", "the id_token is not trusted here"}, nil
	}
	var named patient
	if json.Unmarshal(purpose.IAS.Patient, &named) != nil || named.Type != "Patient" || !named.is(who) {
		//nolint:nilerr // the client's mistake, and answered
		return persona.Persona{}, problem{"invalid_grant", "patient_information does not match the id_token"}, nil
	}
	for _, p := range s.config.Personas {
		if !strings.EqualFold(p.Name, who.Given+" "+who.Family) {
			continue
		}
		record, err := p.Load()
		if err != nil {
			return persona.Persona{}, problem{}, fmt.Errorf("load a record: %w", err)
		}
		var known patient
		if json.Unmarshal(record[0].Body, &known) == nil && known.is(who) {
			return p, problem{}, nil
		}
	}

	return persona.Persona{}, problem{"invalid_grant", "no patient here matches the id_token"}, nil
}

// is reports whether the Patient has the given person's name and birth date. Additional given names do not prevent a
// match.
func (p patient) is(who demographics) bool {
	if who.BirthDate == "" || len(p.Name) == 0 || p.BirthDate != who.BirthDate ||
		!strings.EqualFold(p.Name[0].Family, who.Family) {
		return false
	}
	given, own := strings.Fields(strings.Join(p.Name[0].Given, " ")), strings.Fields(who.Given)
	return len(own) > 0 && len(given) >= len(own) && slices.EqualFunc(given[:len(own)], own, strings.EqualFold)
}

// identity verifies an id_token with its issuer's keys.
func (s *Server) identity(ctx context.Context, token string) (demographics, bool, error) {
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.RS256, jose.ES256})
	if err != nil {
		return demographics{}, false, nil //nolint:nilerr // the client's mistake, and answered
	}
	var claims verified
	if json.Unmarshal(signed.UnsafePayloadWithoutVerification(), &claims) != nil {
		return demographics{}, false, nil //nolint:nilerr // the client's mistake, and answered
	}
	set, err := s.config.Issuers.Keys(ctx, claims.Issuer)
	if err != nil {
		return demographics{}, false, fmt.Errorf("keys of an issuer: %w", err)
	}
	for _, key := range set.Key(signed.Signatures[0].Protected.KeyID) {
		if _, err := signed.Verify(key); err != nil || s.config.Now().Unix() >= claims.Expires {
			continue
		}
		if claims.Verified.Claims.BirthDate != "" {
			return claims.Verified.Claims, true, nil
		}

		return claims.demographics, true, nil
	}

	return demographics{}, false, nil
}
