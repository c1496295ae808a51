package wiring_test

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"recordbridge/functions/tefcaworker/wiring"
	"recordbridge/infra/local/aws"
	"recordbridge/shared/config"
	"recordbridge/shared/lambdarun"
	"recordbridge/shared/testkit/expect"
	"recordbridge/shared/wiring/outbound"
)

// nobody is a network without servers.
type nobody struct{}

// Do answers nothing.
func (nobody) Do(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

// TestANetworkThatIsNotWholeIsAnErrorAtTheStart, which names it and quotes neither the configuration nor the secret.
func TestANetworkThatIsNotWholeIsAnErrorAtTheStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ config, held, secret, want string }{
		"no configuration":   {"", "", "", ""},
		"no secret":          {`{"networks":{"ihe":{}}}`, "", "", "TEFCA_SECRET"},
		"an unknown secret":  {`{"networks":{"ihe":{}}}`, "{}", "other", "other"},
		"another form of it": {`{"networks":{"ihe":{}}}`, `"SENTINEL"`, "held", "held"},
		"no gateway":         {`{"networks":{"ihe":{"home":"urn:oid:2.999.1","organization":"SENTINEL"}}}`, `{"ihe":{"key":"SENTINEL"}}`, "held", "network ihe"},
		"of another form":    {`{"networks":{"ihe":{"gateways":"SENTINEL"}}}`, `{}`, "held", "network ihe"},
		"no certificate":     {`{"networks":{"facilitated":{"client_name":"SENTINEL"}}}`, `{"facilitated":{"key":"SENTINEL"}}`, "held", "network facilitated"},
		"another form, FHIR": {`{"networks":{"facilitated":{"facilities":"SENTINEL"}}}`, `{}`, "held", "network facilitated"},
	} {
		cloud, err := aws.New(aws.Options{URL: "http://127.0.0.1"})
		expect.NoError(t, err)
		cfg := cloud.Config("test")
		for _, kept := range [][2]string{{"held", c.held}, {"hashing", `{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`}} {
			if kept[1] != "" {
				_, err = secretsmanager.NewFromConfig(cfg).CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: &kept[0], SecretString: &kept[1]})
				expect.NoError(t, err)
			}
		}
		env, err := config.LoadFrom[wiring.Environment](func(name string) (string, bool) {
			value, special := map[string]string{
				"TEFCA_CONFIG": c.config, "TEFCA_SECRET": c.secret, "KEY_HASHING_SECRET": "hashing", "ENABLE_SANDBOX": "false", "ALLOWED_PRIVATE_RANGES": "",
			}[name]
			if !special {
				value = "x"
			}
			return value, true
		})
		expect.NoError(t, err)
		_, err = wiring.Build(t.Context(), env, outbound.Process{
			Process: lambdarun.Process{AWS: cfg, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Dir: "", Root: ""}, HTTP: nobody{},
		})
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "SENTINEL")) {
			t.Errorf("%s: %v", name, err)
		}
		expect.NoError(t, cloud.Close())
	}
}
