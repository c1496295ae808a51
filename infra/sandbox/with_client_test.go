package sandbox_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/sandbox"
	sandboxjose "recordbridge/infra/sandbox/jose"
	"recordbridge/infra/sandbox/oauth"
)

func b64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func toJSON(t *testing.T, value any) []byte {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}

	return raw
}

type signer struct {
	algorithm string
	sign      func(digest []byte) ([]byte, error)
	keys      []byte
}

func newECSigner(t *testing.T) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	return signer{"ES384", func(digest []byte) ([]byte, error) {
		r, s, err := ecdsa.Sign(rand.Reader, key, digest)
		if err != nil {
			return nil, err
		}

		return append(r.FillBytes(make([]byte, 48)), s.FillBytes(make([]byte, 48))...), nil
	}, keySet(t, &key.PublicKey)}
}

func newRSASigner(t *testing.T) signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}

	return signer{"RS384", func(digest []byte) ([]byte, error) {
		return rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA384, digest)
	}, keySet(t, &key.PublicKey)}
}

func keySet(t *testing.T, public any) []byte {
	t.Helper()

	return toJSON(t, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: public, KeyID: "k1"}}})
}

// assertion returns a signed client assertion for the token endpoint. header and change override its header fields and
// claims.
func (s signer) assertion(t *testing.T, p *portal, client string, header, change map[string]any) string {
	t.Helper()
	head := map[string]any{"alg": s.algorithm, "kid": "k1", "typ": "JWT"}
	maps.Copy(head, header)
	claims := map[string]any{
		"iss": client, "sub": client, "aud": p.base + "/oauth/token", "exp": p.clock.Load() + 240,
		"jti": strconv.FormatInt(time.Now().UnixNano(), 36) + t.Name(),
	}
	maps.Copy(claims, change)
	signed := b64(toJSON(t, head)) + "." + b64(toJSON(t, claims))
	digest := sha512.Sum384([]byte(signed))
	signature, err := s.sign(digest[:])
	if err != nil {
		t.Fatal(err)
	}

	return signed + "." + b64(signature)
}

func withAssertion(form url.Values, assertion string) url.Values {
	form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	form.Set("client_assertion", assertion)

	return form
}

func TestTokenEndpointAcceptsPrivateKeyJWT(t *testing.T) {
	t.Parallel()
	for _, key := range []signer{newECSigner(t), newRSASigner(t)} {
		keys, err := sandboxjose.ParseKeySet(key.keys)
		if err != nil {
			t.Fatal(err)
		}
		p := newPortal(t, func(d *sandbox.Deps) {
			d.Clients = append(d.Clients, oauth.Client{ID: "keyed", Keys: keys, RedirectURIs: []string{redirectURI}})
		})
		bySwitch := p.with(t, "client-auth:private_key_jwt,jwks:"+b64(key.keys))
		for client, there := range map[string]*portal{"keyed": p, clientID: bySwitch} {
			form := exchangeForm(there.code("alder-maple", "client_id", client), "client_id", "")
			got := there.tokens(there.post("/oauth/token", withAssertion(form, key.assertion(t, there, client, nil, nil))))
			refresh := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}}
			wantError(t, there.post("/oauth/token", withAssertion(maps.Clone(refresh), "")), 401, "invalid_client")
			there.tokens(there.post("/oauth/token", withAssertion(refresh, key.assertion(t, there, client, nil, nil))))
			methods, _ := there.discovery()["token_endpoint_auth_methods_supported"].([]any)
			if !slices.Contains(methods, any("private_key_jwt")) || there == bySwitch && len(methods) != 1 {
				t.Errorf("methods = %v", methods)
			}
		}
		wantError(t, p.post("/oauth/token", exchangeForm("x", "client_id", "keyed")), 401, "invalid_client")
	}
}

