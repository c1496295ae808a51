package udap_test

import (
	"crypto/elliptic"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/tefca"
	"recordbridge/shared/words/fault"
)

func header(chain []string) map[jose.HeaderKey]any { return map[jose.HeaderKey]any{"x5c": chain} }

func TestDiscoverAcceptsTrustedMetadata(t *testing.T) {
	t.Parallel()
	c := newCommunity(t)
	elsewhere := map[string]any{
		"token_endpoint":        "https://Auth.example:443/t?x=1",
		"registration_endpoint": "https://auth.example/r",
	}
	onCurve := made(t, c.between, curve(t, elliptic.P256()), named(base))
	for name, test := range map[string]struct {
		token   string
		origins []string
		want    string
	}{
		"whole chain": {signed(t, jose.RS256, c.server.key, header(x5c(c.server, c.between, c.anchor)),
			claims(nil)), nil, "https://ehr.example/token"},
		"without the anchor": {
			signed(t, jose.RS256, c.server.key, header(x5c(c.server, c.between)), claims(nil)), nil,
			"https://ehr.example/token",
		},
		"ES256": {
			signed(t, jose.ES256, onCurve.key, header(x5c(onCurve, c.between)), claims(nil)), nil,
			"https://ehr.example/token",
		},
		"origins that are known": {
			signed(t, jose.RS256, c.server.key, header(x5c(c.server, c.between)), claims(elsewhere)),
			[]string{"https://auth.example"},
			"https://Auth.example:443/t?x=1",
		},
		"a clock that is ahead": {signed(t, jose.RS256, c.server.key, header(x5c(c.server, c.between)),
			claims(map[string]any{"iat": now.Add(time.Minute).Unix()})), nil, "https://ehr.example/token"},
		"a second before its end": {signed(t, jose.RS256, c.server.key, header(x5c(c.server, c.between)),
			claims(map[string]any{"exp": now.Unix() + 1})), nil, "https://ehr.example/token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doer := &answers{status: http.StatusOK, body: metadata(t, test.token, nil)}
			server, err := client(t, c.anchor, doer).Discover(t.Context(), base, test.origins)
			if err != nil || server.Token != test.want || server.Base != base ||
				!slices.Contains(server.Extensions, "tefca_ias") {
				t.Errorf("%+v, %v", server, err)
			}
			if doer.asked[0].URL.String() != base+"/.well-known/udap" || doer.asked[0].Header.Get("Authorization") != "" {
				t.Errorf("asked %s", doer.asked[0].URL)
			}
		})
	}
}

