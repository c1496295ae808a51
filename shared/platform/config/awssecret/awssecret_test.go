package awssecret_test

import (
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"recordbridge/infra/local/aws"
	"recordbridge/shared/platform/config/awssecret"
)

func holding(t *testing.T, name, value string) awssdk.Config {
	t.Helper()
	cloud, err := aws.New(aws.Options{URL: "http://127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := cloud.Config("test")
	_, err = secretsmanager.NewFromConfig(cfg).CreateSecret(t.Context(),
		&secretsmanager.CreateSecretInput{Name: &name, SecretString: &value})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestKeyringReadsSecret(t *testing.T) {
	t.Parallel()
	cfg := holding(t, "hashing", `{"current":"1","1":"`+strings.Repeat("k", 43)+`"}`)
	ring, err := awssecret.Keyring(t.Context(), cfg, time.Now, "hashing")
	if err != nil {
		t.Fatal(err)
	}
	if mark := ring.Sign([]byte("m")); mark.Version != 1 || !ring.Check([]byte("m"), mark) {
		t.Errorf("mark %+v", mark)
	}
}

func TestKeyringErrorOmitsSecret(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ held, asked string }{
		"unknown":    {"SENTINEL", "other"},
		"no keyring": {"SENTINEL", "hashing"},
		"short key":  {`{"current":"1","1":"SENTINEL"}`, "hashing"},
	} {
		_, err := awssecret.Keyring(t.Context(), holding(t, "hashing", c.held), time.Now, c.asked)
		if err == nil || strings.Contains(err.Error(), "SENTINEL") || !strings.Contains(err.Error(), c.asked) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
