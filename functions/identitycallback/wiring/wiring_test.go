package wiring_test

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"recordbridge/functions/identitycallback"
	"recordbridge/functions/identitycallback/wiring"
	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/platform/config"
	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/wiring/outbound"
)

// nobody is an HTTP client whose requests always fail.
type nobody struct{}

func (nobody) Do(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

// TestCallbacksHaveSeparateRateLimit checks that starting an attempt does not count against the rate limit for
// callbacks (docs/reference/deviations.md, "HTTP").
func TestCallbacksHaveSeparateRateLimit(t *testing.T) {
	t.Parallel()
	made := tables.New(t)
	name, value := "limits", `{"current":"1","1":"`+strings.Repeat("k", 43)+`"}`
	_, err := secretsmanager.NewFromConfig(made.Config).CreateSecret(t.Context(),
		&secretsmanager.CreateSecretInput{Name: &name, SecretString: &value})
	expect.NoError(t, err)
	_, err = ssm.NewFromConfig(made.Config).PutParameter(t.Context(), &ssm.PutParameterInput{
		Name: aws.String("base-url"), Value: aws.String("https://api.example/v1"), Type: types.ParameterTypeString,
	})
	expect.NoError(t, err)
	env, err := config.LoadFrom[wiring.Environment](func(name string) (string, bool) {
		value, special := map[string]string{
			"LIMIT_SECRET": "limits", "REQUESTS_PER_MINUTE": "1", "FLOW_TABLE": made.Name("FlowTable"),
			"WORK_TABLE":             made.Name("WorkTable"),
			"BASE_URL_PARAMETER":     "base-url",
			"ALLOWED_PRIVATE_RANGES": "",
		}[name]
		if !special {
			value = "x"
		}
		return value, true
	})
	expect.NoError(t, err)
	handler, err := wiring.Build(t.Context(), env, outbound.Process{
		Process: lambdarun.Process{AWS: made.Config, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Dir: "", Root: ""},
		HTTP:    nobody{},
	})
	expect.NoError(t, err)
	for _, want := range []int{http.StatusBadRequest, http.StatusTooManyRequests} {
		got, err := handler(t.Context(), events.APIGatewayProxyRequest{
			Resource: identitycallback.Route, Path: identitycallback.Route, HTTPMethod: http.MethodGet,
			MultiValueQueryStringParameters: map[string][]string{"state": {"unknown"}, "code": {"c"}},
		})
		expect.NoError(t, err)
		policy := strings.Join(got.MultiValueHeaders["Ratelimit-Policy"], ", ")
		if got.StatusCode != want || policy != `"identitycallback";q=1;w=60` {
			t.Errorf("got %d with the policy %q, want %d", got.StatusCode, policy, want)
		}
	}
}
