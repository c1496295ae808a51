package smart_test

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/secret"
)

const nonce = "the-nonce-of-this-sign-in"

type signer struct {
	key crypto.Signer
	jwk map[string]any
}

// signers returns a health system's signing keys by name. The keys are created only once, because generating RSA keys
// is slow. The key "other" is valid but is not in any key set.
var signers = sync.OnceValue(func() map[string]signer {
	made := map[string]signer{}
	for name, bits := range map[string]int{"rsa": 2048, "other": 2048, "short": 1024} {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			continue // tests that need this key will fail
		}
		made[name] = signer{key, map[string]any{
			"kty": "RSA", "kid": name, "n": encode(key.N.Bytes()), "e": encode(big.NewInt(int64(key.E)).Bytes()),
		}}
	}
	for name, curve := range map[string]elliptic.Curve{"p256": elliptic.P256(), "p384": elliptic.P384()} {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			continue
		}
		point, err := key.PublicKey.Bytes()
		if err != nil {
			continue
		}
		half := len(point) / 2
		made[name] = signer{key, map[string]any{
			"kty": "EC", "kid": name, "crv": curve.Params().Name, "x": encode(point[1 : 1+half]), "y": encode(point[1+half:]),
			"use": "sig",
		}}
	}
	return made
})

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// keySet returns a key set with unusable entries and every key except "other".
func keySet(t *testing.T) string {
	t.Helper()
	keys := []any{"not a key", map[string]any{"kty": "oct", "kid": "oct", "k": "c2VjcmV0"}, map[string]any{"kty": 7}}
	for name, s := range signers() {
		if name != "other" {
			keys = append(keys, s.jwk)
		}
	}
	return marshal(t, map[string]any{"keys": keys})
}

func marshal(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sign creates a token with exactly the given header and claims, signed with the named key.
func sign(t *testing.T, by string, header, claims map[string]any) string {
	t.Helper()
	signed := encode([]byte(marshal(t, header))) + "." + encode([]byte(marshal(t, claims)))
	hash := crypto.SHA256
	if alg, _ := header["alg"].(string); strings.HasSuffix(alg, "384") {
		hash = crypto.SHA384
	}
	digest := hash.New()
	digest.Write([]byte(signed))
	if key, ok := signers()[by].key.(*ecdsa.PrivateKey); ok {
		r, s, err := ecdsa.Sign(rand.Reader, key, digest.Sum(nil))
		if err != nil {
			t.Fatal(err)
		}
		size := (key.Curve.Params().BitSize + 7) / 8
		return signed + "." + encode(append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...))
	}
	signature, err := signers()[by].key.Sign(rand.Reader, digest.Sum(nil), hash)
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + encode(signature)
}

func claims(changes map[string]any) map[string]any {
	all := map[string]any{
		"iss": "https://ehr.example", "aud": "client", "exp": time.Now().Add(time.Hour).Unix(), "nonce": nonce,
		"sub": "user-1", "fhirUser": "https://ehr.example/r4/Patient/of-id-token",
	}
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	return all
}

// identification is a sign-in at a health system that returns the given responses.
type identification struct {
	members  map[string]any // token response members other than access_token
	access   string
	keys     string // name of the key set; "" for all keys
	userinfo string // userinfo response; "" if there is none
	keyless  bool
	nameless bool // whether discovery returned no issuer
}

func (i identification) exchange(t *testing.T) (tokens.Set, *ehr, error) {
	t.Helper()
	members := map[string]any{"access_token": cmp.Or(i.access, "opaque"), "token_type": "Bearer"}
	maps.Copy(members, i.members)
	answers := map[string]http.HandlerFunc{
		"/token": reply(http.StatusOK, marshal(t, members)), "/keys": reply(http.StatusOK, cmp.Or(i.keys, keySet(t))),
	}
	if i.userinfo != "" {
		answers["/userinfo"] = reply(http.StatusOK, i.userinfo)
	}
	e := newEHR(t, answers)
	grant := flow.Grant{
		Attempt: flow.Attempt{
			Server: flow.Server{
				TokenEndpoint: e.URL + "/token", Issuer: "https://ehr.example", KeySet: e.URL + "/keys",
				FHIRBase: e.URL + "/r4",
			},
			Client:  flow.Client{ClientID: "client"},
			Secrets: flow.Secrets{NonceHash: flow.HashNonce(nonce)},
		},
		Code: secret.New("code"), Verifier: secret.New("verifier"),
	}
	if i.userinfo != "" {
		grant.Attempt.Userinfo = e.URL + "/userinfo"
	}
	if i.nameless {
		grant.Attempt.Issuer = ""
	}
	if i.keyless {
		grant.Attempt.KeySet = ""
	}
	set, err := portal(doer(), time.Now, public{}).Exchange(t.Context(), grant)
	return set, e, err
}

