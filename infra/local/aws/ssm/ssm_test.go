package ssm_test

import (
	"errors"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"

	"recordbridge/infra/local/aws"
)

func TestGetParameterAcceptsARN(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	for _, name := range []string{"plain", "/path/name", strings.Repeat("/b", 15)} {
		put(t, client, &sdk.PutParameterInput{
			Name: &name, Type: types.ParameterTypeString,
			Value: awssdk.String("of " + name),
		})
		arn := "arn:aws:ssm:us-east-1:000000000000:parameter/" + strings.TrimPrefix(name, "/")
		out, err := client.GetParameter(t.Context(), &sdk.GetParameterInput{Name: &arn})
		if err != nil || *out.Parameter.Value != "of "+name || *out.Parameter.Name != name {
			t.Errorf("%s: got %+v, %v", arn, out, err)
		}
	}
}

// The scripts in infra/test/conformance cover Parameter Store's other error responses.
func TestParameterStoreRejectsUnsupportedFeatures(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	for name, kind := range map[string]types.ParameterType{
		"secret": types.ParameterTypeSecureString, "list": types.ParameterTypeStringList, "/b//c": types.ParameterTypeString,
	} {
		_, err := client.PutParameter(t.Context(), &sdk.PutParameterInput{Name: &name, Type: kind, Value: awssdk.String("x")})
		if failure, ok := errors.AsType[smithy.APIError](err); !ok || failure.ErrorCode() != "ValidationException" {
			t.Errorf("%s: got %v, want ValidationException", name, err)
		}
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

func put(t *testing.T, client *sdk.Client, in *sdk.PutParameterInput) {
	t.Helper()
	if _, err := client.PutParameter(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}
