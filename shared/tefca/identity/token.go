package identity

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json" // rejects objects with duplicate members and matches names case-sensitively

	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/secret/jws"
)

// maxToken is the maximum length of an id_token in bytes. Tokens are stored in a row and sent in network queries.
const maxToken = 16 << 10

func verifier() jws.Verifier {
	return jws.Verifier{Algorithms: []jose.SignatureAlgorithm{jose.RS256, jose.ES256}, MaxBytes: maxToken}
}

// Token is a parsed id_token whose signature has not been verified.
type Token struct {
	KeyID string // ID of the signing key, according to the token's header

	text   secret.Text
	signed jws.Token
}

// Parse parses an id_token. Parse rejects tokens that no key can verify and tokens that contain their own key, before
// any key is fetched (RFC 8725 section 3.10).
func Parse(token secret.Text) (Token, error) {
	signed, err := verifier().Parse(token)
	if err != nil {
		return Token{}, flawed(err)
	}
	if check := checkHeader(signed); check != "" {
		return Token{}, invalid(check)
	}
	return Token{KeyID: signed.KeyID, text: token, signed: signed}, nil
}

// checkHeader returns the name of the first check that a header fails, or "" if the header passes every check.
func checkHeader(token jws.Token) string {
	header := claims(token.Header)
	switch {
	case slices.ContainsFunc([]string{"jwk", "jku", "x5u", "x5c"}, header.has):
		// Only the pinned issuer's keys may be used.
		return "own_key"
	case header.has("typ") && !strings.EqualFold(header.text("typ"), "JWT"):
		// Tokens of other types, such as at+jwt, may be signed with the same keys (RFC 8725 section 3.11).
		return "type"
	case token.KeyID == "":
		return string(jws.ErrUnknownKey)
	}
	return ""
}

// ParseKeys parses an issuer's key set.
func ParseKeys(document []byte) (jws.Keys, error) { return verifier().ParseKeys(document) }

// verify returns the token's claims if the token was signed with the key that it names.
func (t Token) verify(keys jws.Keys) (claims, error) {
	payload, err := t.signed.Verify(keys)
	if err != nil {
		return nil, flawed(err)
	}
	var read claims
	if json.Unmarshal(payload, &read) != nil || read == nil {
		return nil, invalid("claims")
	}
	return read, nil
}

// flawed converts an error from package jws to the error for an invalid id_token.
func flawed(err error) error {
	flaw, _ := errors.AsType[jws.FlawError](err)
	return invalid(string(flaw))
}
