package e2e_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/infra/ctl/explain"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/measured"
	"recordbridge/shared/words/logx"
)

const throttling = "com.amazonaws.dynamodb.v20120810#ThrottlingException"

// disableKey disables the KMS key whose ID is in the given variable of CallbackFunction.
func (s *stack) disableKey(variable string) {
	s.t.Helper()
	name, keys := s.functions["CallbackFunction"].declared.Environment[variable], kms.NewFromConfig(s.cloud.Config("test"))
	key, err := keys.DescribeKey(s.t.Context(), &kms.DescribeKeyInput{KeyId: &name})
	expect.NoError(s.t, err)
	_, err = keys.DisableKey(s.t.Context(), &kms.DisableKeyInput{KeyId: key.KeyMetadata.KeyId})
	expect.NoError(s.t, err)
}

// TestSignInFailsVisiblyWhenTokensKeyIsDisabled checks that an operator sees whose failure it is: in the metric, in the
// log line and in the explanation, which must not name the health system.
func TestSignInFailsVisiblyWhenTokensKeyIsDisabled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{log: logx.New})
		s.disableKey("TOKENS_KEY")
		_, back := s.patient.browser().open(s.patient.connectURL(), crashPersona, "approve")
		if back == nil || back.Query().Get("error") != "svc_server_error" {
			t.Fatalf("the browser returned to %v", back)
		}
		lines := s.lines()
		got := measured.In(t, []byte(strings.Join(lines, "")))
		for outcome, want := range map[string]int{"started": 1, "service": 1, "connected": 0, "patient": 0, "portal": 0} {
			if got["SignIns "+outcome] != want {
				t.Errorf("SignIns %s: %d, want %d", outcome, got["SignIns "+outcome], want)
			}
		}
		table, _ := documentedFailures(t)
		at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, `"sign_in":"service"`) })
		if at < 0 {
			t.Fatalf("no line has the outcome: %q", lines)
		}
		line, err := explain.ReadLine(lines[at])
		expect.NoError(t, err)
		for name, want := range map[string]string{
			"level": "ERROR", "key": "TokensKey", "operation": "GenerateDataKey", "class": "DisabledException", "step": "",
			"host": "", "ended": "internal",
		} {
			if line.Fields[name] != want {
				t.Errorf("%s is %q, want %q: %s", name, line.Fields[name], want, lines[at])
			}
		}
		told := table.Explain(line)
		isAtEndpoint := func(command string) bool { return strings.Contains(command, "endpoint") }
		if told.What != "AWS: KMS" || !strings.Contains(told.Do, "runbooks/keys.md") ||
			told.Where["key"] != "TokensKey" || slices.ContainsFunc(told.Commands, isAtEndpoint) {
			t.Errorf("explained as %+v", told)
		}
	})
}

// TestFailedStartIsCountedInEveryFlow covers each request that starts a sign-in. DynamoDB reads fail, so even the
// organisation is unknown.
func TestFailedStartIsCountedInEveryFlow(t *testing.T) {
	t.Parallel()
	page := func(path string) func(s *stack, query string) {
		return func(s *stack, query string) {
			target, err := url.Parse(baseURL + path + "?" + query)
			expect.NoError(s.t, err)
			s.patient.browser().get(target)
		}
	}
	post := func(path string) func(s *stack, query string) {
		return func(s *stack, query string) { s.call(http.MethodPost, path+"?"+query, "", "", map[string]any{}) }
	}
	form := func(path string) func(s *stack, query string) {
		return func(s *stack, _ string) { s.patient.browser().start(startForm{url: baseURL + path, value: "any"}) }
	}
	for name, begin := range map[string]func(s *stack, query string){
		"connect": page("/bridge/connect"), "reconnect": page("/bridge/reconnect"), "attempt": post("/bridge/attempts"),
		"identity": post("/bridge/tefca/identity"), "window": form("/bridge/connect"),
		"identity window": form("/bridge/tefca/identity/start"),
	} {
		synctest.Test(t, func(t *testing.T) {
			refusing := &awsFailure{}
			s := newStack(t, options{log: logx.New, middleware: refusing.middleware})
			query := "endpoint_id=" + s.seeded.Sandbox.EndpointID + "&public_id=" + s.seeded.Organisations[0].PublicID
			*refusing = awsFailure{"dynamodb", "GetItem", throttling}
			begin(s, query)
			got := measured.In(t, []byte(strings.Join(s.lines(), "")))
			if got["SignIns started"] != 1 || got["SignIns service"] != 1 {
				t.Errorf("%s: counted %v: %s", name, got, s.lines())
			}
		})
	}
}
