package ssm_test

import (
	"errors"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws"
)

func TestAParameterCountsItsVersions(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	put(t, client, &sdk.PutParameterInput{Name: awssdk.String("/recordbridge/base-url"), Type: types.ParameterTypeString, Value: awssdk.String("one")})
	put(t, client, &sdk.PutParameterInput{Name: awssdk.String("/recordbridge/base-url"), Value: awssdk.String("two"), Overwrite: awssdk.Bool(true)})
	out, err := client.GetParameter(t.Context(), &sdk.GetParameterInput{Name: awssdk.String("/recordbridge/base-url")})
	if err != nil {
		t.Fatal(err)
	}
	got := out.Parameter
	if *got.Value != "two" || got.Version != 2 || got.Type != types.ParameterTypeString {
		t.Errorf("got value %q, version %d, type %s", *got.Value, got.Version, got.Type)
	}
	if want := "arn:aws:ssm:us-east-1:000000000000:parameter/recordbridge/base-url"; *got.ARN != want {
		t.Errorf("ARN is %q, want %q", *got.ARN, want)
	}
}

func TestASecureStringShowsOnlyWithDecryption(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	name := awssdk.String("client-secret")
	put(t, client, &sdk.PutParameterInput{Name: name, Type: types.ParameterTypeSecureString, Value: awssdk.String("hush")})
	for decrypt, want := range map[bool]bool{true: true, false: false} {
		out, err := client.GetParameter(t.Context(), &sdk.GetParameterInput{Name: name, WithDecryption: &decrypt})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(*out.Parameter.Value, "hush"); got != want {
			t.Errorf("decryption %v: the value shows: %v", decrypt, got)
		}
	}
}

func TestGetParametersNamesTheMissing(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	put(t, client, &sdk.PutParameterInput{Name: awssdk.String("a"), Type: types.ParameterTypeString, Value: awssdk.String("1")})
	out, err := client.GetParameters(t.Context(), &sdk.GetParametersInput{Names: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Parameters) != 1 || *out.Parameters[0].Name != "a" || !cmp.Equal(out.InvalidParameters, []string{"b"}) {
		t.Errorf("got %d parameters, invalid %q", len(out.Parameters), out.InvalidParameters)
	}
}

func TestAParameterIsFoundByItsARN(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	for _, name := range []string{"plain", "/path/name", strings.Repeat("/b", 15)} {
		put(t, client, &sdk.PutParameterInput{Name: &name, Type: types.ParameterTypeString, Value: awssdk.String("of " + name)})
		arn := "arn:aws:ssm:us-east-1:000000000000:parameter/" + strings.TrimPrefix(name, "/")
		out, err := client.GetParameter(t.Context(), &sdk.GetParameterInput{Name: &arn})
		if err != nil || *out.Parameter.Value != "of "+name || *out.Parameter.Name != name {
			t.Errorf("%s: got %+v, %v", arn, out, err)
		}
	}
}

func TestParameterStoreRefusesWhatAWSRefuses(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	put(t, client, &sdk.PutParameterInput{Name: awssdk.String("a"), Type: types.ParameterTypeString, Value: awssdk.String("1")})
	store := func(name, value string, kind types.ParameterType) func() error {
		return func() error {
			_, err := client.PutParameter(t.Context(), &sdk.PutParameterInput{Name: &name, Type: kind, Value: &value})
			return err
		}
	}
	tests := map[string]struct {
		call func() error
		want string
	}{
		"a name twice":        {store("a", "2", types.ParameterTypeString), "ParameterAlreadyExists"},
		"no type":             {store("b", "2", ""), "ValidationException"},
		"an empty value":      {store("b", "", types.ParameterTypeString), "ValidationException"},
		"a value above 4 KiB": {store("b", strings.Repeat("x", 4097), types.ParameterTypeString), "ValidationException"},
		"a name with a space": {store("b c", "2", types.ParameterTypeString), "ValidationException"},
		"a reserved prefix":   {store("/aws-b", "2", types.ParameterTypeString), "ValidationException"},
		"another one":         {store("ssmb", "2", types.ParameterTypeString), "ValidationException"},
		"a path of AWS":       {store("/AWSthings/b", "2", types.ParameterTypeString), "AccessDeniedException"},
		"half a path":         {store("b/c", "2", types.ParameterTypeString), "ValidationException"},
		"an empty level":      {store("/b//c", "2", types.ParameterTypeString), "ValidationException"},
		"sixteen levels":      {store(strings.Repeat("/b", 16), "2", types.ParameterTypeString), "HierarchyLevelLimitExceededException"},
		"an unknown type":     {store("b", "2", "Number"), "ValidationException"},
		"another type": {func() error {
			_, err := client.PutParameter(t.Context(), &sdk.PutParameterInput{
				Name: awssdk.String("a"), Type: types.ParameterTypeSecureString, Value: awssdk.String("2"), Overwrite: awssdk.Bool(true),
			})
			return err
		}, "HierarchyTypeMismatchException"},
		"a missing parameter": {func() error {
			_, err := client.GetParameter(t.Context(), &sdk.GetParameterInput{Name: awssdk.String("b")})
			return err
		}, "ParameterNotFound"},
		"eleven names": {func() error {
			_, err := client.GetParameters(t.Context(), &sdk.GetParametersInput{Names: strings.Split("abcdefghijk", "")})
			return err
		}, "ValidationException"},
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

func put(t *testing.T, client *sdk.Client, in *sdk.PutParameterInput) {
	t.Helper()
	if _, err := client.PutParameter(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}
