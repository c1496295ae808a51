package awssecret_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"recordbridge/shared/config/awssecret"
)

type manager struct {
	value string
	err   error
}

func (m manager) GetSecretValue(_ context.Context, in *secretsmanager.GetSecretValueInput, _ ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	if aws.ToString(in.SecretId) != "hashing" {
		return nil, errors.New("no such secret")
	}
	return &secretsmanager.GetSecretValueOutput{SecretString: aws.String(m.value)}, m.err
}

func TestAKeyringIsRead(t *testing.T) {
	t.Parallel()
	ring, err := awssecret.Keyring(t.Context(), manager{value: `{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`}, "hashing")
	if err != nil {
		t.Fatal(err)
	}
	if mark := ring.Sign([]byte("m")); mark.Version != 1 || !ring.Check([]byte("m"), mark) {
		t.Errorf("mark %+v", mark)
	}
}

func TestAKeyringThatCannotBeReadIsAnErrorWithoutContent(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		client manager
		name   string
	}{
		"call fails": {manager{err: errors.New("denied")}, "hashing"},
		"unknown":    {manager{}, "other"},
		"empty":      {manager{}, "hashing"},
		"no keyring": {manager{value: `SENTINEL`}, "hashing"},
		"short key":  {manager{value: `{"current":"1","1":"SENTINEL"}`}, "hashing"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := awssecret.Keyring(t.Context(), c.client, c.name)
			if err == nil || strings.Contains(err.Error(), "SENTINEL") || !strings.Contains(err.Error(), c.name) {
				t.Errorf("got %v", err)
			}
		})
	}
}
