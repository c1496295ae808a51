package main

import (
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"recordbridge/infra/local/engine"
)

func TestParseRejectsInvalidCommandLine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"-addr 0.0.0.0:80":     "-addr 0.0.0.0:80: must be a loopback address",
		"-aws localhost:4566":  "-aws localhost:4566: must be a loopback address",
		"-aws 127.0.0.1:0":     "must be a loopback address and a port",
		"-aws 127.0.0.1":       "must be a loopback address and a port",
		"-container-host here": "invalid value",
		"more":                 `"more" is not a flag`,
	} {
		if _, err := parse(strings.Fields(line), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestProgramRunsWithoutInheritedAWSCredentials(t *testing.T) {
	t.Setenv("AWS_PROFILE", "production")
	t.Setenv("AWS_SESSION_TOKEN", "SENTINEL")
	log := filepath.Join(t.TempDir(), "run.json")
	if err := (options{runFile: log}).do(t.Context(), t.TempDir(), []string{"AWS_ENDPOINT_URL=http://127.0.0.1:1"}, "env",
		"-0"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(options{runFile: log}.log("env--0"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for v := range strings.SplitSeq(string(text), "\x00") {
		if strings.HasPrefix(v, "AWS_") {
			got = append(got, v)
		}
	}
	slices.Sort(got)
	want := []string{
		"AWS_CONFIG_FILE=/dev/null", "AWS_EC2_METADATA_DISABLED=true", "AWS_ENDPOINT_URL=http://127.0.0.1:1",
		"AWS_SHARED_CREDENTIALS_FILE=/dev/null",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProgramErrorIncludesItsLog(t *testing.T) {
	t.Parallel()
	o := options{runFile: filepath.Join(t.TempDir(), "run.json")}
	err := o.do(t.Context(), t.TempDir(), nil, "sh", "-c", "seq 100; exit 3")
	if err == nil || !strings.Contains(err.Error(), "sh -c: exit status 3\n  86\n") ||
		!strings.Contains(err.Error(), "  100\n  ("+o.log("sh--c")) {
		t.Errorf("got %v", err)
	}
}

// TestListenAtExcludesPublicInterfaces checks that only this machine and its containers can reach LocalStack, because
// any client of LocalStack has all permissions.
func TestListenAtExcludesPublicInterfaces(t *testing.T) {
	t.Parallel()
	here, virtual := &engine.Engine{Host: netip.MustParseAddr("127.0.0.1")},
		&engine.Engine{Host: netip.MustParseAddr("192.0.2.1")}
	beside := options{aws: "127.0.0.1:4666", command: []string{"localstack"}}
	if got, want := beside.listenAt(here), "127.0.0.1:4666,127.0.0.1:4666"; got != want {
		t.Errorf("on this machine: got %s, want %s", got, want)
	}
	if got := beside.listenAt(virtual); got != "127.0.0.1:4666" {
		t.Errorf("where containers are in a virtual machine: got %s", got)
	}
	o := options{aws: "127.0.0.1:4666", address: "127.0.0.1:4580"}
	command := strings.Join(o.container("name", o.settings("name", virtual)), " ")
	for _, part := range []string{
		"docker run --rm --name name --publish 127.0.0.1:4666:4566 ", "--env GATEWAY_LISTEN=0.0.0.0:4566 ",
		"--env LAMBDA_DOCKER_FLAGS=--add-host localhost:192.0.2.1 ", " localstack/localstack:4.14.0",
	} {
		if !strings.Contains(command, part) {
			t.Errorf("%q is not in %s", part, command)
		}
	}
}
