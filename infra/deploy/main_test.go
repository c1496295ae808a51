package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/testkit/expect"
)

const config = `version = 0.1
[default.global.parameters]
stack_name = "default-stack"
[dev.deploy.parameters]
stack_name = "dev-stack"
capabilities = "CAPABILITY_IAM"
parameter_overrides = "EnableSandbox=true LogRetentionDays=14"
[staging.global.parameters]
stack_name = "staging-stack"
[prod.deploy.parameters]
stack_name = "prod-stack"
`

// project is a repository folder with a fake sam command that records its calls, and fake CloudFormation and S3
// servers.
type project struct {
	calls   string
	asked   []string // requests to CloudFormation, in the form "Action StackName"
	outputs map[string]string
	made    string // resource that the deployment creates: "stack", or "bucket" in an existing stack
	cloud   *aws.Cloud
	release string // name of the release that is deployed
	status  string // the stack's status
	lambda  *lambda
	puts    []string // uploads to the bucket in order, each with the number of preceding sam calls
}

func newProject(t *testing.T) *project {
	t.Helper()
	p := &project{
		calls:   filepath.Join(t.TempDir(), "calls"),
		outputs: map[string]string{"BaseUrl": "https://api.example/v1"},
		status:  "UPDATE_COMPLETE", lambda: &lambda{functions: map[string]*function{}},
	}
	var err error
	p.cloud, err = aws.New(aws.Options{SecretKey: "b"})
	expect.NoError(t, err)
	dir, bin := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "samconfig.toml"), config)
	write(t, filepath.Join(dir, ".version"), "1.2.3\n")
	write(t, filepath.Join(bin, "sam"), "#!/bin/sh\necho \"$@\" >>'"+p.calls+
		"'\n[ \"$1\" != \"$FAILING\" ] || { echo out of luck; exit 3; }\n")
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"PATH": bin + ":" + os.Getenv("PATH"), "AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "us-east-1",
		"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b",
		"AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "FAILING": "",
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_DIR": "", "GIT_WORK_TREE": "",
	} {
		t.Setenv(name, value)
	}
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE"} {
		if err = os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, arguments := range [][]string{
		{"init", "-q"},
		{"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "all"},
	} {
		if out, failed := exec.Command("git", arguments...).CombinedOutput(); failed != nil {
			t.Fatalf("git %v: %v %s", arguments, failed, out)
		}
	}
	commit, err := exec.Command("git", "rev-parse", "HEAD").Output()
	expect.NoError(t, err)
	p.release = "1795370000-1.2.3-" + string(commit[:12])
	return p
}

// ServeHTTP simulates S3 and CloudFormation. If made is "stack", the stack exists only after a deployment.
func (p *project) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	called, _ := os.ReadFile(p.calls)
	if p.cloud.HandlesObject(r) {
		if r.Method == http.MethodPut {
			p.puts = append(p.puts, fmt.Sprint(r.URL.Path, " after ", strings.Count(string(called), "\n")))
		}
		p.cloud.ServeHTTP(w, r)
		return
	}
	if strings.HasPrefix(r.URL.Path, functionsPath) {
		p.lambda.ServeHTTP(w, r)
		return
	}
	action := r.FormValue("Action")
	if action == "ListStackResources" {
		p.lambda.listResources(w, r)
		return
	}
	p.asked = append(p.asked, strings.TrimSpace(action+" "+r.FormValue("StackName")+" "+
		r.FormValue("EnableTerminationProtection")))
	isDeployed := strings.Contains(string(called), "deploy --config-env")
	if p.made == "stack" && !isDeployed {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w,
			`<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack with id %s does not exist</Message></Error>`+
				`</ErrorResponse>`, r.FormValue("StackName"))
		return
	}
	_, _ = fmt.Fprintf(w, `<%[1]sResponse><%[1]sResult><Stacks><member><StackStatus>%[2]s</StackStatus><Outputs>`, action,
		p.status)
	for name, value := range p.outputs {
		if p.made == "bucket" && !isDeployed && name == "WidgetBucket" {
			continue
		}
		_, _ = fmt.Fprintf(w, `<member><OutputKey>%s</OutputKey><OutputValue>%s</OutputValue></member>`, name, value)
	}
	_, _ = fmt.Fprintf(w, `</Outputs></member></Stacks></%[1]sResult></%[1]sResponse>`, action)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// deploy runs the command, and returns its output and the arguments that it passed to sam.
func (p *project) deploy(t *testing.T, args ...string) (printed, calls string, err error) {
	t.Helper()
	var out bytes.Buffer
	err = run(t.Context(), args, time.Unix(1795370000, 0), strings.NewReader(""), &out)
	called, _ := os.ReadFile(p.calls)
	return out.String(), string(called), err
}

