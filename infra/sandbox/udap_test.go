package sandbox_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/infra/sandbox"
)

func TestUDAPVerifiedPersonCanReadOwnRecord(t *testing.T) {
	t.Parallel()
	m := newPortal(t, withIdentities).join(rsaKeys()[1], memberURI)
	client := m.registered("1")
	if again := m.registered("2"); again != client {
		t.Errorf("the same client is %s and %s", client, again)
	}
	got := m.tokens(m.ask(m.signed(m.assertion(client, "3", nil))))
	if got.Patient != "patient-alder-maple" || got.Refresh != "" || got.ExpiresIn != int64(accessTTL.Seconds()) {
		t.Errorf("%+v", got)
	}
	if read := m.read(got.Access, "Patient/"+got.Patient); read.status != http.StatusOK {
		t.Errorf("the Patient: %d", read.status)
	}
	if other := m.read(got.Access, "Patient/patient-willow-ash"); other.status != http.StatusNotFound {
		t.Errorf("another Patient: %d", other.status)
	}
	nested := m.idToken(map[string]any{
		"given_name": nil, "family_name": nil, "birthdate": nil,
		"verified_claims": map[string]any{"claims": map[string]any{
			"given_name": "Alder", "family_name": "Maple",
			"birthdate": "1985-11-03",
		}},
	})
	m.tokens(m.ask(m.signed(m.assertion(client, "4", map[string]any{"extensions": m.extensions(nested)}))))
}

func TestUDAPTrustAnchorIsUniquePerStore(t *testing.T) {
	t.Parallel()
	first := newPortal(t, withIdentities)
	var shared sandbox.Deps
	second := newPortal(t, withIdentities, func(d *sandbox.Deps) { shared = *d })
	third := newPortal(t, func(d *sandbox.Deps) { base := d.BaseURL; *d = shared; d.BaseURL = base })
	anchor := func(p *portal) string { return string(p.get(p.base + "/udap/anchor").body) }
	if block, _ := pem.Decode([]byte(anchor(second))); block == nil || anchor(second) != anchor(third) ||
		anchor(first) == anchor(second) {
		t.Error("the anchors are not those of the stores")
	}
	if p := first.get(first.base + "/udap/token"); p.status != http.StatusMethodNotAllowed {
		t.Errorf("GET of the token endpoint: %d", p.status)
	}
}

func TestUDAPRejectsSoftwareStatementFromUntrustedIssuer(t *testing.T) {
	t.Parallel()
	m := newPortal(t, withIdentities).join(rsaKeys()[1], memberURI)
	stranger := newPortal(t, withIdentities).join(rsaKeys()[1], memberURI) // a member of a different trust community
	m.registered("used")
	for name, c := range map[string]struct{ statement, code string }{
		"of another community": {stranger.signed(m.statement("a", nil)), "unapproved_software_statement"},
		"of another member": {m.signed(m.statement("b",
			map[string]any{"iss": "https://x.example", "sub": "https://x.example"})), "unapproved_software_statement"},
		"unsigned": {unsigned(t, m.statement("c", nil), m.chain), "unapproved_software_statement"},
		"for another server": {
			m.signed(m.statement("d", map[string]any{"aud": m.base + "/udap/token"})),
			"invalid_software_statement",
		},
		"for too long": {
			m.signed(m.statement("e", map[string]any{"exp": m.seconds(6 * time.Minute)})),
			"invalid_software_statement",
		},
		"used before":   {m.signed(m.statement("used", nil)), "invalid_software_statement"},
		"without a jti": {m.signed(m.statement("", nil)), "invalid_software_statement"},
		"for another grant": {
			m.signed(m.statement("f", map[string]any{"grant_types": []string{"authorization_code"}})),
			"invalid_software_statement",
		},
		"without a mail": {
			m.signed(m.statement("g", map[string]any{"contacts": []string{"https://app.example"}})),
			"invalid_software_statement",
		},
		"with a place to go to": {m.signed(m.statement("h",
			map[string]any{"redirect_uris": []string{"https://app.example"}})), "invalid_software_statement"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantError(t, m.in(t).asMember(m).register(c.statement), http.StatusBadRequest, c.code)
		})
	}
}

