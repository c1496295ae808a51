package wiring_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"recordbridge/functions/tefcaworker/wiring"
	"recordbridge/infra/local/aws"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/platform/config"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/outbound"
)

type nobody struct{}

func (nobody) Do(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

// TestBuildRejectsIncompleteNetworkConfiguration also checks that the error names the network but doesn't quote the
// configuration or the secret.
func TestBuildRejectsIncompleteNetworkConfiguration(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ config, held, secret, want string }{
		"no configuration":   {"", "", "", ""},
		"no secret":          {`{"networks":{"ihe":{}}}`, "", "", "TEFCA_SECRET"},
		"an unknown secret":  {`{"networks":{"ihe":{}}}`, "{}", "other", "other"},
		"another form of it": {`{"networks":{"ihe":{}}}`, `"SENTINEL"`, "held", "held"},
		"no gateway": {
			`{"networks":{"ihe":{"home":"urn:oid:2.999.1","organization":"SENTINEL"}}}`,
			`{"ihe":{"key":"SENTINEL"}}`, "held", "network ihe",
		},
		"of another form": {`{"networks":{"ihe":{"gateways":"SENTINEL"}}}`, `{}`, "held", "network ihe"},
		"no certificate": {
			`{"networks":{"facilitated":{"client_name":"SENTINEL"}}}`,
			`{"facilitated":{"key":"SENTINEL"}}`, "held", "network facilitated",
		},
		"another form, FHIR": {`{"networks":{"facilitated":{"facilities":"SENTINEL"}}}`, `{}`, "held", "network facilitated"},
	} {
		err := build(t, c.config, c.held, c.secret)
		if (err == nil) != (c.want == "") || err != nil &&
			(!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "SENTINEL")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// text matches JSON fields whose value is a string or a list that begins with a string.
var text = regexp.MustCompile(`"(\w+)":(\[?)"[^"]*"`)

// TestBuildErrorDoesNotQuoteConfiguration tests every string field, because an operator might put a key in the
// configuration by mistake.
func TestBuildErrorDoesNotQuoteConfiguration(t *testing.T) {
	t.Parallel()
	const (
		place = `"name":"Example","city":"Madison","state":"WI"`
		ihe   = `{"networks":{"ihe":{"mode":"live","home":"urn:oid:2.999.1","organization":"Example",` +
			`"gateways":[{"home":"urn:oid:2.999.10",` + place +
			`,"discovery":"https://a.example/d","query":"https://a.example/q","retrieve":"https://a.example/r",` +
			`"settings":{"id_prefix":"urn"},"communities":[{"home":"urn:oid:2.999.10.1",` + place + `}]}]}}}`
		facilitated = `{"networks":{"facilitated":{"mode":"live","client_uri":"` + memberURI +
			`","client_name":"Example","contacts":["mailto:a@b.example"],` +
			`"organization_id":"urn:oid:2.999.1","organization_name":"Example","consent_policy":["urn:oid:2.999.2"],` +
			`"facilities":[{"id":"urn:oid:2.999.7.1",` + place +
			`,"fhir_base":"https://c.example/r4","sop":"1.0","origins":["https://d.example"]}]}}}`
	)
	damaged := `{"ihe":{"certificate":"SENTINEL","key":"SENTINEL","anchors":"SENTINEL"}}`
	for _, c := range []struct {
		config, held string
		free         []string // fields that accept any text
	}{
		{ihe, damaged, nil}, // always fails, because the certificate is invalid
		{facilitated, membership(t), []string{"client_name", "organization_name", "name", "city", "state"}},
	} {
		if err := build(t, c.config, c.held, "held"); (err == nil) != (c.free != nil) {
			t.Fatalf("as it is: %v", err)
		}
		for _, at := range text.FindAllStringSubmatchIndex(c.config, -1) {
			member := c.config[at[2]:at[3]]
			err := build(t, c.config[:at[5]]+`"SENTINEL"`+c.config[at[1]:], c.held, "held")
			if (err == nil) != slices.Contains(c.free, member) || err != nil && strings.Contains(err.Error(), "SENTINEL") {
				t.Errorf("%s: %v", member, err)
			}
		}
	}
}

// build creates the worker from a configuration. If held is not empty, it is stored as the value of the secret named
// "held".
func build(t *testing.T, document, held, secret string) error {
	t.Helper()
	cloud, err := aws.New(aws.Options{URL: "http://127.0.0.1"})
	expect.NoError(t, err)
	defer func() { expect.NoError(t, cloud.Close()) }()
	cfg := cloud.Config("test")
	for _, kept := range [][2]string{
		{"held", held},
		{"hashing", `{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`},
	} {
		if kept[1] != "" {
			_, err = secretsmanager.NewFromConfig(cfg).CreateSecret(t.Context(),
				&secretsmanager.CreateSecretInput{Name: &kept[0], SecretString: &kept[1]})
			expect.NoError(t, err)
		}
	}
	env, err := config.LoadFrom[wiring.Environment](func(name string) (string, bool) {
		value, special := map[string]string{
			"TEFCA_CONFIG": document, "TEFCA_SECRET": secret, "KEY_HASHING_SECRET": "hashing", "ENABLE_SANDBOX": "false",
			"ALLOWED_PRIVATE_RANGES": "",
		}[name]
		if !special {
			value = "x"
		}
		return value, true
	})
	expect.NoError(t, err)
	_, err = wiring.Build(t.Context(), env, outbound.Process{
		Process: lambdarun.Process{AWS: cfg, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Dir: "", Root: ""},
		HTTP:    nobody{},
	})
	return err
}

// memberURI is the URI in the membership certificate.
const memberURI = "https://us.example/udap#T-IAS"

// membership returns a secret with the credentials of the only member of a trust community.
func membership(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	expect.NoError(t, err)
	uri, err := url.Parse(memberURI)
	expect.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), URIs: []*url.URL{uri}}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	expect.NoError(t, err)
	own, err := x509.MarshalPKCS8PrivateKey(key)
	expect.NoError(t, err)
	encoded := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	shown := encoded("CERTIFICATE", certificate)
	held, err := json.Marshal(map[string]any{"facilitated": map[string]string{
		"certificate": shown,
		"key":         encoded("PRIVATE KEY", own), "anchors": shown,
	}})
	expect.NoError(t, err)
	return string(held)
}
