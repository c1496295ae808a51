package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
)

const preflightConfig = `version = 0.1
[dev.deploy.parameters]
stack_name = "clinic-dev"
parameter_overrides = "EnableSandbox=true"
[prod.deploy.parameters]
stack_name = "clinic"
parameter_overrides = "EnableAccessLog=true ReservedConcurrency=50"
`

const ownParameters = `# an operator's own
DomainName=api.example.org
DomainCertificateArn=arn:aws:acm:us-east-1:111122223333:certificate/0a1b
MailFrom=care@example.org
AlarmEmail=alarm@example.org
`

// account simulates the AWS services that preflight calls. Each field is a response body; an empty one is refused.
type account map[string]string

func newAccount() account {
	return account{
		"DescribeStacks": "",
		"GetCallerIdentity": `<GetCallerIdentityResponse><GetCallerIdentityResult><Account>111122223333</Account>` +
			`<Arn>arn:aws:sts::111122223333:assumed-role/deployer/me</Arn></GetCallerIdentityResult>` +
			`</GetCallerIdentityResponse>`,
		"DescribeLogGroups":   `{"logGroups": []}`,
		"account-settings":    `{"AccountLimit": {"ConcurrentExecutions": 1000}}`,
		"account":             `{"cloudwatchRoleArn": "arn:aws:iam::111122223333:role/logs"}`,
		"DescribeCertificate": `{"Certificate": {"Status": "ISSUED", "SubjectAlternativeNames": ["*.example.org"]}}`,
		"GetIdentityVerificationAttributes": `<GetIdentityVerificationAttributesResponse>` +
			`<GetIdentityVerificationAttributesResult><VerificationAttributes><entry><key>example.org</key><value>` +
			`<VerificationStatus>Success</VerificationStatus></value></entry></VerificationAttributes>` +
			`</GetIdentityVerificationAttributesResult></GetIdentityVerificationAttributesResponse>`,
		"GetSendQuota": `<GetSendQuotaResponse><GetSendQuotaResult><Max24HourSend>50000</Max24HourSend>` +
			`</GetSendQuotaResult></GetSendQuotaResponse>`,
		"DescribeTrails": `{"trailList": [{"TrailARN": "arn:aws:cloudtrail:us-east-1:111122223333:trail/all"}]}`,
		"GetEventSelectors": `{"AdvancedEventSelectors": [{"FieldSelectors": [{"Field": "resources.type", "Equals": ` +
			`["AWS::DynamoDB::Table"]}]}]}`,
		"GetTrailStatus": `{"IsLogging": true}`,
	}
}

func (a account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	operation := r.FormValue("Action")
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		operation = target[strings.LastIndex(target, ".")+1:]
	}
	if r.Method == http.MethodGet {
		operation = filepath.Base(r.URL.Path)
	}
	body := a[operation]
	if body == "" {
		w.WriteHeader(http.StatusBadRequest)
		if operation == "DescribeStacks" {
			body = `<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack with id clinic does not exist</Message>` +
				`</Error></ErrorResponse>`
		}
	}
	_, _ = io.WriteString(w, body)
}

// inspected runs preflight for an environment, with the operator's own parameters, in a new repository folder.
func inspected(t *testing.T, a account, environment, own string, tools map[string]string) (string, int) {
	t.Helper()
	dir, bin := t.TempDir(), t.TempDir()
	text, err := os.ReadFile("../../template.yaml")
	expect.NoError(t, err)
	for file, content := range map[string]string{
		"template.yaml": string(text), "samconfig.toml": preflightConfig, "go.mod": "module m\n\ngo 1.26.1\n", "own": own,
	} {
		expect.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600))
	}
	for name, version := range map[string]string{
		"git": "git version 2.47.1", "make": "GNU Make 4.4", "go": "go version go1.26.3 linux/amd64", "node": "v22.1.0",
		"npm": "10.8.2", "sam": "SAM CLI, version 1.150.0", "aws": "aws-cli/2.30.0 Python/3.13",
	} {
		if other, found := tools[name]; found {
			version = other
		}
		expect.NoError(t, os.WriteFile(filepath.Join(bin, name), fmt.Appendf(nil, "#!/bin/sh\necho '%s'\n", version), 0o700))
	}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"PATH": bin, "AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "a",
		"AWS_SECRET_ACCESS_KEY": "b", "AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_MAX_ATTEMPTS": "1",
	} {
		t.Setenv(name, value)
	}
	t.Chdir(dir)
	var out bytes.Buffer
	err = run(t.Context(), []string{"preflight", "-env", environment, "-parameters", "own"}, to(&out))
	return out.String(), exitCode(err)
}