func TestDeployEnablesTerminationProtectionOutsideDev(t *testing.T) {
	for env, want := range map[string]struct{ name, asked, parameters string }{
		"dev": {
			"dev-stack", "DescribeStacks dev-stack, DescribeStacks dev-stack",
			"EnableSandbox=true LogRetentionDays=14 ",
		},
		"staging": {
			"staging-stack",
			"DescribeStacks staging-stack, UpdateTerminationProtection staging-stack true, DescribeStacks staging-stack", "",
		},
		"prod": {"prod-stack", "DescribeStacks prod-stack, UpdateTerminationProtection prod-stack true, DescribeStacks " +
			"prod-stack", ""},
	} {
		t.Run(env, func(t *testing.T) {
			p := newProject(t)
			printed, calls, err := p.deploy(t, "-env", env)
			if err != nil || calls != "build --config-env "+env+" --build-in-source --parallel\ndeploy --config-env "+env+
				" --no-fail-on-empty-changeset --parameter-overrides "+want.parameters+"Release="+p.release+"\n" {
				t.Fatalf("%v, sam was called with %s", err, calls)
			}
			if got := strings.Join(p.asked, ", "); got != want.asked {
				t.Errorf("CloudFormation was asked %s, want %s", got, want.asked)
			}
			for _, part := range []string{
				"stack " + want.name + " in us-east-1", "The API is at https://api.example/v1",
				"make smoke STACK=" + want.name, "-stack " + want.name + " organisation create",
			} {
				if !strings.Contains(printed, part) {
					t.Errorf("%q is not in %s", part, printed)
				}
			}
		})
	}
}

func TestDeployChecksPrerequisitesBeforeBuild(t *testing.T) {
	for name, test := range map[string]struct {
		env       string
		variables map[string]string
		files     map[string]string
		want      string
	}{
		"no environment": {env: "", want: "which environment? There are [dev staging prod]: make deploy ENV=dev"},
		"an unknown one": {env: "test", want: "which environment?"},
		"one without a stack": {
			env: "dev", files: map[string]string{"samconfig.toml": "version = 0.1\n"},
			want: "samconfig.toml has no stack_name for dev",
		},
		"no sam": {env: "dev", variables: map[string]string{"PATH": os.DevNull}, want: "the SAM CLI is missing"},
		"no region": {
			env: "dev", variables: map[string]string{"AWS_REGION": "", "AWS_DEFAULT_REGION": ""},
			want: "the AWS region is missing",
		},
		"no credentials": {
			env: "dev", want: "no AWS credentials found",
			variables: map[string]string{
				"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
				"AWS_EC2_METADATA_DISABLED": "true",
			},
		},
		"what is not committed, to production": {env: "prod", files: map[string]string{"new.go": ""}, want: "?? new.go"},
		"what is no repository, to production": {
			env: "prod", variables: map[string]string{"GIT_DIR": os.DevNull},
			want: "git status fails",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			for name, value := range test.variables {
				t.Setenv(name, value)
			}
			for file, text := range test.files {
				write(t, file, text)
			}
			_, calls, err := p.deploy(t, "-env", test.env)
			if err == nil || !strings.Contains(err.Error(), test.want) || calls != "" || len(p.asked) != 0 {
				t.Errorf("%v, want %q; sam was called with %q, CloudFormation %v", err, test.want, calls, p.asked)
			}
		})
	}
}

// TestDeployPassesOwnParametersToProduction checks that an operator's certificate needs no commit.
func TestDeployPassesOwnParametersToProduction(t *testing.T) {
	p := newProject(t)
	own := filepath.Join(t.TempDir(), "prod.parameters")
	write(t, own, "DomainName=api.example.org\nAlarmEmail=on call@example.org\n")
	_, calls, err := p.deploy(t, "-env", "prod", "-parameters", own)
	if err != nil || !strings.Contains(calls, "--parameter-overrides DomainName=api.example.org "+
		`AlarmEmail="on call@example.org" Release=`) {
		t.Errorf("%v, sam was called with %s", err, calls)
	}
	for file, want := range map[string]string{own + "x": "no such file", own: "not NAME=VALUE"} {
		write(t, own, "DomainName")
		if _, _, err = p.deploy(t, "-env", "prod", "-parameters", file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestDeployFailsWhenSAMFails(t *testing.T) {
	p := newProject(t)
	for failing, want := range map[string]string{
		"build":  "sam build: exit status 3",
		"deploy": "sam deploy: exit status 3",
	} {
		t.Setenv("FAILING", failing)
		printed, _, err := p.deploy(t, "-env", "staging")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(printed, "out of luck") ||
			strings.Contains(printed, "Deployed") || strings.Contains(strings.Join(p.asked, " "), "Protection") {
			t.Errorf("%v, want %q; printed %s, CloudFormation was asked %v", err, want, printed, p.asked)
		}
	}
	write(t, "new.go", "") // ignored, because only production deployments reject uncommitted changes
	t.Setenv("FAILING", "")
	if _, _, err := p.deploy(t, "-env", "dev"); err != nil {
		t.Error(err)
	}
}