func TestTokenEndpointRejectsInvalidClientAssertion(t *testing.T) {
	t.Parallel()
	p, key := newPortal(t), newECSigner(t)
	there := p.with(t, "client-auth:private_key_jwt,jwks:"+b64(key.keys))
	now := there.clock.Load()
	for name, c := range map[string]struct{ header, claims map[string]any }{
		"other issuer":   {nil, map[string]any{"iss": "second-app"}},
		"other client":   {nil, map[string]any{"sub": "second-app", "iss": "second-app"}},
		"wrong audience": {nil, map[string]any{"aud": p.base + "/oauth/token"}},
		"expired":        {nil, map[string]any{"exp": now - 60}},
		"lives too long": {nil, map[string]any{"exp": now + 600}},
		"no exp":         {nil, map[string]any{"exp": nil}},
		"no jti":         {nil, map[string]any{"jti": ""}},
		"unknown kid":    {map[string]any{"kid": "k2"}, nil},
		"other type":     {map[string]any{"typ": "at+jwt"}, nil},
		"no algorithm":   {map[string]any{"alg": "none"}, nil},
		"HMAC":           {map[string]any{"alg": "HS256"}, nil},
		"other family":   {map[string]any{"alg": "RS384"}, nil},
	} {
		form := withAssertion(exchangeForm(there.code("alder-maple")), key.assertion(t, there, clientID, c.header, c.claims))
		if a := there.post("/oauth/token", form); a.status != http.StatusUnauthorized ||
			a.json(t)["error"] != "invalid_client" {
			t.Errorf("%s: got %d %s, want 401 invalid_client", name, a.status, a.body)
		}
	}
	other := newECSigner(t)
	form := withAssertion(exchangeForm(there.code("alder-maple")), other.assertion(t, there, clientID, nil, nil))
	wantError(t, there.post("/oauth/token", form), 401, "invalid_client")
	assertion := key.assertion(t, there, clientID, nil, nil)
	there.tokens(there.post("/oauth/token", withAssertion(exchangeForm(there.code("alder-maple")), assertion)))
	wantError(t, there.post("/oauth/token", withAssertion(exchangeForm(there.code("alder-maple")), assertion)), 401,
		"invalid_client")
	form.Set("client_assertion_type", "urn:other")
	wantError(t, there.post("/oauth/token", form), 400, "invalid_request")
	form = withAssertion(exchangeForm("x", "client_secret", "y"), assertion)
	wantError(t, there.post("/oauth/token", form), 400, "invalid_request")
}

func TestClientAuthSwitchRequiresAuthenticationMethod(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(clientID+":hush"))
	present := map[string]func(there *portal, code string) answer{
		"none": func(there *portal, code string) answer { return there.post("/oauth/token", exchangeForm(code)) },
		"client_secret_post": func(there *portal, code string) answer {
			return there.post("/oauth/token", exchangeForm(code, "client_secret", "hush"))
		},
		"client_secret_basic": func(there *portal, code string) answer {
			return there.post("/oauth/token", exchangeForm(code, "client_id", ""), "Authorization", basic)
		},
	}
	for demanded := range present {
		spec := "client-auth:" + demanded
		if demanded != "none" {
			spec += ",client-secret:hush"
		}
		there := p.with(t, spec)
		if diff := cmp.Diff([]any{demanded}, there.discovery()["token_endpoint_auth_methods_supported"]); diff != "" {
			t.Errorf("%s: methods (-want +got):\n%s", demanded, diff)
		}
		for used, post := range present {
			a := post(there, there.code("alder-maple"))
			if accepted := a.status == http.StatusOK; accepted != (used == demanded) {
				t.Errorf("%s where %s is demanded: %d %s", used, demanded, a.status, a.body)
			}
		}
	}
}

func TestBasicAuthSecretIsURLDecodedUnlessRawSwitchIsSet(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for spec, sent := range map[string]string{
		"client-secret:hush=x":           "hush%3Dx",
		"client-secret:hush=x,basic-raw": "hush=x",
	} {
		there := p.with(t, spec)
		for _, secret := range []string{"hush%3Dx", "hush=x"} {
			// Both portals accept the secret without form-encoding, because URL decoding does not change an equals
			// sign.
			basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(clientID+":"+secret))
			a := there.post("/oauth/token", exchangeForm(there.code("alder-maple"), "client_id", ""), "Authorization", basic)
			if accepted := a.status == http.StatusOK; accepted != (secret == sent || secret == "hush=x") {
				t.Errorf("%s with %s: %d %s", spec, secret, a.status, a.body)
			}
		}
	}
}