func TestPreflightAcceptsPreparedAccount(t *testing.T) {
	for _, environment := range []string{"dev", "prod"} {
		t.Run(environment, func(t *testing.T) {
			told, code := inspected(t, newAccount(), environment, ownParameters, nil)
			if code != 0 || !strings.Contains(told, `"ready": true`) || strings.Contains(told, "not_seen") {
				t.Errorf("exit code %d, %s", code, told)
			}
		})
	}
}

func TestPreflightReportsEachMissingPreparation(t *testing.T) {
	stack := func(status string) string {
		return "<R><DescribeStacksResult><Stacks><member><StackStatus>" + status + "</StackStatus></member></Stacks>" +
			"</DescribeStacksResult></R>"
	}
	for name, test := range map[string]struct {
		operation, response string // replaced in the account
		own                 string // appended to the parameters
		tools               map[string]string
		want, do            string
	}{
		"old Node":        {tools: map[string]string{"node": "v18.1.0"}, want: "version 18.1.0", do: "20.19 or later"},
		"old Go":          {tools: map[string]string{"go": "go1.9.1"}, want: "go has version 1.9.1", do: "Install go 1.26"},
		"old AWS CLI":     {tools: map[string]string{"aws": "aws-cli/1.45.11"}, want: "aws has version 1.45", do: "aws 2.0"},
		"no sam":          {tools: map[string]string{"sam": ""}, want: "sam is missing", do: "Install sam"},
		"sandbox":         {own: "EnableSandbox=true", want: "EnableSandbox is true", do: "Remove it"},
		"private ranges":  {own: "AllowedPrivateRanges=10.0.0.0/8", want: "private addresses", do: "Remove it"},
		"no domain":       {own: "DomainName=\nDomainCertificateArn=", want: "DomainName is empty", do: "Set it"},
		"no certificate":  {own: "DomainCertificateArn=", want: "need each other", do: "Set it"},
		"no sender":       {own: "MailFrom=", want: "MailFrom is empty", do: "Set it"},
		"no alarm":        {own: "AlarmEmail=", want: "AlarmEmail is empty", do: "Set it"},
		"unknown":         {own: "Nothing=1", want: "refuses the parameters", do: "Fix the parameter"},
		"another region":  {own: "LogsKeyArn=arn:aws:kms:eu-west-1:111122223333:key/a", want: "in eu-west-1", do: "AWS_R"},
		"bad credentials": {operation: "GetCallerIdentity", want: "doesn't accept the credentials", do: "Sign in again"},
		"root user": {
			operation: "GetCallerIdentity", response: `<R><GetCallerIdentityResult><Arn>arn:aws:iam::1:root</Arn>` +
				`<Account>1</Account></GetCallerIdentityResult></R>`, want: "root user of account 1", do: "Deploy with a role",
		},
		"failed stack": {
			operation: "DescribeStacks", response: stack("ROLLBACK_COMPLETE"), want: "can't be updated",
			do: "delete-stack --stack-name clinic",
		},
		"stuck stack": {
			operation: "DescribeStacks", response: stack("UPDATE_ROLLBACK_FAILED"), want: "UPDATE_ROLLBACK_FAILED",
			do: "continue-update-rollback",
		},
		"retained log groups": {
			operation: "DescribeLogGroups", response: `{"logGroups": [{"logGroupName": "/recordbridge/clinic/web"}]}`,
			want: "1 log groups of an earlier stack", do: "delete-log-group",
		},
		"new account": {
			operation: "account-settings", response: `{"AccountLimit": {"ConcurrentExecutions": 10}}`,
			want: "The stack reserves 256", do: "Service Quotas",
		},
		"too few for workers": {
			operation: "account-settings", response: `{"AccountLimit": {"ConcurrentExecutions": 400}}`,
			want: "can use 516", do: "such as ExportConcurrency",
		},
		"pending certificate": {
			operation: "DescribeCertificate", response: `{"Certificate": {"Status": "PENDING_VALIDATION"}}`,
			want: "status is PENDING_VALIDATION", do: "DNS validation",
		},
		"another's certificate": {
			operation: "DescribeCertificate",
			response:  `{"Certificate": {"Status": "ISSUED", "SubjectAlternativeNames": ["www.example.org"]}}`,
			want:      "The certificate is for www.example.org", do: "Request a certificate for api.example.org",
		},
		"no log role": {operation: "account", response: `{}`, want: "has no role", do: "register the role"},
		"unverified sender": {
			operation: "GetIdentityVerificationAttributes", response: `<GetIdentityVerificationAttributesResponse>` +
				`<GetIdentityVerificationAttributesResult><VerificationAttributes/></GetIdentityVerificationAttributesResult>` +
				`</GetIdentityVerificationAttributesResponse>`, want: "verified identity", do: "Verify the domain",
		},
		"SES sandbox": {
			operation: "GetSendQuota", response: `<GetSendQuotaResponse><GetSendQuotaResult><Max24HourSend>200` +
				`</Max24HourSend></GetSendQuotaResult></GetSendQuotaResponse>`, want: "in its sandbox", do: "production access",
		},
		"no trail": {
			operation: "DescribeTrails", response: `{"trailList": []}`, want: "None of 0 trails", do: "Create a trail",
		},
		"management events only": {
			operation: "GetEventSelectors", response: `{"EventSelectors": [{"DataResources": []}]}`, want: "None of 1 trails",
			do: "data events",
		},
		"stopped trail": {
			operation: "GetTrailStatus", response: `{"IsLogging": false}`, want: "None of 1 trails", do: "data events",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAccount()
			if test.operation != "" {
				a[test.operation] = test.response
			}
			told, code := inspected(t, a, "prod", ownParameters+test.own, test.tools)
			if code != 1 || !strings.Contains(told, test.want) || !strings.Contains(told, test.do) ||
				!strings.Contains(told, `"ready": false`) {
				t.Errorf("exit code %d, %s", code, told)
			}
		})
	}
}

// TestPreflightReportsUnreadableSettingsAsNotSeen checks that missing permissions don't stop a deployment.
func TestPreflightReportsUnreadableSettingsAsNotSeen(t *testing.T) {
	a := newAccount()
	for operation := range a {
		if operation != "GetCallerIdentity" {
			a[operation] = ""
		}
	}
	told, code := inspected(t, a, "prod", ownParameters, nil)
	if n := strings.Count(told, `"not_seen"`); code != 0 || n != 6 || strings.Count(told, "Allow ")+
		strings.Count(told, "allow ") != n {
		t.Errorf("exit code %d, %d findings are not seen: %s", code, n, told)
	}
}

func TestPreflightRejectsUnknownEnvironmentAndStack(t *testing.T) {
	if _, code := inspected(t, newAccount(), "test", "", nil); code != 2 {
		t.Errorf("unknown environment: exit code %d", code)
	}
	var out bytes.Buffer
	err := run(t.Context(), []string{"-stack", "clinic", "preflight", "-env", "prod"}, to(&out))
	if exitCode(err) != 2 || !strings.Contains(err.Error(), "reads the stack's name from samconfig.toml") {
		t.Errorf("with -stack: %v", err)
	}
}
