package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json" // refuses an object that says a member twice, and tells members apart by case

	"recordbridge/shared/secret"
)

const (
	// maxToken is the longest id_token in bytes. It stands in a row, and in what networks are asked with.
	maxToken = 16 << 10
	// maxKeys is how many keys of a set are looked at.
	maxKeys = 64
	// minModulus is the shortest RSA key in bits. The longest that go-jose reads has 4096.
	minModulus = 2048
)

var errKeys = errors.New("identity: not a key set")

// Token is an id_token whose signature has not been verified yet.
type Token struct {
	KeyID string // of the key that it says it is signed with

	text   secret.Text
	signed *jose.JSONWebSignature
}

// Parse takes an id_token apart. It is refused before any key is fetched when no key could make it good: one that is signed with
// other than RS256 or ES256, and one that brings its key itself (RFC 8725 sections 3.1 and 3.10).
func Parse(token secret.Text) (Token, error) {
	text := token.Reveal()
	if len(text) > maxToken {
		return Token{}, invalid("size")
	}
	parts := strings.Split(text, ".")
	header, ok := object(parts[0])
	switch {
	case ok && len(parts) == 5:
		return Token{}, invalid("encrypted") // RFC 7516; no key of ours opens it
	case !ok || len(parts) != 3 || !isEncoded(parts[1]) || !isEncoded(parts[2]):
		return Token{}, invalid("form")
	}
	if check := checkHeader(header); check != "" {
		return Token{}, invalid(check)
	}
	signed, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{jose.RS256, jose.ES256})
	if err != nil {
		return Token{}, invalid("form")
	}
	return Token{KeyID: header.text("kid"), text: token, signed: signed}, nil
}

// checkHeader names the check that a header does not pass, or "".
func checkHeader(header claims) string {
	algorithm := header.text("alg")
	if algorithm != string(jose.RS256) && algorithm != string(jose.ES256) {
		return "algorithm"
	}
	switch {
	case slices.ContainsFunc([]string{"jwk", "jku", "x5u", "x5c"}, header.has): // keys are the pinned issuer's, and nobody else's
		return "own_key"
	case header.has("crit"): // what is critical is not understood here (RFC 7515 section 4.1.11)
		return "critical"
	case header.has("typ") && !strings.EqualFold(header.text("typ"), "JWT"): // such as at+jwt, of the same keys (RFC 8725 section 3.11)
		return "type"
	case header.text("kid") == "":
		return "key"
	}
	return ""
}

// isEncoded takes the one way to write bytes in base64url. Decoders take others as well, so that two texts were one token to some.
func isEncoded(part string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && base64.RawURLEncoding.EncodeToString(raw) == part
}

// object decodes a part of a token that is a JSON object.
func object(part string) (claims, bool) {
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil || !isEncoded(part) {
		return nil, false
	}
	var read claims
	return read, json.Unmarshal(text, &read) == nil && read != nil
}

// Keys are those that an issuer signs with.
type Keys struct{ known []jose.JSONWebKey }

// ParseKeys reads a key set (RFC 7517 section 5). Keys that cannot be read, or that verify nothing that is accepted, are passed
// over: sets hold keys for other purposes, too.
func ParseKeys(document []byte) (Keys, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if json.Unmarshal(document, &set) != nil || set.Keys == nil {
		return Keys{}, errKeys
	}
	var found Keys
	for _, raw := range set.Keys[:min(len(set.Keys), maxKeys)] {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) == nil && (key.Use == "" || key.Use == "sig") && isAccepted(key.Key) {
			found.known = append(found.known, key)
		}
	}
	return found, nil
}

// Has reports whether a key of that id is there.
func (k Keys) Has(id string) bool {
	return slices.ContainsFunc(k.known, func(key jose.JSONWebKey) bool { return key.KeyID == id })
}

// isAccepted reports whether a key is public, and one that RS256 or ES256 verify with. Which of them, go-jose sees to.
func isAccepted(key any) bool {
	switch public := key.(type) {
	case *rsa.PublicKey:
		return public.N.BitLen() >= minModulus
	case *ecdsa.PublicKey:
		return public.Curve == elliptic.P256()
	}
	return false
}

// verify returns the claims of a token that the key it names has signed.
func (t Token) verify(keys Keys) (claims, error) {
	algorithm := t.signed.Signatures[0].Protected.Algorithm
	for _, key := range keys.known {
		if key.KeyID != t.KeyID || key.Algorithm != "" && key.Algorithm != algorithm {
			continue
		}
		payload, err := t.signed.Verify(key.Key)
		if err != nil {
			continue
		}
		var read claims
		if json.Unmarshal(payload, &read) != nil || read == nil {
			return nil, invalid("claims")
		}
		return read, nil
	}
	if !keys.Has(t.KeyID) {
		return nil, invalid("key")
	}
	return nil, invalid("signature")
}