func TestUDAPRejectsInvalidAssertion(t *testing.T) {
	t.Parallel()
	m := newPortal(t, withIdentities).join(rsaKeys()[1], memberURI)
	other := m.join(rsaKeys()[0], "https://other.example") // another member of the same trust community
	client := m.registered("1")
	m.tokens(m.ask(m.signed(m.assertion(client, "used", nil))))
	leaf, err := base64.StdEncoding.DecodeString(m.chain[0])
	if err != nil {
		t.Fatal(err)
	}
	late := map[string]any{"iat": m.seconds(-10 * time.Minute), "exp": m.seconds(-6 * time.Minute)}
	signing := func(key jose.SigningKey, header string, value any) string {
		return sign(t, key, m.assertion(client, "s", nil), header, value)
	}
	for name, assertion := range map[string]string{
		"used before":                   m.signed(m.assertion(client, "used", nil)),
		"of another member":             other.signed(m.assertion(client, "a", nil)),
		"of a client that nobody knows": m.signed(m.assertion("nobody", "b", nil)),
		"for another server": m.signed(
			m.assertion(client, "c", map[string]any{"aud": "https://x.example/token"})),
		"for too long": m.signed(
			m.assertion(client, "d", map[string]any{"exp": m.seconds(6 * time.Minute)})),
		"of before":                m.signed(m.assertion(client, "e", late)),
		"unsigned":                 unsigned(t, m.assertion(client, "f", nil), m.chain),
		"signed with a public key": signing(jose.SigningKey{Algorithm: jose.HS256, Key: leaf}, "x5c", m.chain),
		"signed with another's key": signing(jose.SigningKey{Algorithm: jose.RS256, Key: rsaKeys()[0]},
			"x5c", m.chain),
		"without a certificate": signing(jose.SigningKey{Algorithm: jose.RS256, Key: m.key}, "kid", "1"),
		"with another's certificate besides": signing(jose.SigningKey{Algorithm: jose.RS256, Key: other.key}, "x5c",
			[]string{other.chain[0], m.chain[0]}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantError(t, m.in(t).asMember(m).ask(assertion), http.StatusUnauthorized, "invalid_client")
		})
	}
	if got := m.ask(m.signed(m.assertion(client, "g", nil)), "Authorization",
		"Basic YTpi"); got.status != http.StatusBadRequest {
		t.Errorf("two proofs: %d", got.status)
	}
}

func (p *portal) asMember(m *communityMember) *communityMember {
	return &communityMember{portal: p, key: m.key, chain: m.chain}
}

func TestUDAPRejectsUnverifiedPerson(t *testing.T) {
	t.Parallel()
	m := newPortal(t, withIdentities).join(rsaKeys()[1], memberURI)
	client := m.registered("1")
	forged := sign(t, jose.SigningKey{Algorithm: jose.RS256, Key: rsaKeys()[1]}, map[string]any{
		"iss": "https://id.example", "exp": m.seconds(time.Minute), "given_name": "Alder", "family_name": "Maple",
		"birthdate": "1985-11-03",
	}, "kid", "1")
	within := func(path, member string, value any) map[string]any {
		all := m.extensions(m.idToken(nil))
		part, _ := all[path].(map[string]any)
		changed(part, map[string]any{member: value})

		return all
	}
	for name, extensions := range map[string]any{
		"forged":                      m.extensions(forged),
		"expired":                     m.extensions(m.idToken(map[string]any{"exp": m.seconds(-time.Second)})),
		"of an issuer of no standing": m.extensions(m.idToken(map[string]any{"iss": "https://x.example"})),
		"of somebody who is not here": m.extensions(m.idToken(map[string]any{"family_name": "Nobody"})),
		"another patient's words": m.extensions(
			m.idToken(map[string]any{"given_name": "Willow", "family_name": "Ash", "birthdate": "1962-08-09"})),
		"no token":   m.extensions(""),
		"nothing":    nil,
		"no purpose": within("hl7-b2b", "purpose_of_use", nil),
		"another purpose": within("hl7-b2b", "purpose_of_use",
			[]string{"urn:oid:2.16.840.1.113883.3.7204.1.5.2.1#T-TREAT"}),
		"no policy": within("tefca_ias", "consent_policy", nil),
		"a child's record": within("tefca_ias", "user_information",
			map[string]any{"resourceType": "RelatedPerson"}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			there := m.in(t).asMember(m)
			wantError(t, there.ask(there.signed(there.assertion(client, name, map[string]any{"extensions": extensions}))),
				http.StatusBadRequest, "invalid_grant")
		})
	}
}

func TestUDAPSwitchesAlterMetadataAndMatching(t *testing.T) {
	t.Parallel()
	p := newPortal(t, withIdentities)
	signed := func(how string) (claims map[string]any) {
		got := p.get(p.base + "/with/udap:" + how + "/fhir/.well-known/udap").json(t)["signed_metadata"]
		token, _ := got.(string)
		object, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.RS256})
		if err != nil {
			return nil
		}
		if err := json.Unmarshal(object.UnsafePayloadWithoutVerification(), &claims); err != nil {
			t.Fatal(err)
		}

		return claims
	}
	if signed("unsigned") != nil || signed("other-issuer")["iss"] == p.base+"/with/udap:other-issuer/fhir" ||
		signed("other-endpoints")["token_endpoint"] != "https://elsewhere.example/token" ||
		signed("slow")["iss"] != p.base+"/with/udap:slow/fhir" {
		t.Error("the metadata is not what the switches say")
	}
	there := p.join(rsaKeys()[1], memberURI)
	there.base += "/with/udap:other-patient"
	if got := there.tokens(
		there.ask(there.signed(there.assertion(there.registered("1"), "2", nil)))); got.Patient == "patient-alder-maple" {
		t.Error("the portal does not take one patient for another")
	}
}
