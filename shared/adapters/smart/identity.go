package smart

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/shared/connect/flow"
	"recordbridge/shared/fhir"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/secret/jws"
)

const (
	// extraTime is the timeout for each additional request, such as for keys, userinfo, a search or introspection. The
	// entire code exchange has a separate timeout.
	extraTime = 5 * time.Second
	// maxExtra is the maximum size, in bytes, of the response to an additional request.
	maxExtra = 256 << 10
	// skew is the tolerated clock skew.
	skew = time.Minute
	// maxSigned is the maximum length of a signed token in bytes.
	maxSigned = 64 << 10
)

var errNonce = errors.New("id_token: it belongs to another sign-in")

// identity holds the claims of a verified id_token.
type identity struct {
	patient string // patient's FHIR ID, or empty
	subject string
}

// patient returns the ID of the patient who shared their records. The sources, in order of precedence, are the token
// response, the id_token, the access token, userinfo, and a search for the only Patient that the token can read. The ID
// is "" if no source identifies the patient. An error means that the id_token is malformed, forged or from another
// sign-in. After an error, the caller must not use any part of the response.
func (p Portal) patient(ctx context.Context, a flow.Attempt, answer tokenAnswer) (string, error) {
	known, err := p.identify(ctx, a, answer.idToken)
	if err != nil {
		return "", err
	}
	for _, patient := range []string{answer.patient, known.patient, patientOfAccessToken(answer.access)} {
		if patient != "" {
			return patient, nil
		}
	}
	if patient := p.userinfo(ctx, a.Userinfo, answer.access, known.subject); patient != "" {
		return patient, nil
	}
	return p.onlyPatient(ctx, a.FHIRBase, answer.access), nil
}

// onlyPatient searches the FHIR server and returns the ID of the only patient that the access token can read. The
// OnPatient platform provides no other way to identify the patient. The ID is "" if there are several patients or if
// more pages may follow. A parent's token may read a child's record, so guessing could export the wrong person's
// record.
func (p Portal) onlyPatient(ctx context.Context, fhirBase string, token secret.Text) string {
	base, err := fhir.ParseBase(fhirBase)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, extraTime)
	defer cancel()
	page, err := fetcher{doer: p.doer, base: base}.get(ctx, base.Join("Patient"), acceptFHIR, fhir.MaxPage, token)
	if err != nil {
		return ""
	}
	bundle, err := fhir.ParseBundle(page)
	if err != nil || bundle.Next != "" || bundle.Unusable > 0 || bundle.Total > 1 {
		return ""
	}
	found, patients := "", 0
	for one := range bundle.All() {
		if one.Type == "Patient" {
			found, patients = one.ID, patients+1
		}
	}
	if patients != 1 {
		return ""
	}
	return patientID(found)
}

// identify verifies an id_token (OpenID Connect Core 1.0 section 3.1.3.7). The identity is empty if the token is
// missing, has expired or is for another audience. The identity is also empty if the token can't be verified because it
// is encrypted or the keys are unavailable. A connection can be completed without a verified identity.
func (p Portal) identify(ctx context.Context, a flow.Attempt, token secret.Text) (identity, error) {
	claims, err := p.verified(ctx, a.KeySet, token)
	if err != nil || claims == nil {
		return identity{}, err
	}
	nonce := claims.text("nonce")
	if a.NonceHash != "" && claims["nonce"] != nil && flow.HashNonce(nonce) != a.NonceHash {
		return identity{}, errNonce
	}
	if a.NonceHash != "" && nonce == "" || !addressed(claims, a) || p.now().Add(-skew).After(expiry(claims)) {
		return identity{}, nil
	}
	return identity{patient: patientOf(claims), subject: claims.text("sub")}, nil
}