// TestDiscoverRejectsForgedMetadata checks forgeries that would succeed against a client that omits the check named in
// the test case.
func TestDiscoverRejectsForgedMetadata(t *testing.T) {
	t.Parallel()
	c := newCommunity(t)
	strangers := newCommunity(t)
	public, err := x509.MarshalPKIXPublicKey(c.server.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	good := x5c(c.server, c.between)
	leaf := func(by holder, change func(*x509.Certificate)) holder {
		return made(t, by, keys().server, func(x *x509.Certificate) { named(base)(x); change(x) })
	}
	by := func(h holder) string {
		return signed(t, jose.RS256, h.key, header(x5c(h, c.between)), claims(nil))
	}
	onP384 := made(t, c.between, curve(t, elliptic.P384()), named(base))
	short := made(t, c.between, keys().short, named(base))
	with := func(chain []string) string { return signed(t, jose.RS256, c.server.key, header(chain), claims(nil)) }
	own := jose.JSONWebKey{Key: keys().other.Public(), KeyID: "1"}
	for name, test := range map[string]struct{ token, class string }{
		"of another community": {signed(t, jose.RS256, strangers.server.key,
			header(x5c(strangers.server, strangers.between, strangers.anchor)), claims(nil)), "certificate_trust"},
		"signed by itself":       {by(made(t, holder{}, keys().server, named(base))), "certificate_chain"},
		"signed by itself alone": {alone(t), "certificate_trust"},
		"of another host": {
			by(made(t, c.between, keys().server, named("https://other.example/fhir"))),
			"certificate_subject",
		},
		"of a host that begins so": {by(made(t, c.between, keys().server, named(base+"/more"))), "certificate_subject"},
		"of a host in another field": {
			by(made(t, c.between, keys().server,
				func(x *x509.Certificate) { x.DNSNames, x.Subject.CommonName = []string{"ehr.example"}, base })),
			"certificate_subject",
		},
		"expired": {by(leaf(c.between,
			func(x *x509.Certificate) { x.NotAfter = now.Add(-time.Second) })), "certificate_trust"},
		"of tomorrow": {by(leaf(c.between,
			func(x *x509.Certificate) { x.NotBefore = now.Add(time.Minute) })), "certificate_trust"},
		"by an authority itself": {by(leaf(c.between,
			func(x *x509.Certificate) { authority(x); x.KeyUsage |= x509.KeyUsageDigitalSignature })), "certificate_trust"},
		"by a certificate for TLS keys": {by(leaf(c.between,
			func(x *x509.Certificate) { x.KeyUsage = x509.KeyUsageKeyEncipherment })), "certificate_trust"},
		"below a member, not authority": {signed(t, jose.RS256, keys().other,
			header(x5c(made(t, c.server, keys().other, named(base)), c.server, c.between)), claims(nil)), "certificate_chain"},
		"signed with another key":    {signed(t, jose.RS256, keys().other, header(good), claims(nil)), "jwt"},
		"signed with the public key": {signed(t, jose.HS256, public, header(good), claims(nil)), "jwt"},
		"signed with PS256":          {signed(t, jose.PS256, c.server.key, header(good), claims(nil)), "jwt"},
		"not signed":                 {none(t, good), "jwt"},
		"with a key in its header": {signed(t, jose.RS256, keys().other,
			map[jose.HeaderKey]any{"x5c": good, "jwk": own}, claims(nil)), "jwt"},
		"on another curve": {signed(t, jose.ES384, onP384.key, header(x5c(onP384, c.between)),
			claims(nil)), "jwt"},
		"with a short key":         {by(short), "certificate_trust"},
		"without x5c":              {signed(t, jose.RS256, c.server.key, nil, claims(nil)), "certificate_chain"},
		"with an empty x5c":        {with([]string{}), "certificate_chain"},
		"with another certificate": {with(append(slices.Clone(good), x5c(strangers.anchor)...)), "certificate_chain"},
		"with another certificate first": {
			signed(t, jose.RS256, keys().other,
				header(append(x5c(made(t, strangers.between, keys().other, named(base))), good...)), claims(nil)),
			"certificate_chain",
		},
		"with a certificate twice": {with([]string{good[0], good[0], good[1]}), "certificate_chain"},
		"in the wrong order":       {with([]string{good[1], good[0]}), "certificate_chain"},
		"with junk behind a certificate": {
			with(
				[]string{base64.StdEncoding.EncodeToString(append(slices.Clone(c.server.certificate.Raw), 0)), good[1]}),
			"certificate_chain",
		},
		"with what is no certificate": {with([]string{good[0], good[1], "AAAA"}), "certificate_chain"},
		"no JWT":                      {"a.b.c", "jwt"},
		"nothing":                     {"", "metadata"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doer := &answers{status: http.StatusOK, body: metadata(t, test.token, nil)}
			_, err := client(t, c.anchor, doer).Discover(t.Context(), base, nil)
			if !errors.Is(err, tefca.ErrContent) || fault.SpotOf(err).Class != test.class ||
				fault.SpotOf(err).Host != "ehr.example" {
				t.Errorf("%v, class %q, want %q", err, fault.SpotOf(err).Class, test.class)
			}
		})
	}
}

// alone returns metadata signed with a self-signed certificate, which is untrusted.
func alone(t *testing.T) string {
	t.Helper()
	self := made(t, holder{}, keys().server, named(base))
	return signed(t, jose.RS256, self.key, header(x5c(self)), claims(nil))
}

// none returns metadata as a JWT with the algorithm "none".
func none(t *testing.T, chain []string) string {
	t.Helper()
	head, err := json.Marshal(map[string]any{"alg": "none", "x5c": chain})
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(claims(nil))
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(body) + "."
}

