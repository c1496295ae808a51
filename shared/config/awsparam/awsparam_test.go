package awsparam_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"recordbridge/shared/config/awsparam"
)

type parameters map[string]string

func (p parameters) GetParameter(_ context.Context, in *ssm.GetParameterInput, _ ...func(*ssm.Options)) (*ssm.GetParameterOutput, error) {
	value, ok := p[aws.ToString(in.Name)]
	if !ok {
		return nil, errors.New("no such parameter")
	}
	return &ssm.GetParameterOutput{Parameter: &types.Parameter{Value: aws.String(value)}}, nil
}

func TestAParameterIsRead(t *testing.T) {
	t.Parallel()
	client := parameters{"/base-url": "https://api.example.org/v1", "/empty": ""}
	cases := map[string]struct {
		want string
		ok   bool
	}{
		"/base-url": {"https://api.example.org/v1", true},
		"/empty":    {"", false},
		"/unknown":  {"", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := awsparam.Read(t.Context(), client, name)
			if got != c.want || (err == nil) != c.ok {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}
