package udap_test

import (
	"crypto/elliptic"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/facilitated/udap"
	"recordbridge/shared/words/secret"
)

var server = udap.Server{Base: base, Token: "https://ehr.example/token", Registration: "https://ehr.example/register"}

// said verifies a client's JWT with the certificate in the JWT's header, and returns the header and the claims.
func said(t *testing.T, token string) (header, claims map[string]any) {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[0])
	if err != nil || json.Unmarshal(raw, &header) != nil {
		t.Fatal(token, err)
	}
	chain, _ := header["x5c"].([]any)
	first, _ := chain[0].(string)
	der, err := base64.StdEncoding.DecodeString(first)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	object, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	payload, err := object.Verify(certificate.PublicKey)
	if err != nil || json.Unmarshal(payload, &claims) != nil {
		t.Fatal(err)
	}
	delete(header, "x5c")
	return header, claims
}

func TestRegisterSendsSoftwareStatement(t *testing.T) {
	t.Parallel()
	doer := &answers{status: http.StatusCreated, body: `{"client_id":"c-1","grant_types":["client_credentials"]}`}
	us := udap.Application{Name: "App", Contacts: []string{"mailto:a@us.example"}, Scope: "patient/*.read"}
	id, err := client(t, newCommunity(t).anchor, doer).Register(t.Context(), server, us)
	if err != nil || id != "c-1" {
		t.Fatalf("%q, %v", id, err)
	}
	var body struct {
		Statement      string   `json:"software_statement"`
		Certifications []string `json:"certifications"`
		UDAP           string   `json:"udap"`
	}
	if json.Unmarshal([]byte(doer.sent[0]), &body) != nil || body.UDAP != "1" || body.Certifications == nil {
		t.Errorf("sent %s", doer.sent[0])
	}
	header, claims := said(t, body.Statement)
	want := map[string]any{
		"iss": ourID, "sub": ourID, "aud": server.Registration, "jti": "id-1", "iat": float64(now.Unix()),
		"exp":         float64(now.Add(4 * time.Minute).Unix()),
		"client_name": "App", "contacts": []any{"mailto:a@us.example"}, "grant_types": []any{"client_credentials"},
		"token_endpoint_auth_method": "private_key_jwt", "scope": "patient/*.read",
	}
	if diff := cmp.Diff([]any{map[string]any{"alg": "ES256"}, want}, []any{header, claims}); diff != "" {
		t.Errorf("header and claims (-want +got):\n%s", diff)
	}
}

func TestRegisterClassifiesFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		body   string
		want   error
	}{
		"refused":        {http.StatusBadRequest, `{"error":"unapproved_software_statement"}`, tefca.ErrRefused},
		"no id":          {http.StatusCreated, `{}`, tefca.ErrContent},
		"an odd id":      {http.StatusCreated, `{"client_id":"a b"}`, tefca.ErrContent},
		"a long id":      {http.StatusCreated, `{"client_id":"` + strings.Repeat("a", 600) + `"}`, tefca.ErrContent},
		"cancelled":      {http.StatusOK, `{"client_id":"a","grant_types":[]}`, tefca.ErrContent},
		"a redirect":     {http.StatusPermanentRedirect, `{"client_id":"a"}`, tefca.ErrContent},
		"not for now":    {http.StatusServiceUnavailable, ``, tefca.ErrUnavailable},
		"a page of HTML": {http.StatusOK, `<html>`, tefca.ErrContent},
	} {
		_, err := client(t, newCommunity(t).anchor, &answers{status: test.status, body: test.body}).Register(t.Context(),
			server, udap.Application{})
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAccessTokenAssertionIsBoundToTokenEndpoint(t *testing.T) {
	t.Parallel()
	doer := &answers{
		status: http.StatusOK,
		body:   `{"access_token":"a","token_type":"Bearer","expires_in":600,"scope":"patient/Patient.r","patient":"p"}`,
	}
	us := client(t, newCommunity(t).anchor, doer)
	granted, err := us.AccessToken(t.Context(), server, "c-1", "patient/*.read",
		map[string]any{"tefca_ias": map[string]any{"version": "1"}})
	if err != nil || granted.Access.Reveal() != "a" || granted.Scope != "patient/Patient.r" || granted.Patient != "p" ||
		granted.Life != 10*time.Minute {
		t.Errorf("%+v, %v", granted, err)
	}
	form, err := url.ParseQuery(doer.sent[0])
	if err != nil || doer.asked[0].URL.String() != server.Token || doer.asked[0].Header.Get("Authorization") != "" {
		t.Fatalf("sent %s to %s, %v", doer.sent[0], doer.asked[0].URL, err)
	}
	_, claims := said(t, form.Get("client_assertion"))
	form.Del("client_assertion")
	want := url.Values{
		"grant_type": {"client_credentials"}, "scope": {"patient/*.read"}, "udap": {"1"},
		"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
	}
	wantClaims := map[string]any{
		"iss": "c-1", "sub": "c-1", "aud": server.Token, "jti": "id-1", "iat": float64(now.Unix()),
		"exp":        float64(now.Add(4 * time.Minute).Unix()),
		"extensions": map[string]any{"tefca_ias": map[string]any{"version": "1"}},
	}
	if diff := cmp.Diff([]any{want, wantClaims}, []any{form, claims}); diff != "" {
		t.Errorf("form and claims (-want +got):\n%s", diff)
	}
}

func TestAccessTokenValidatesResponse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		body   string
		want   error
		life   time.Duration
	}{
		"for a day":               {200, `{"access_token":"a","token_type":"bearer","expires_in":86400}`, nil, time.Hour},
		"as a text":               {200, `{"access_token":"a","token_type":"bearer","expires_in":"60"}`, nil, time.Minute},
		"for how long, who knows": {200, `{"access_token":"a","token_type":"bearer","expires_in":{}}`, nil, 5 * time.Minute},
		"for less than nothing":   {200, `{"access_token":"a","token_type":"bearer","expires_in":-1}`, nil, 5 * time.Minute},
		"a patient of no form":    {200, `{"access_token":"a","token_type":"bearer","patient":"../x"}`, nil, 5 * time.Minute},
		"no token":                {200, `{"token_type":"bearer"}`, tefca.ErrContent, 0},
		"no bearer":               {200, `{"access_token":"a","token_type":"DPoP"}`, tefca.ErrContent, 0},
		"two lines":               {200, `{"access_token":"a\r\nHost: x","token_type":"bearer"}`, tefca.ErrContent, 0},
		"an error all the same": {
			200, `{"access_token":"a","token_type":"bearer","error":"invalid_grant"}`,
			tefca.ErrIdentity, 0,
		},
		"not believed":  {400, `{"error":"invalid_grant"}`, tefca.ErrIdentity, 0},
		"not let in":    {401, `{"error":"invalid_client"}`, tefca.ErrRefused, 0},
		"not even JSON": {403, `no`, tefca.ErrRefused, 0},
		"trouble":       {500, `{"error":"invalid_grant"}`, tefca.ErrUnavailable, 0},
		"elsewhere":     {307, ``, tefca.ErrContent, 0},
	} {
		us := client(t, newCommunity(t).anchor, &answers{status: test.status, body: test.body})
		granted, err := us.AccessToken(t.Context(), server, "c", "patient/*.read", nil)
		if !errors.Is(err, test.want) || granted.Life != test.life || granted.Patient != "" {
			t.Errorf("%s: %+v, %v", name, granted, err)
		}
		if test.want == nil && granted.Scope != "patient/*.read" {
			t.Errorf("%s: granted %q", name, granted.Scope)
		}
	}
}

func TestNewMemberRequiresMatchingCertificateAndKey(t *testing.T) {
	t.Parallel()
	c := newCommunity(t)
	key, onP384 := curve(t, elliptic.P256()), curve(t, elliptic.P384())
	ours := made(t, c.between, key, named(ourID))
	for name, test := range map[string]struct {
		certificates string
		key          secret.Text
		ok           bool
	}{
		"a chain": {certificatePEM(ours, c.between), keyPEM(t, key), true},
		"RSA": {
			certificatePEM(made(t, c.between, keys().other, named(ourID)), c.between),
			keyPEM(t, keys().other), true,
		},
		"another's key":      {certificatePEM(ours, c.between), keyPEM(t, keys().other), false},
		"another's name":     {certificatePEM(made(t, c.between, key, named(base))), keyPEM(t, key), false},
		"in the wrong order": {certificatePEM(c.between, ours), keyPEM(t, key), false},
		"a short key": {
			certificatePEM(made(t, c.between, keys().short, named(ourID))),
			keyPEM(t, keys().short), false,
		},
		"a key on P-384":   {certificatePEM(made(t, c.between, onP384, named(ourID))), keyPEM(t, onP384), false},
		"no certificate":   {"", keyPEM(t, key), false},
		"no key":           {certificatePEM(ours), secret.New("none"), false},
		"what is no key":   {certificatePEM(ours), secret.New(certificatePEM(ours)), false},
		"what is no chain": {certificatePEM(ours, ours), keyPEM(t, key), false},
		"a damaged other one": {
			certificatePEM(ours) + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
			keyPEM(t, key), false,
		},
	} {
		if _, err := udap.NewMember(ourID, test.certificates, test.key); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