func TestExchangeVerifiesIDTokenWithEveryAcceptedAlgorithm(t *testing.T) {
	t.Parallel()
	for alg, by := range map[string]string{"RS256": "rsa", "RS384": "rsa", "ES256": "p256", "ES384": "p384"} {
		for _, header := range []map[string]any{{"alg": alg, "kid": by, "typ": "JWT"}, {"alg": alg}} {
			set, _, err := identification{members: map[string]any{"id_token": sign(t, by, header, claims(nil))}}.exchange(t)
			if err != nil || set.PatientID.Reveal() != "of-id-token" {
				t.Errorf("%v: patient %q, %v", header, set.PatientID.Reveal(), err)
			}
		}
	}
}

func TestExchangeFailsWhenIDTokenIsForged(t *testing.T) {
	t.Parallel()
	good := func(header map[string]any) string { return sign(t, "rsa", header, claims(nil)) }
	header := map[string]any{"alg": "RS256", "kid": "rsa"}
	parts := strings.Split(good(header), ".")
	body := encode([]byte(marshal(t, claims(nil))))
	mac := func(key string) string {
		signed := encode([]byte(`{"alg":"HS256","kid":"rsa"}`)) + "." + body
		sum := hmac.New(sha256.New, []byte(key))
		sum.Write([]byte(signed))
		return signed + "." + encode(sum.Sum(nil))
	}
	modulus, _ := signers()["rsa"].jwk["n"].(string)
	for name, token := range map[string]string{
		"alg none":                     encode([]byte(`{"alg":"none"}`)) + "." + body + ".",
		"alg None":                     encode([]byte(`{"alg":"None"}`)) + "." + body + ".",
		"no alg":                       encode([]byte(`{"kid":"rsa"}`)) + "." + body + "." + parts[2],
		"no signature":                 parts[0] + "." + parts[1] + ".",
		"the public key as a secret":   mac(modulus),
		"the key set's symmetric key":  mac("secret"),
		"another algorithm's name":     encode([]byte(`{"alg":"RS384","kid":"rsa"}`)) + "." + parts[1] + "." + parts[2],
		"an RSA algorithm, an EC key":  encode([]byte(`{"alg":"ES256","kid":"rsa"}`)) + "." + parts[1] + "." + parts[2],
		"an EC algorithm, an RSA key":  encode([]byte(`{"alg":"RS256","kid":"p256"}`)) + "." + parts[1] + "." + parts[2],
		"a curve of another algorithm": sign(t, "p256", map[string]any{"alg": "ES384", "kid": "p256"}, claims(nil)),
		"PSS":                          good(map[string]any{"alg": "PS256", "kid": "rsa"}),
		"a critical header": good(map[string]any{
			"alg": "RS256", "kid": "rsa", "crit": []string{"b64"},
			"b64": false,
		}),
		"a kid that is not there": good(map[string]any{"alg": "RS256", "kid": "rotated away"}),
		"another key's kid":       good(map[string]any{"alg": "RS256", "kid": "short"}),
		"a stranger's key":        sign(t, "other", map[string]any{"alg": "RS256", "kid": "rsa"}, claims(nil)),
		"a key of its own": sign(t, "other",
			map[string]any{"alg": "RS256", "kid": "other", "jwk": signers()["other"].jwk}, claims(nil)),
		"a short key": sign(t, "short", map[string]any{"alg": "RS256", "kid": "short"}, claims(nil)),
		"other claims": parts[0] + "." + encode([]byte(marshal(t, claims(map[string]any{"sub": "x"})))) +
			"." + parts[2],
		"a signature with padding":     good(header) + "=",
		"a signature with a line feed": good(header) + "\n",
		"two parts":                    parts[0] + "." + parts[1],
		"five parts":                   good(header) + ".a.b",
		"no JSON":                      "a.b.c",
		"null":                         encode([]byte(`null`)) + "." + body + "." + parts[2],
		"a huge token":                 sign(t, "rsa", header, claims(map[string]any{"x": strings.Repeat("x", 64<<10)})),
		"another sign-in's nonce":      sign(t, "rsa", header, claims(map[string]any{"nonce": "of another"})),
		"a nonce of another type":      sign(t, "rsa", header, claims(map[string]any{"nonce": []string{nonce}})),
		"the nonce's hash":             sign(t, "rsa", header, claims(map[string]any{"nonce": flow.HashNonce(nonce)})),
		"an empty nonce":               sign(t, "rsa", header, claims(map[string]any{"nonce": ""})),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, _, err := identification{members: map[string]any{"id_token": token, "patient": "of-answer"}}.exchange(t)
			if err == nil || !set.AccessToken.Empty() {
				t.Fatalf("it was accepted: patient %q", set.PatientID.Reveal())
			}
			for _, private := range []string{"of-id-token", nonce, "user-1", "opaque"} {
				if strings.Contains(err.Error(), private) {
					t.Errorf("the error names %q: %v", private, err)
				}
			}
		})
	}
}

