package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"recordbridge/infra/local/runfile"
)

// describeStacks simulates CloudFormation's response for a stack named ctl whose outputs are in file.
func describeStacks(w http.ResponseWriter, r *http.Request, file string) {
	if r.FormValue("Action") != "DescribeStacks" || r.FormValue("Version") != "2010-05-15" ||
		r.FormValue("StackName") != "ctl" {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w,
			`<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error><Type>Sender</Type>`+
				`<Code>ValidationError</Code><Message>Stack with id %s does not exist</Message></Error></ErrorResponse>`,
			r.FormValue("StackName"))
		return
	}
	body, _ := os.ReadFile(file)
	var outputs map[string]string
	_ = json.Unmarshal(body, &outputs)
	_, _ = io.WriteString(w,
		`<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult>`+
			`<Stacks><member>`+
			`<StackName>ctl</StackName><Outputs>`)
	for name, value := range outputs {
		_, _ = fmt.Fprintf(w, `<member><OutputKey>%s</OutputKey><OutputValue>%s</OutputValue></member>`, name, value)
	}
	_, _ = io.WriteString(w, `</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`)
}

// attempt runs a command in this folder and returns its output and messages.
func attempt(t *testing.T, args ...string) (printed, said string, err error) {
	t.Helper()
	var out, about bytes.Buffer
	err = run(t.Context(), args, streams{input: strings.NewReader(""), out: &out, said: &about})
	return out.String(), about.String(), err
}

func TestCommandsFindLocalStackWithoutFlags(t *testing.T) {
	outputs := newStack(t)
	here := runfile.AWS{
		EndpointURL: os.Getenv("AWS_ENDPOINT_URL"), Region: "us-east-1", AccessKeyID: "operator",
		SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"), Outputs: outputsOf(t, outputs),
	}
	t.Chdir(t.TempDir())
	if err := runfile.Write(localRun, runfile.Run{Stack: runfile.SAMLocal, AWS: here}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "of another stack")
	for _, args := range [][]string{
		{"organisation", "create", "-name", "Alder"},
		{"-outputs", localRun, "organisation", "list"},
	} {
		printed, said, err := attempt(t, args...)
		if want := "ctl: sam local at " + here.EndpointURL + " (.local/run.json)\n"; err != nil || said != want ||
			!strings.Contains(printed, `"name": "Alder"`) {
			t.Errorf("%q: %v, printed %s, said %q, want %q", args, err, printed, said, want)
		}
	}
	here.EndpointURL = "http://127.0.0.1:1"
	if err := runfile.Write(localRun, runfile.Run{AWS: here}); err != nil {
		t.Fatal(err)
	}
	_, said, err := attempt(t, "organisation", "list")
	if exitCode(err) != 1 || said != "" || !strings.Contains(err.Error(),
		".local/run.json no longer responds at http://127.0.0.1:1: start it again with make run") {
		t.Errorf("of a run that has ended: %v, said %q", err, said)
	}
}

func TestStackFlagSelectsStackByName(t *testing.T) {
	outputs := newStack(t)
	t.Chdir(t.TempDir())
	printed, said, err := attempt(t, "-stack", "ctl", "organisation", "create", "-name", "Alder")
	if err != nil || said != "ctl: stack ctl in us-east-1\n" || !strings.Contains(printed, `"name": "Alder"`) {
		t.Errorf("%v, printed %s, said %q", err, printed, said)
	}
	if _, said, err = attempt(t, "-outputs", outputs, "organisation", "list"); err != nil ||
		said != "ctl: stack of "+outputs+" in us-east-1\n" {
		t.Errorf("by its outputs: %v, said %q", err, said)
	}
	if _, _, err = attempt(t, "-stack", "nowhere", "organisation", "list"); err == nil ||
		err.Error() != "-stack nowhere in us-east-1: ValidationError: Stack with id nowhere does not exist" {
		t.Errorf("one that is not there: %v", err)
	}
	// the AWS CLI's output format
	names := outputsOf(t, outputs)
	listed := make([]map[string]string, 0, len(names))
	for name, value := range names {
		listed = append(listed, map[string]string{"OutputKey": name, "OutputValue": value})
	}
	body, err := json.Marshal(listed)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := attempt(t, "-outputs", writeFile(t, string(body)), "organisation", "list"); err != nil {
		t.Errorf("by a list of outputs: %v", err)
	}
	for file, want := range map[string]string{
		writeFile(t, "no JSON"): "has no outputs", filepath.Join(t.TempDir(), "none"): "-outputs: open",
		writeFile(t, "{}"): "the stack has no output ControlTable",
	} {
		if _, _, err := attempt(t, "-outputs", file, "organisation", "list"); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestMissingCredentialsErrorNamesMissingSettings checks that ctl reports its own error, because the SDK's error
// describes only the last source that it tried, EC2 instance metadata.
func TestMissingCredentialsErrorNamesMissingSettings(t *testing.T) {
	profiles := writeFile(t, "[profile there]\nregion = eu-west-1\n[profile nowhere]\n")
	for name, test := range map[string]struct {
		set  map[string]string
		want []string
	}{
		"half a key": {
			map[string]string{"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "a"},
			[]string{"no AWS credentials found", "AWS_PROFILE", "(variables set: AWS_REGION, AWS_ACCESS_KEY_ID)"},
		},
		"nothing": {nil, []string{"the AWS region is missing: set AWS_REGION", "(no AWS variables are set)"}},
		"a region": {
			map[string]string{"AWS_REGION": "eu-west-1"},
			[]string{"no AWS credentials found: set AWS_PROFILE"},
		},
		"a profile": {
			map[string]string{"AWS_PROFILE": "there"},
			[]string{"no AWS credentials found", "(variables set: AWS_PROFILE)"},
		},
		"no region": {map[string]string{"AWS_PROFILE": "nowhere"}, []string{"the AWS region is missing"}},
		"no profile": {
			map[string]string{"AWS_PROFILE": "unknown"},
			[]string{"the AWS configuration is invalid", "unknown", "(variables set: AWS_PROFILE)"},
		},
		"no such role": {
			map[string]string{"AWS_REGION": "eu-west-1", "AWS_SECRET_ACCESS_KEY": "private-value"},
			[]string{"no AWS credentials found"},
		},
	} {
		for _, variable := range []string{
			"AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
			"AWS_SESSION_TOKEN",
			"AWS_ENDPOINT_URL",
		} {
			t.Setenv(variable, test.set[variable])
		}
		t.Setenv("AWS_CONFIG_FILE", profiles)
		t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
		t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1")
		// Without this setting, the SDK would retry for several seconds.
		t.Setenv("AWS_EC2_METADATA_DISABLED", strconv.FormatBool(name != "half a key"))
		_, _, err := attempt(t, "-stack", "ctl", "organisation", "list")
		if exitCode(err) != 1 || slices.ContainsFunc(test.want,
			func(word string) bool { return !strings.Contains(err.Error(), word) }) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if err != nil && (strings.Contains(strings.ToLower(err.Error()), "imds") ||
			strings.Contains(err.Error(), "private-value")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
