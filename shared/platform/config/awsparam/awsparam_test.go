package awsparam_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"recordbridge/infra/local/aws"
	"recordbridge/shared/platform/config/awsparam"
)

func TestReadReturnsParameter(t *testing.T) {
	t.Parallel()
	cloud, err := aws.New(aws.Options{URL: "http://127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := cloud.Config("test")
	name, value := "/base-url", "https://api.example.org/v1"
	if _, err = ssm.NewFromConfig(cfg).PutParameter(t.Context(),
		&ssm.PutParameterInput{Name: &name, Value: &value, Type: types.ParameterTypeString}); err != nil {
		t.Fatal(err)
	}
	if got, err := awsparam.Read(t.Context(), cfg, time.Now, name); err != nil || got != value {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := awsparam.Read(t.Context(), cfg, time.Now, "/unknown"); err == nil ||
		!strings.HasPrefix(err.Error(), "read parameter /unknown: ParameterNotFound: ") {
		t.Errorf("of one that is not there: %v", err)
	}
}
