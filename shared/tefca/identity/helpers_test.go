package identity_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/secret/jws"
)

const (
	issuer   = "https://id.example"
	audience = "urn:oid:2.999.7"
	clientID = "client-1"
	nonce    = "nonce-1"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

type object = map[string]any

// authority returns a provider's data as pinned before the redirect. The provider's tokens state their assurance level,
// except for tokens in the SOP's form.
func authority() identity.Authority {
	return identity.Authority{Provider: identity.Provider{
		ID: "example", Name: "Example", Mode: org.Live, Issuer: issuer, ClientID: clientID,
		Audiences: []string{audience, clientID},
		Scope:     "openid", Assurance: identity.Assurance{Implied: true},
	}, AskedAt: now}
}

// signer is a key pair with the members of its public JWK.
type signer struct {
	crypto.Signer

	algorithm jose.SignatureAlgorithm
}

var signers = sync.OnceValue(func() map[string]signer {
	made := map[string]signer{}
	for _, id := range []string{"rsa", "other rsa"} {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		made[id] = signer{key, jose.RS256}
	}
	for id, curve := range map[string]elliptic.Curve{"ec": elliptic.P256(), "p384": elliptic.P384()} {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			panic(err)
		}
		made[id] = signer{key, jose.ES256}
	}
	return made
})

// keySet returns the issuer's published keys, without the second RSA key.
var keySet = sync.OnceValue(func() jws.Keys {
	var set jose.JSONWebKeySet
	for _, id := range []string{"rsa", "ec", "p384"} {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: signers()[id].Public(), KeyID: id})
	}
	document, err := json.Marshal(set)
	if err != nil {
		panic(err)
	}
	keys, err := identity.ParseKeys(document)
	if err != nil {
		panic(err)
	}
	return keys
})

func signed(tb testing.TB, by string, header object, payload []byte) string {
	tb.Helper()
	head, err := json.Marshal(header)
	if err != nil {
		tb.Fatal(err)
	}
	text := encode(head) + "." + encode(payload)
	digest := crypto.SHA256.New()
	digest.Write([]byte(text))
	var signature []byte
	switch key := signers()[by].Signer.(type) {
	case *rsa.PrivateKey:
		signature, err = rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest.Sum(nil))
	case *ecdsa.PrivateKey:
		r, s, failed := ecdsa.Sign(rand.Reader, key, digest.Sum(nil))
		size := (key.Curve.Params().BitSize + 7) / 8
		signature, err = append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...), failed
	}
	if err != nil {
		tb.Fatal(err)
	}
	return text + "." + encode(signature)
}

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// token returns a valid token with the given claims.
func token(tb testing.TB, said object) string {
	tb.Helper()
	payload, err := json.Marshal(said)
	if err != nil {
		tb.Fatal(err)
	}
	return signed(tb, "rsa", object{"alg": "RS256", "kid": "rsa", "typ": "JWT"}, payload)
}

// assert verifies a token in the same way as a Party.
func assert(a identity.Authority, text string, at time.Time) (tefca.Assertion, error) {
	parsed, err := identity.Parse(secret.New(text))
	if err != nil {
		return tefca.Assertion{}, err
	}
	return a.Assert(parsed, keySet(), binding.Hash(nonce), at)
}

// about adds claims about the token itself to the given claims. The token is valid for 15 minutes.
func about(others object) object {
	said := object{
		"iss": issuer, "sub": "subject-1", "aud": audience, "nonce": nonce, "iat": now.Unix(),
		"exp":       now.Add(15 * time.Minute).Unix(),
		"auth_time": now.Unix(),
	}
	maps.Copy(said, others)
	return said
}

// shapes returns one token for each accepted form. Each token contains every claim that its form supports. All tokens
// describe the same person.
func shapes() map[string]object {
	home := object{
		"street_address": "1 Example Street\nApt 2", "locality": "Madison", "region": "WI",
		"postal_code": "53703", "country": "US",
	}
	former := object{"street_address": "9 Old Road", "locality": "Tucson", "region": "AZ", "postal_code": "85701"}
	person := func() object {
		return object{
			"given_name": "Maple", "middle_name": "Rose", "family_name": "Aster", "birthdate": "1984-03-12", "gender": "female",
			"phone_number": "+16085550100", "email": "maple.aster@tefca.example",
		}
	}
	cms, sop, ida := person(), person(), person()
	maps.Copy(cms, object{
		"identity_assurance_level": 2, "address": home, "historical_address": former,
		"email_verified": true, "phone_number_verified": true,
	})
	aliased := maps.Clone(home)
	aliased["regionality"] = aliased["region"]
	delete(aliased, "region")
	maps.Copy(sop, object{
		"address": aliased, "historical_address": []any{former}, "email_verified": "true",
		"phone_number_verified": "true",
	})
	maps.Copy(ida, object{"address": []any{home, former}})
	return map[string]object{
		"CMS-aligned": about(cms), "SOP": about(sop),
		"OIDC4IDA": about(object{"verified_claims": object{
			"verification": object{"trust_framework": "nist_800_63A", "assurance_level": "ial2"}, "claims": ida,
		}}),
	}
}

// maple returns the person described by the tokens of shapes.
func maple() tefca.Person {
	return tefca.Person{
		Given: "Maple", Middle: "Rose", Family: "Aster", BirthDate: "1984-03-12", Sex: "female",
		Addresses: []tefca.Address{
			{Street: "1 Example Street, Apt 2", City: "Madison", State: "WI", PostalCode: "53703", Country: "US"},
			{Street: "9 Old Road", City: "Tucson", State: "AZ", PostalCode: "85701"},
		},
		Phone: "+16085550100", Email: "maple.aster@tefca.example",
	}
}

func cloned(tb testing.TB, said object) object {
	tb.Helper()
	raw, err := json.Marshal(said)
	if err != nil {
		tb.Fatal(err)
	}
	var copied object
	if err := json.Unmarshal(raw, &copied); err != nil {
		tb.Fatal(err)
	}
	return copied
}

// refused checks that err has the given cause and, if check is not empty, names the check.
func refused(tb testing.TB, err error, cause, check string) {
	tb.Helper()
	class := cause
	if check != "" {
		class = "id_token_" + check
	}
	if got := fault.SpotOf(fault.Spot{Step: fault.StepIdentity}.Failed(err)).Class; identity.CauseOf(err) != cause ||
		got != class {
		tb.Errorf("got %s (%s), want %s (%s)", identity.CauseOf(err), got, cause, class)
	}
}
