package identity

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"time"

	"recordbridge/infra/sandbox/jose"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/identity"
)

// Formats of the claims in an id_token.
const (
	shapeCMS      = "cms-flat"
	shapeSOP      = "sop-flat"
	shapeVerified = "verified-claims"
)

// Simulated faults in an id_token or in the steps before it is issued.
const (
	faultNone         = "none"
	faultLevel        = "low-level"
	faultExpiresSoon  = "expires-soon"
	faultExpired      = "expired"
	faultSession      = "old-session"
	faultAudience     = "wrong-audience"
	faultNonce        = "wrong-nonce"
	faultIssuer       = "wrong-issuer"
	faultSignature    = "bad-signature"
	faultKey          = "unknown-key"
	faultBirthDate    = "no-birth-date"
	faultAddress      = "no-address"
	faultUnavailable  = "unavailable"
	faultTokenFails   = "token-fails"
	expiresSoonWithin = 20 * time.Second
)

// shapes lists the values of the shape parameter: the flat claims of CMS-aligned networks, the flat claims of the RCE's
// SOP, and OpenID Connect for Identity Assurance. The first value is the default.
var shapes = []string{shapeCMS, shapeSOP, shapeVerified}

// faults lists the values of the fault parameter. The first value, which is the default, means no fault.
var faults = []string{
	faultNone, faultLevel, faultExpiresSoon, faultExpired, faultSession, faultAudience, faultNonce, faultIssuer,
	faultSignature,
	faultKey, faultBirthDate, faultAddress, faultUnavailable, faultTokenFails,
}

func shapeOf(query url.Values) string { return orFirst(query.Get(shapeParam), shapes) }
func faultOf(query url.Values) string { return orFirst(query.Get(faultParam), faults) }

func orFirst(value string, all []string) string {
	if value == "" {
		return all[0]
	}

	return value
}

var errGone = errors.New("the code's patient no longer exists")

func (s *Server) signed(ctx context.Context, code codeRecord) (string, error) {
	who, ok := patient(code.Subject)
	if !ok {
		return "", errGone
	}
	now := s.Now()
	claims := map[string]any{
		"iss": s.Issuer, "sub": who.Subject, "aud": identity.SimulatedAudience, "azp": code.ClientID, "nonce": code.Nonce,
		"iat": now.Unix(), "exp": now.Add(tokenLasts).Unix(), "auth_time": now.Unix(),
	}
	maps.Copy(claims, said(who.Person, code))
	switch code.Fault {
	case faultExpiresSoon:
		claims["exp"] = now.Add(expiresSoonWithin).Unix()
	case faultExpired:
		claims["iat"], claims["exp"] = now.Add(-time.Hour).Unix(), now.Add(-time.Hour+tokenLasts).Unix()
	case faultSession:
		claims["auth_time"] = now.Add(-24 * time.Hour).Unix()
	case faultAudience:
		claims["aud"] = "urn:oid:2.999.2"
	case faultNonce:
		claims["nonce"] = "another-nonce"
	case faultIssuer:
		claims["iss"] = s.Issuer + "/another"
	}
	key, err := s.SigningKey(ctx)
	if err != nil {
		return "", err
	}
	keyID := oauth.SigningKeyID
	switch code.Fault {
	case faultKey:
		keyID = "another-key"
	case faultSignature:
		if key, err = rsa.GenerateKey(rand.Reader, key.N.BitLen()); err != nil {
			return "", fmt.Errorf("make another key: %w", err)
		}
	}

	return jose.Sign(key, keyID, claims)
}

// said returns the claims about a person in the format that the code specifies.
func said(person tefca.Person, code codeRecord) map[string]any {
	claims := map[string]any{}
	for name, value := range map[string]string{
		"given_name": person.Given, "middle_name": person.Middle, "family_name": person.Family, "birthdate": person.BirthDate,
		"gender": person.Sex, "phone_number": person.Phone, "email": person.Email,
	} {
		if value != "" {
			claims[name] = value
		}
	}
	if code.Shape != shapeVerified { // verified_claims implies verification
		claims["email_verified"], claims["phone_number_verified"] = person.Email != "", person.Phone != ""
	}
	places := make([]any, 0, len(person.Addresses))
	for _, one := range person.Addresses {
		places = append(places, place(one, code.Shape))
	}
	if code.Shape == shapeVerified {
		claims["address"] = places
	} else if len(places) > 0 {
		claims["address"], claims["historical_address"] = places[0], places[1:]
	}
	switch code.Fault {
	case faultBirthDate:
		delete(claims, "birthdate")
	case faultAddress:
		delete(claims, "address")
	}

	return vouched(claims, code)
}

// vouched adds the identity assurance level in the format that the code specifies. The RCE's format implies the
// assurance level by contract, so vouched includes the level in that format only if it is low.
func vouched(claims map[string]any, code codeRecord) map[string]any {
	level := 2
	if code.Fault == faultLevel {
		level = 1
	}
	switch {
	case code.Shape == shapeVerified:
		return map[string]any{"verified_claims": map[string]any{
			"verification": map[string]any{"trust_framework": "nist_800_63A", "assurance_level": fmt.Sprintf("ial%d", level)},
			"claims":       claims,
		}}
	case code.Shape == shapeCMS || level < 2:
		claims["identity_assurance_level"] = level
	}

	return claims
}

func place(a tefca.Address, shape string) map[string]string {
	region := "region"
	if shape == shapeSOP {
		region = "regionality"
	}
	all := map[string]string{
		"street_address": strings.ReplaceAll(a.Street, ", ", "\n"), "locality": a.City, region: a.State,
		"postal_code": a.PostalCode, "country": a.Country,
	}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })

	return all
}