// verified returns an id_token's claims after verifying its signature with the keys at keySet. The claims are nil if
// the token is missing or can't be verified.
func (p Portal) verified(ctx context.Context, keySet string, token secret.Text) (answer, error) {
	if token.Empty() {
		return nil, nil
	}
	accepted := jws.Verifier{
		Algorithms: []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.ES256, jose.ES384},
		MaxBytes:   maxSigned,
	}
	signed, err := accepted.Parse(token)
	if errors.Is(err, jws.ErrEncrypted) { // some servers encrypt tokens although the client published no encryption key
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if _, ok := unverified(token); !ok {
		return nil, jws.ErrMalformed
	}
	document, ok := p.fetch(ctx, keySet, secret.Text{})
	if !ok {
		return nil, nil
	}
	keys, err := accepted.ParseKeys(document)
	if err != nil {
		return nil, nil //nolint:nilerr // no keys are at hand
	}
	payload, err := signed.Verify(keys)
	if err != nil {
		return nil, err
	}
	var claims answer
	if json.Unmarshal(payload, &claims) != nil {
		return nil, jws.ErrMalformed
	}
	return claims, nil
}

// addressed reports whether the pinned issuer issued an id_token for the attempt's client. It returns false if
// discovery returned no issuer.
func addressed(claims answer, a flow.Attempt) bool {
	if a.Issuer == "" || claims.text("iss") != a.Issuer {
		return false
	}
	if party := claims.text("azp"); party != "" && party != a.ClientID {
		return false
	}
	var several []string
	if json.Unmarshal(claims["aud"], &several) != nil {
		several = []string{claims.text("aud")}
	}
	return slices.Contains(several, a.ClientID)
}

// expiry returns the exp claim. A token without an exp claim is treated as expired.
func expiry(claims answer) time.Time {
	var seconds float64
	if json.Unmarshal(claims["exp"], &seconds) != nil || seconds < 0 || seconds > 1<<40 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0)
}

// patientOfAccessToken returns the patient ID in a JWT access token. Only the FHIR server can verify the token's
// signature. The token is as trustworthy as the response's patient member, because both came directly from the token
// endpoint.
func patientOfAccessToken(token secret.Text) string {
	claims, ok := unverified(token)
	if !ok {
		return ""
	}
	if patient := patientOf(claims); patient != "" {
		return patient
	}
	return patientID(claims.text("local_patient_id")) // Veradigm
}

// unverified returns a JWT's claims without verifying its signature. It returns false if the token is not a JWT.
func unverified(token secret.Text) (answer, bool) {
	parts := strings.Split(token.Reveal(), ".")
	if len(parts) != 3 || len(token.Reveal()) > maxSigned {
		return nil, false
	}
	payload, err := base64.RawURLEncoding.Strict().DecodeString(parts[1])
	var claims answer
	return claims, err == nil && json.Unmarshal(payload, &claims) == nil && claims != nil
}

// userinfo requests the patient from the userinfo endpoint. A response whose subject differs from the id_token's is
// ignored (OpenID Connect Core 1.0 section 5.3.2).
func (p Portal) userinfo(ctx context.Context, address string, token secret.Text, subject string) string {
	document, ok := p.fetch(ctx, address, token)
	var claims answer
	if !ok || json.Unmarshal(document, &claims) != nil {
		return ""
	}
	if other := claims.text("sub"); subject != "" && other != subject {
		return ""
	}
	return patientOf(claims)
}

// patientOf returns the patient's ID from claims: the launch context's patient, or else the user if the user is a
// patient.
func patientOf(claims answer) string {
	if patient := patientID(claims.text("patient")); patient != "" {
		return patient
	}
	user := claims.text("fhirUser")
	if rest, id, ok := cutLast(user, "Patient/"); ok && (rest == "" || strings.HasSuffix(rest, "/")) && fhir.ValidID(id) {
		return id
	}
	return ""
}

func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}

// patientID extracts the ID from a patient's ID or relative reference. It returns "" if the text is malformed.
func patientID(text string) string {
	if id := strings.TrimPrefix(text, "Patient/"); fhir.ValidID(id) {
		return id
	}
	return ""
}

// fetch requests an optional JSON object. fetch does not follow redirects, because their targets are unverified.
func (p Portal) fetch(ctx context.Context, address string, token secret.Text) (body []byte, ok bool) {
	if address == "" {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, extraTime)
	defer cancel()
	//nolint:bodyclose // document closes it
	response, err := fetcher{doer: p.doer}.send(ctx, address, "application/json", token)
	if err != nil {
		return nil, false
	}
	body, err = document(response, maxExtra)
	return body, err == nil
}
