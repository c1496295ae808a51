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
	// extraTime is what a health system gets for keys, userinfo, a search or introspection, each, out of the time for the
	// whole exchange.
	extraTime = 5 * time.Second
	// maxExtra is the largest of those answers in bytes.
	maxExtra = 256 << 10
	// skew is how far apart the clocks may be.
	skew = time.Minute
	// maxSigned is the longest signed token in bytes.
	maxSigned = 64 << 10
)

var errNonce = errors.New("id_token: it belongs to another sign-in")

// identity is what a verified id_token says.
type identity struct {
	patient string // FHIR id, or empty
	subject string
}

// patient finds the patient whose records were shared, in this order: the token answer, the id_token, the access token,
// userinfo, and a search for the only Patient that the token opens. It is empty when none of them tells. The error
// means that the id_token is forged or belongs to another sign-in: then nothing of the answer may be used.
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

// onlyPatient asks the FHIR server for the patients that the access token opens (OnPatient names its patient in no
// other way). One is the patient. Of several, or of one where more may follow, none is: a parent's token may open a
// child's record, and a guess would export the wrong person's.
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

// identify verifies an id_token (OpenID Connect Core 1.0 section 3.1.3.7). One that is missing, that cannot be checked
// because no keys are at hand or it is encrypted, or that was made for somebody else or has expired says nothing, and
// the connection goes on without it.
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

// verified returns the claims of an id_token signed by a key of the set at keySet, or nil for a
// token that cannot be checked.
func (p Portal) verified(ctx context.Context, keySet string, token secret.Text) (answer, error) {
	if token.Empty() {
		return nil, nil
	}
	accepted := jws.Verifier{
		Algorithms: []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.ES256, jose.ES384},
		MaxBytes:   maxSigned,
	}
	signed, err := accepted.Parse(token)
	if errors.Is(err, jws.ErrEncrypted) { // some servers encrypt it even if the client has published no key for that
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

// addressed reports whether an id_token came from the pinned issuer and is for our client. Where discovery names no
// issuer, there is none that it could come from.
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

// expiry reads exp; without one a token has expired long ago.
func expiry(claims answer) time.Time {
	var seconds float64
	if json.Unmarshal(claims["exp"], &seconds) != nil || seconds < 0 || seconds > 1<<40 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0)
}

// patientOfAccessToken reads the patient from an access token that is a JWT. Its signature is for the FHIR server to
// check; it came from the token endpoint itself, as the patient member of the same answer would have.
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

// unverified reads the claims of a token that may be a JWT, without verifying its signature.
func unverified(token secret.Text) (answer, bool) {
	parts := strings.Split(token.Reveal(), ".")
	if len(parts) != 3 || len(token.Reveal()) > maxSigned {
		return nil, false
	}
	payload, err := base64.RawURLEncoding.Strict().DecodeString(parts[1])
	var claims answer
	return claims, err == nil && json.Unmarshal(payload, &claims) == nil && claims != nil
}

// userinfo asks who the access token is about. It never speaks for a subject other than the id_token's (OpenID Connect
// Core 1.0 section 5.3.2).
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

// patientOf reads the patient from claims: the launch context, or a user who is a patient.
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

// patientID takes the id of a patient as it stands or behind its type; empty when it has no valid form.
func patientID(text string) string {
	if id := strings.TrimPrefix(text, "Patient/"); fhir.ValidID(id) {
		return id
	}
	return ""
}

// fetch gets a JSON object that a connection can do without. It follows no redirect: nobody vouches for where it leads.
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