func TestDiscoverRejectsClaimsForWrongServerOrTime(t *testing.T) {
	t.Parallel()
	c := newCommunity(t)
	for name, changes := range map[string]map[string]any{
		"another issuer":            {"iss": "https://other.example/fhir"},
		"another subject":           {"sub": "https://other.example/fhir"},
		"a base with a slash":       {"iss": base + "/", "sub": base + "/"},
		"no id":                     {"jti": nil},
		"no end":                    {"exp": nil},
		"no beginning":              {"iat": nil},
		"at its end":                {"exp": now.Unix()},
		"for two years":             {"exp": now.Add(2 * 366 * 24 * time.Hour).Unix()},
		"of in two minutes":         {"iat": now.Add(2 * time.Minute).Unix()},
		"text for a time":           {"exp": "soon"},
		"token elsewhere":           {"token_endpoint": "https://evil.example/token"},
		"registration elsewhere":    {"registration_endpoint": "https://evil.example/register"},
		"token at another port":     {"token_endpoint": "https://ehr.example:8443/token"},
		"token without TLS":         {"token_endpoint": "http://ehr.example/token"},
		"token with a user":         {"token_endpoint": "https://user@ehr.example/token"},
		"token at a user's host":    {"token_endpoint": "https://ehr.example@evil.example/token"},
		"token with a fragment":     {"token_endpoint": "https://ehr.example/token#x"},
		"a relative token endpoint": {"token_endpoint": "/token"},
		"no token endpoint":         {"token_endpoint": nil},
		"no registration endpoint":  {"registration_endpoint": nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token := signed(t, jose.RS256, c.server.key, header(x5c(c.server, c.between)), claims(changes))
			_, err := client(t, c.anchor, &answers{
				status: http.StatusOK,
				body:   metadata(t, token, nil),
			}).Discover(t.Context(), base, nil)
			if class := fault.SpotOf(err).Class; !errors.Is(err, tefca.ErrContent) || class != "metadata_claims" &&
				class != "metadata_endpoints" {
				t.Errorf("%v, class %q", err, class)
			}
		})
	}
}

func TestDiscoverRejectsUnsupportedServer(t *testing.T) {
	t.Parallel()
	c := newCommunity(t)
	token := signed(t, jose.RS256, c.server.key, header(x5c(c.server, c.between)), claims(nil))
	for name, changes := range map[string]map[string]any{
		"another version":          {"udap_versions_supported": []string{"2"}},
		"no profiles":              {"udap_profiles_supported": []string{}},
		"no client credentials":    {"grant_types_supported": []string{"authorization_code"}},
		"none of our algorithms":   {"token_endpoint_auth_signing_alg_values_supported": []string{"RS384"}},
		"a certification required": {"udap_certifications_required": []string{"https://rce.example/basic"}},
	} {
		_, err := client(t, c.anchor, &answers{
			status: http.StatusOK,
			body:   metadata(t, token, changes),
		}).Discover(t.Context(), base, nil)
		if !errors.Is(err, tefca.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDiscoverClassifiesFailures(t *testing.T) {
	t.Parallel()
	c := newCommunity(t)
	for name, test := range map[string]struct {
		doer *answers
		want error
	}{
		"no UDAP":    {&answers{status: http.StatusNotFound}, tefca.ErrRefused},
		"not for us": {&answers{status: http.StatusNoContent}, tefca.ErrContent},
		"a redirect": {
			&answers{status: http.StatusFound, header: http.Header{"Location": {"https://evil.example/"}}},
			tefca.ErrContent,
		},
		"trouble":       {&answers{status: http.StatusBadGateway}, tefca.ErrUnavailable},
		"too many":      {&answers{status: http.StatusTooManyRequests}, tefca.ErrUnavailable},
		"a page":        {&answers{status: http.StatusOK, body: "<html>"}, tefca.ErrContent},
		"too much":      {&answers{status: http.StatusOK, body: strings.Repeat(" ", 300<<10)}, tefca.ErrTooLarge},
		"no connection": {&answers{fails: &safehttp.Error{Class: safehttp.TLS}}, tefca.ErrUnavailable},
		"anything else": {&answers{fails: errors.New("https://ehr.example/?name=sentinel")}, tefca.ErrUnavailable},
	} {
		_, err := client(t, c.anchor, test.doer).Discover(t.Context(), base, nil)
		if !errors.Is(err, test.want) || len(test.doer.asked) != 1 || strings.Contains(err.Error(), "sentinel") {
			t.Errorf("%s: %v after %d requests", name, err, len(test.doer.asked))
		}
	}
}