func TestExchangeIgnoresUnverifiableIDToken(t *testing.T) {
	t.Parallel()
	header := map[string]any{"alg": "RS256", "kid": "rsa"}
	signed := func(changes map[string]any) identification {
		return identification{members: map[string]any{"id_token": sign(t, "rsa", header, claims(changes))}}
	}
	keys := func(document string) identification {
		i := signed(nil)
		i.keys = document
		return i
	}
	keyless := signed(nil)
	keyless.keyless = true
	nameless := signed(nil)
	nameless.nameless = true
	anonymous := signed(map[string]any{"iss": nil})
	anonymous.nameless = true
	for name, i := range map[string]identification{
		"none": {},
		"encrypted": {members: map[string]any{"id_token": encode(
			[]byte(`{"alg":"dir","enc":"A128CBC-HS256"}`)) + "..a.b.c"}},
		"of another type":     {members: map[string]any{"id_token": 7}},
		"another issuer":      signed(map[string]any{"iss": "https://ehr.example/"}),
		"another client":      signed(map[string]any{"aud": "client2"}),
		"two in one":          signed(map[string]any{"aud": "client client2"}),
		"others":              signed(map[string]any{"aud": []string{"a", "b"}}),
		"nobody":              signed(map[string]any{"aud": nil}),
		"made for another":    signed(map[string]any{"aud": []string{"client", "b"}, "azp": "b"}),
		"expired":             signed(map[string]any{"exp": time.Now().Add(-2 * time.Minute).Unix()}),
		"without expiry":      signed(map[string]any{"exp": nil}),
		"with endless expiry": signed(map[string]any{"exp": 1e300}),
		"without nonce":       signed(map[string]any{"nonce": nil}),
		"no address of keys":  keyless,
		"no issuer known":     nameless,
		"no issuer at all":    anonymous,
		"a page for keys":     keys("<html></html>"),
		"no set for keys":     keys(`{"keys":7}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, _, err := i.exchange(t)
			if err != nil || !set.PatientID.Empty() || set.AccessToken.Reveal() != "opaque" {
				t.Errorf("patient %q, %v; want a connection without one", set.PatientID.Reveal(), err)
			}
		})
	}
}

func TestPatientIDUsesSourceWithHighestPrecedence(t *testing.T) {
	t.Parallel()
	identity := func(changes map[string]any) string {
		return sign(t, "rsa", map[string]any{"alg": "RS256"}, claims(changes))
	}
	access := func(claims string) string {
		return encode([]byte(`{"alg":"none"}`)) + "." + encode([]byte(claims)) + "."
	}
	const userinfo = `{"sub":"user-1","patient":"of-userinfo"}`
	full := map[string]any{"id_token": identity(nil), "patient": "Patient/of-answer"}
	identified := map[string]any{"id_token": identity(nil)}
	practitioner := map[string]any{"id_token": identity(map[string]any{"fhirUser": "Practitioner/7"})}
	for name, test := range map[string]struct {
		identification

		want  string
		asked bool // whether userinfo was requested
	}{
		"the answer first": {identification{
			members: full, access: access(`{"patient":"of-access"}`),
			userinfo: userinfo,
		}, "of-answer", false},
		"then the id_token": {identification{
			members: identified, access: access(`{"patient":"of-access"}`),
			userinfo: userinfo,
		}, "of-id-token", false},
		"its patient before fhirUser": {identification{members: map[string]any{"id_token": identity(
			map[string]any{"patient": "of-claim"})}}, "of-claim", false},
		"a relative fhirUser": {identification{members: map[string]any{"id_token": identity(
			map[string]any{"fhirUser": "Patient/7"})}}, "7", false},
		"a list of audiences": {identification{members: map[string]any{"id_token": identity(
			map[string]any{"aud": []string{"b", "client"}})}}, "of-id-token", false},
		"expired a moment ago": {identification{members: map[string]any{"id_token": identity(
			map[string]any{"exp": time.Now().Add(-10 * time.Second).Unix()})}}, "of-id-token", false},
		"then the access token": {identification{
			members: practitioner, access: access(`{"patient":"of-access"}`),
			userinfo: userinfo,
		}, "of-access", false},
		"as Veradigm names it": {identification{access: access(`{"local_patient_id":"local-7"}`)}, "local-7", false},
		"then userinfo": {
			identification{members: practitioner, access: access(`[]`), userinfo: userinfo},
			"of-userinfo", true,
		},
		"userinfo without id_token": {identification{userinfo: `{"fhirUser":"https://x.example/Patient/8"}`}, "8", true},
		"of another subject": {identification{
			members:  practitioner,
			userinfo: `{"sub":"user-2","patient":"of-userinfo"}`,
		}, "", true},
		"without a subject": {identification{
			members:  practitioner,
			userinfo: `{"patient":"of-userinfo"}`,
		}, "", true},
		"no valid ids anywhere": {identification{
			members: map[string]any{"patient": "../x"},
			access:  access(`{"patient":"a b"}`), userinfo: `{"fhirUser":"xPatient/7"}`,
		}, "", true},
		"a page for userinfo": {identification{userinfo: `<html></html>`}, "", true},
		"nobody tells":        {identification{}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, e, err := test.exchange(t)
			if err != nil || set.PatientID.Reveal() != test.want {
				t.Errorf("patient %q, %v; want %q", set.PatientID.Reveal(), err, test.want)
			}
			asked := false
			for _, r := range e.requests() {
				shown := r.Header.Get("Authorization")
				asked = asked || r.URL.Path == "/userinfo"
				entitled := r.URL.Path == "/userinfo" || r.URL.Path == "/r4/Patient"
				if entitled && shown != "Bearer "+set.AccessToken.Reveal() || !entitled && shown != "" {
					t.Errorf("%s was shown %q", r.URL.Path, shown)
				}
			}
			if asked != test.asked {
				t.Errorf("userinfo was asked: %v, want %v", asked, test.asked)
			}
		})
	}
}

func TestUserinfoRejectsRedirect(t *testing.T) {
	t.Parallel()
	evil := newEHR(t, map[string]http.HandlerFunc{"": reply(http.StatusOK, `{"patient":"7"}`)})
	e := newEHR(t, map[string]http.HandlerFunc{
		"/token":    reply(http.StatusOK, `{"access_token":"a"}`),
		"/userinfo": reply(http.StatusFound, "", "Location", evil.URL),
	})
	set, err := portal(doer(), time.Now, public{}).Exchange(t.Context(), flow.Grant{
		Attempt: flow.Attempt{
			Server: flow.Server{TokenEndpoint: e.URL + "/token", Userinfo: e.URL + "/userinfo"},
		},
	})
	if err != nil || !set.PatientID.Empty() || len(evil.requests()) != 0 {
		t.Errorf("patient %q, %v, %d requests at the other server", set.PatientID.Reveal(), err, len(evil.requests()))
	}
}
