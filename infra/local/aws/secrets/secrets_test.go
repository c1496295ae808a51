package secrets_test

import (
	"errors"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws"
)

func TestASecretIsFoundByNameAndARN(t *testing.T) {
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

func TestANewVersionTakesTheLabelsAlong(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	first := create(t, client, "keys", "one")
	second := put(t, client, &sdk.PutSecretValueInput{SecretId: first.Name, SecretString: awssdk.String("two")})
	pending := put(t, client, &sdk.PutSecretValueInput{
		SecretId: first.Name, SecretBinary: []byte("three"), VersionStages: []string{"AWSPENDING"},
	})

	out, err := client.DescribeSecret(t.Context(), &sdk.DescribeSecretInput{SecretId: first.ARN})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		*first.VersionId: {"AWSPREVIOUS"}, *second.VersionId: {"AWSCURRENT"}, *pending.VersionId: {"AWSPENDING"},
	}
	if diff := cmp.Diff(want, out.VersionIdsToStages); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	tests := map[string]struct {
		in   sdk.GetSecretValueInput
		want string
	}{
		"nothing named":      {sdk.GetSecretValueInput{}, "two"},
		"AWSCURRENT":         {sdk.GetSecretValueInput{VersionStage: awssdk.String("AWSCURRENT")}, "two"},
		"AWSPREVIOUS":        {sdk.GetSecretValueInput{VersionStage: awssdk.String("AWSPREVIOUS")}, "one"},
		"the first id":       {sdk.GetSecretValueInput{VersionId: first.VersionId}, "one"},
		"an id and its name": {sdk.GetSecretValueInput{VersionId: first.VersionId, VersionStage: awssdk.String("AWSPREVIOUS")}, "one"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.in.SecretId = first.Name
			got, err := client.GetSecretValue(t.Context(), &test.in)
			if err != nil || *got.SecretString != test.want {
				t.Errorf("got %v, %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestPutSecretValueIsIdempotentByItsToken(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	create(t, client, "keys", "one")
	token := "0c6a2b1e-1111-4222-8333-444455556666"
	again := func(value string) error {
		_, err := client.PutSecretValue(t.Context(), &sdk.PutSecretValueInput{
			SecretId: awssdk.String("keys"), SecretString: &value, ClientRequestToken: &token,
		})
		return err
	}
	if err := errors.Join(again("two"), again("two")); err != nil {
		t.Error(err)
	}
	if _, ok := errors.AsType[*types.ResourceExistsException](again("three")); !ok {
		t.Error("another value under the same token was accepted")
	}
}

func TestCreateSecretIsIdempotentByItsToken(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	token := "0c6a2b1e-1111-4222-8333-444455556666"
	again := func(value string) (*sdk.CreateSecretOutput, error) {
		return client.CreateSecret(t.Context(), &sdk.CreateSecretInput{Name: awssdk.String("keys"), SecretString: &value, ClientRequestToken: &token})
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

func TestTheFirstVersionOfASecretIsCurrent(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	if _, err := client.CreateSecret(t.Context(), &sdk.CreateSecretInput{Name: awssdk.String("empty")}); err != nil {
		t.Fatal(err)
	}
	first := put(t, client, &sdk.PutSecretValueInput{SecretId: awssdk.String("empty"), SecretString: awssdk.String("x"), VersionStages: []string{"AWSPENDING"}})
	if diff := cmp.Diff([]string{"AWSPENDING", "AWSCURRENT"}, first.VersionStages); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	out, err := client.GetSecretValue(t.Context(), &sdk.GetSecretValueInput{SecretId: awssdk.String("empty")})
	if err != nil || *out.SecretString != "x" {
		t.Errorf("got %+v, %v, want the only version", out, err)
	}
}

func TestSecretsManagerRefusesWhatAWSRefuses(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	keys := create(t, client, "keys", "one")
	if _, err := client.CreateSecret(t.Context(), &sdk.CreateSecretInput{Name: awssdk.String("empty")}); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		call func() error
		want string
	}{
		"a name twice": {func() error {
			_, err := client.CreateSecret(t.Context(), &sdk.CreateSecretInput{Name: awssdk.String("keys"), SecretString: awssdk.String("x")})
			return err
		}, "ResourceExistsException"},
		"a name with a space": {func() error {
			_, err := client.CreateSecret(t.Context(), &sdk.CreateSecretInput{Name: awssdk.String("a b")})
			return err
		}, "ValidationException"},
		"text and bytes": {func() error {
			_, err := client.PutSecretValue(t.Context(), &sdk.PutSecretValueInput{
				SecretId: awssdk.String("keys"), SecretString: awssdk.String("x"), SecretBinary: []byte("x"),
			})
			return err
		}, "InvalidParameterException"},
		"a short token": {func() error {
			_, err := client.PutSecretValue(t.Context(), &sdk.PutSecretValueInput{
				SecretId: awssdk.String("keys"), SecretString: awssdk.String("x"), ClientRequestToken: awssdk.String(strings.Repeat("x", 31)),
			})
			return err
		}, "InvalidParameterException"},
		"a value above 64 KiB": {func() error {
			_, err := client.PutSecretValue(t.Context(), &sdk.PutSecretValueInput{
				SecretId: awssdk.String("keys"), SecretString: awssdk.String(strings.Repeat("x", 64<<10+1)),
			})
			return err
		}, "ValidationException"},
		"twenty-one labels": {func() error {
			_, err := client.PutSecretValue(t.Context(), &sdk.PutSecretValueInput{
				SecretId: awssdk.String("keys"), SecretString: awssdk.String("x"), VersionStages: strings.Split("abcdefghijklmnopqrstu", ""),
			})
			return err
		}, "ValidationException"},
		"a label of 257 letters": {func() error {
			_, err := client.PutSecretValue(t.Context(), &sdk.PutSecretValueInput{
				SecretId: awssdk.String("keys"), SecretString: awssdk.String("x"), VersionStages: []string{strings.Repeat("x", 257)},
			})
			return err
		}, "ValidationException"},
		"an unknown secret": {func() error {
			_, err := client.PutSecretValue(t.Context(), &sdk.PutSecretValueInput{SecretId: awssdk.String("none"), SecretString: awssdk.String("x")})
			return err
		}, "ResourceNotFoundException"},
		"an empty id": {func() error {
			_, err := client.GetSecretValue(t.Context(), &sdk.GetSecretValueInput{SecretId: awssdk.String("")})
			return err
		}, "InvalidParameterException"},
		"neither text nor bytes": {func() error {
			_, err := client.PutSecretValue(t.Context(), &sdk.PutSecretValueInput{SecretId: awssdk.String("keys")})
			return err
		}, "InvalidRequestException"},
		"a secret without a value": {func() error {
			_, err := client.GetSecretValue(t.Context(), &sdk.GetSecretValueInput{SecretId: awssdk.String("empty")})
			return err
		}, "ResourceNotFoundException"},
		"an id with another's label": {func() error {
			_, err := client.GetSecretValue(t.Context(), &sdk.GetSecretValueInput{
				SecretId: awssdk.String("keys"), VersionId: keys.VersionId, VersionStage: awssdk.String("AWSPREVIOUS"),
			})
			return err
		}, "InvalidRequestException"},
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

func put(t *testing.T, client *sdk.Client, in *sdk.PutSecretValueInput) *sdk.PutSecretValueOutput {
	t.Helper()
	out, err := client.PutSecretValue(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