func TestIDTokenSwitchSignsOrCorruptsIDToken(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for flaw, bad := range map[string]string{
		"signed": "", "wrong-nonce": "nonce", "bad-signature": "signature", "expired": "exp", "wrong-aud": "aud",
		"wrong-issuer": "iss",
	} {
		there, got := p.tokenAnswer(t, "id-token:"+flaw, "scope", "openid fhirUser patient/*.rs", "nonce", "n-1")
		if got["scope"] != "patient/*.rs openid fhirUser" {
			t.Errorf("%s: scope = %v", flaw, got["scope"])
		}
		token, _ := got["id_token"].(string)
		claims, signed := there.idToken(token)
		exp, _ := claims["exp"].(float64)
		for check, fine := range map[string]bool{
			"signature": signed, "nonce": claims["nonce"] == "n-1", "aud": claims["aud"] == clientID,
			"iss": claims["iss"] == there.base, "exp": int64(exp) > there.clock.Load(),
		} {
			if fine != (check != bad) {
				t.Errorf("%s: %s is fine: %t", flaw, check, fine)
			}
		}
	}
	if _, got := p.tokenAnswer(t, "id-token:signed"); got["id_token"] != nil {
		t.Error("an id_token nobody asked for")
	}
	if a := p.get(p.base + "/oauth/jwks"); a.status != http.StatusNotFound {
		t.Errorf("keys of a portal that signs nothing: %d, want 404", a.status)
	}
}

// idToken returns the claims of an id_token. signed reports whether the portal's published key verifies the signature.
func (p *oauthClient) idToken(token string) (claims map[string]any, signed bool) {
	p.t.Helper()
	var set jose.JSONWebKeySet
	address, _ := p.discovery()["jwks_uri"].(string)
	if err := json.Unmarshal(p.get(address).body, &set); err != nil || len(set.Keys) != 1 {
		p.t.Fatalf("jwks_uri: %v", err)
	}
	parsed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		p.t.Fatalf("no JWT: %q", token)
	}
	if err = json.Unmarshal(parsed.UnsafePayloadWithoutVerification(), &claims); err != nil {
		p.t.Fatal(err)
	}
	_, err = parsed.Verify(set.Keys[0])

	return claims, err == nil
}

func TestPatientSwitchesMovePatientIDToOtherClaims(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there, got := p.tokenAnswer(t, "patient-fhiruser")
	token, _ := got["id_token"].(string)
	claims, signed := there.idToken(token)
	if want := there.fhir + "/Patient/patient-alder-maple"; !signed || claims["fhirUser"] != want ||
		got["patient"] != nil {
		t.Errorf("fhirUser = %v, patient = %v, want %s only", claims["fhirUser"], got["patient"], want)
	}
	there, got = p.tokenAnswer(t, "patient-jwt")
	access, _ := got["access_token"].(string)
	parts := strings.Split(access, ".")
	if len(parts) != 3 || got["patient"] != nil {
		t.Fatalf("access token %q, patient %v", access, got["patient"])
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || !strings.Contains(string(raw), `"local_patient_id":"patient-alder-maple"`) {
		t.Errorf("claims = %s, %v", raw, err)
	}
	if a := there.read(access, "Goal"); a.status != http.StatusOK {
		t.Errorf("reading with the JWT: %d, want 200", a.status)
	}
	there, got = p.tokenAnswer(t, "patient-userinfo")
	access, _ = got["access_token"].(string)
	address, _ := there.discovery()["userinfo_endpoint"].(string)
	if a := there.get(address, "Authorization", "Bearer "+access); got["patient"] != nil ||
		a.json(t)["patient"] != "patient-alder-maple" {
		t.Errorf("userinfo: %d %s, patient = %v", a.status, a.body, got["patient"])
	}
	if a := there.get(address, "Authorization", "Bearer made-up"); a.status != http.StatusUnauthorized {
		t.Errorf("userinfo with a made-up token: %d, want 401", a.status)
	}
	if a := p.get(p.base+"/oauth/userinfo", "Authorization", "Bearer "+access); a.status != http.StatusNotFound {
		t.Errorf("userinfo of a portal without it: %d, want 404", a.status)
	}
}
