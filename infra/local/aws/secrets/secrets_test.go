package secrets_test

import (
	"errors"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/smithy-go"

	"recordbridge/infra/local/aws"
)

func TestGetSecretValueAcceptsNameOrARN(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	made := create(t, client, "recordbridge/cursors", "one")
	partial := "arn:aws:secretsmanager:us-east-1:000000000000:secret:recordbridge/cursors"
	for _, id := range []string{"recordbridge/cursors", *made.ARN, partial} {
		out, err := client.GetSecretValue(t.Context(), &sdk.GetSecretValueInput{SecretId: &id})
		if err != nil || *out.SecretString != "one" || *out.VersionId != *made.VersionId {
			t.Errorf("%s: got %v, %v", id, out, err)
		}
	}
	for _, id := range []string{"recordbridge/other", partial + "-aaaaaa", partial[:len(partial)-1]} {
		_, err := client.GetSecretValue(t.Context(), &sdk.GetSecretValueInput{SecretId: &id})
		if _, ok := errors.AsType[*types.ResourceNotFoundException](err); !ok {
			t.Errorf("%s: got %v, want *types.ResourceNotFoundException", id, err)
		}
	}
}

func TestCreateSecretIsIdempotentPerClientRequestToken(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	token := "0c6a2b1e-1111-4222-8333-444455556666"
	again := func(value string) (*sdk.CreateSecretOutput, error) {
		return client.CreateSecret(t.Context(), &sdk.CreateSecretInput{
			Name: awssdk.String("keys"), SecretString: &value,
			ClientRequestToken: &token,
		})
	}
	first, err := again("one")
	if err != nil {
		t.Fatal(err)
	}
	second, err := again("one")
	if err != nil || *second.ARN != *first.ARN || *second.VersionId != token {
		t.Errorf("the repetition gave %+v, %v, want %+v", second, err, first)
	}
	_, err = again("two")
	if _, ok := errors.AsType[*types.ResourceExistsException](err); !ok {
		t.Errorf("another value under the same token: got %v, want *types.ResourceExistsException", err)
	}
}

// TestSecretsManagerRejectsUnsupportedFeatures checks that unsupported Secrets Manager features are not silently
// ignored.
func TestSecretsManagerRejectsUnsupportedFeatures(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	keys := create(t, client, "keys", "one")
	put := func(in sdk.PutSecretValueInput) func() error {
		return func() error {
			in.SecretId = keys.Name
			_, err := client.PutSecretValue(t.Context(), &in)
			return err
		}
	}
	get := func(in sdk.GetSecretValueInput) func() error {
		return func() error {
			_, err := client.GetSecretValue(t.Context(), &in)
			return err
		}
	}
	tests := map[string]struct {
		call func() error
		want string
	}{
		"bytes": {put(sdk.PutSecretValueInput{SecretBinary: []byte("x")}), "InvalidParameterException"},
		"stages": {put(sdk.PutSecretValueInput{
			SecretString:  awssdk.String("x"),
			VersionStages: []string{"AWSPENDING"},
		}), "InvalidParameterException"},
		"a value above 64 KiB": {
			put(sdk.PutSecretValueInput{SecretString: awssdk.String(strings.Repeat("x", 64<<10+1))}),
			"ValidationException",
		},
		"a stage": {get(sdk.GetSecretValueInput{
			SecretId:     keys.Name,
			VersionStage: awssdk.String("AWSPREVIOUS"),
		}), "InvalidParameterException"},
		"a version": {
			get(sdk.GetSecretValueInput{SecretId: keys.Name, VersionId: keys.VersionId}),
			"InvalidParameterException",
		},
		"an empty id": {get(sdk.GetSecretValueInput{SecretId: awssdk.String("")}), "InvalidParameterException"},
		"a secret without a value": {func() error {
			_, err := client.CreateSecret(t.Context(), &sdk.CreateSecretInput{Name: awssdk.String("empty")})
			return err
		}, "InvalidParameterException"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failure, ok := errors.AsType[smithy.APIError](test.call())
			if !ok || failure.ErrorCode() != test.want {
				t.Errorf("got %v, want %s", failure, test.want)
			}
		})
	}
}

func newClient(t *testing.T) *sdk.Client {
	t.Helper()
	cloud, err := aws.New(aws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sdk.NewFromConfig(cloud.Config("test"))
}

func create(t *testing.T, client *sdk.Client, name, value string) *sdk.CreateSecretOutput {
	t.Helper()
	out, err := client.CreateSecret(t.Context(), &sdk.CreateSecretInput{Name: &name, SecretString: &value})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
