package main_test

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// elsewhere is an address reserved for documentation (RFC 5737), at which no server listens.
const elsewhere = "192.0.2.250"

// tools creates a directory of shell scripts to use as the entire PATH.
func tools(t *testing.T, scripts map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// engine returns a script that imitates a docker client whose engine has the given architecture. The case clauses in
// amiss precede the default clauses, and so override them.
func engine(architecture, amiss string) string {
	return `case "$1" in
		` + amiss + `
		version) echo ` + architecture + `;;
		run) echo "` + elsewhere + ` runner.internal";;
	esac`
}

func TestContainerStartErrorSuggestsRemedy(t *testing.T) {
	t.Parallel()
	other := map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
	for name, test := range map[string]struct {
		tools map[string]string
		want  string
	}{
		"there is no SAM CLI": {
			map[string]string{"docker": engine(runtime.GOARCH, "")},
			"the sam command is missing: install it (https://",
		},
		"there is no Docker": {map[string]string{"sam": ""}, "the docker command is missing: install Docker (https://"},
		"the engine does not run": {
			map[string]string{"sam": "", "docker": engine(runtime.GOARCH,
				`version) echo "Cannot connect to the daemon" >&2; exit 1;;`)},
			"the container engine does not respond: start it (Cannot connect to the daemon)",
		},
		"the image cannot be had": {
			map[string]string{"sam": "", "docker": engine("amd64", `image|pull) echo "no route to registry" >&2; exit 1;;`)},
			"the image public.ecr.aws/lambda/provided:al2023-x86_64 is missing and can't be pulled: run `.ci/engine up " +
				".local/engine` to build it (no route to registry)",
		},
		"the image is for another architecture": {
			map[string]string{"sam": "", "docker": engine("arm64", `run) echo "exec format error" >&2; exit 1;;`)},
			"a container of public.ecr.aws/lambda/provided:al2023-arm64 does not run here: `docker pull --platform " +
				"linux/arm64 public.ecr.aws/lambda/provided:al2023-arm64`" +
				" fetches the image for this machine (exec format error)",
		},
		"containers do not see this machine": {
			map[string]string{"sam": "", "docker": engine(runtime.GOARCH, `run) echo "127.0.0.1 localhost";;`)},
			"set it with -container-host",
		},
		"the binaries are for another architecture": {
			map[string]string{"sam": "", "docker": engine(other, "")},
			"build/" + other + "/echo/bootstrap is not a program for containers here: it is for EM_",
		},
		"the CLI ends": {
			map[string]string{
				"sam":    "echo; echo 'Error: No such option: --add-host'; exit 2",
				"docker": engine(runtime.GOARCH, ""),
			},
			"`sam local start-lambda` has exited: Error: No such option: --add-host",
		},
		"the CLI sees neither this machine's AWS account nor a variable of a function": {
			map[string]string{
				"sam":    `echo "$AWS_PROFILE $AWS_ACCESS_KEY_ID $ANSWER $AWS_CONFIG_FILE $OTHER"`,
				"docker": engine(runtime.GOARCH, ""),
			},
			"has exited: " + os.DevNull + " stays",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := project(t)
			if err := os.Symlink(filepath.Join(dir, "build"), filepath.Join(dir, "build", other)); err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), runner, "-no-build", "-seed=false", "-addr", "127.0.0.1:0", "-sam")
			command.Dir = dir
			command.Env = []string{
				"PATH=" + tools(t, test.tools), "AWS_PROFILE=work", "AWS_ACCESS_KEY_ID=real", "ANSWER=shell",
				"OTHER=stays",
			}
			output, err := command.CombinedOutput()
			if err == nil {
				t.Error("it started")
			}
			last := strings.TrimSpace(string(output))
			if last = last[strings.LastIndexByte(last, '\n')+1:]; !strings.HasPrefix(last, "local: ") ||
				!strings.Contains(last, test.want) {
				t.Errorf("got %s\nwant a last line with %q", output, test.want)
			}
			if _, err := os.Stat(filepath.Join(dir, ".local", "run.make-local-sam.json")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the template with the secret is left (%v)", err)
			}
		})
	}
}

// contained creates a project with binaries that run in containers, and returns its directory.
func contained(t *testing.T) string {
	t.Helper()
	dir := project(t)
	program := filepath.Join(t.TempDir(), "bootstrap")
	compile := exec.CommandContext(t.Context(), "go", "test", "-c", "-trimpath", "-gcflags", "all=-dwarf=false",
		"-ldflags", "-s -w",
		"-tags", "lambda.norpc,grpcnotrace", "-o", program, ".")
	compile.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux") // the image contains no shared libraries
	if output, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for _, folder := range []string{"echo", "worker"} {
		at := filepath.Join(dir, "build", folder, "bootstrap")
		if err := errors.Join(os.Remove(at), os.Link(program, at)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestContainersEnforcePermissionsAndAreRemoved checks that functions in containers have the same permissions as
// processes and can reach the service. A run must remove all of its own containers and no others.
func TestContainersEnforcePermissionsAndAreRemoved(t *testing.T) {
	t.Parallel()
	if os.Getenv("RECORDBRIDGE_ENGINE") == "" {
		t.Skip("RECORDBRIDGE_ENGINE=1 says that there are a container engine and the SAM CLI, as in CI")
	}
	dir := contained(t)
	s := start(t, dir, "-sam")
	processes := start(t, project(t))

	_, refused := processes.do(t, http.MethodGet, "/v1/echo?look=1", "")
	status, body := s.do(t, http.MethodGet, "/v1/echo?look=1", "")
	without := func(body string) string {
		_, after, _ := strings.Cut(body, "api error ")
		return after
	}
	if status != http.StatusOK || !strings.Contains(body, "AccessDenied") || without(body) != without(refused) {
		t.Errorf("in a container: %d %q\nas a process: %q\nwant the same refusal", status, body, refused)
	}
	status, body = s.do(t, http.MethodGet, "/v1/echo", "")
	port := strings.TrimPrefix(s.aws.EndpointURL, "http://127.0.0.1")
	if status != http.StatusOK || !strings.HasPrefix(body, "http://localhost"+port+"/v1 true ") {
		t.Errorf("got %d %q, want the public address by name", status, body)
	}
	_, ranges, _ := strings.Cut(body, "127.0.0.0/8,::1/128,")
	inside, rest, _ := strings.Cut(ranges, "/32")
	if inside == "" || rest != "" {
		t.Errorf("got %q, want one address more to be let through", body)
	}
	s.asContainer("http://" + inside + port).onlyService(t)
	anotherRunEnds(t, dir)
	ended(t, s, dir)
}

// anotherRunEnds starts and stops another run in the same directory. That run must remove only its own containers.
func anotherRunEnds(t *testing.T, dir string) {
	t.Helper()
	before := containersOf(t, dir)
	other := start(t, dir, "-sam", "-run-file", filepath.Join(dir, ".local", "other.json"))
	other.do(t, http.MethodGet, "/v1/echo", "")
	if during := containersOf(t, dir); len(before) == 0 || len(during) <= len(before) {
		t.Errorf("the containers are %v, and with another run %v", before, during)
	}
	if err := errors.Join(other.Process.Signal(syscall.SIGINT), other.Wait()); err != nil {
		t.Error(err)
	}
	if after := containersOf(t, dir); !slices.Equal(after, before) {
		t.Errorf("the containers were %v, and after another run they are %v", before, after)
	}
}

func containersOf(t *testing.T, dir string) []string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "docker", "ps", "--all", "--quiet", "--filter",
		"volume="+filepath.Join(dir, "build", "echo"),
		"--filter", "volume="+filepath.Join(dir, "build", "worker")).Output()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(slices.Values(strings.Fields(string(output))))
}

// asContainer returns a copy of s that sends its requests to url, the service's URL for containers.
func (s started) asContainer(url string) started {
	s.url = url
	return s
}

// onlyService checks that containers on the same network can reach the service but not the console.
func (s started) onlyService(t *testing.T) {
	t.Helper()
	for path, want := range map[string]int{
		"/v1/echo": http.StatusOK, "/_local/inbox/alder": http.StatusOK, "/_local": http.StatusNotFound,
		"/_local/api/state": http.StatusNotFound,
	} {
		if got, _ := s.do(t, http.MethodGet, path, ""); got != want {
			t.Errorf("GET %s from a container: got %d, want %d", path, got, want)
		}
	}
	if got, _ := s.do(t, http.MethodGet, "/v1/echo", "rebound.example"); got != http.StatusMisdirectedRequest {
		t.Errorf("as another host: got %d, want 421", got)
	}
}

// ended interrupts a runner as Ctrl-C does and checks that the runner cleans up.
func ended(t *testing.T, s started, dir string) {
	t.Helper()
	if secret := s.aws.SecretAccessKey; len(secret) < 26 { // rand.Text returns at least 26 characters
		t.Errorf("the secret %q is no random one", secret)
	}
	template := filepath.Join(dir, ".local", "run.make-local-sam.json")
	if info, err := os.Stat(template); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the template with the secret: %v, %v, want it for its owner only", info, err)
	}
	if err := s.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Errorf("got %v, want an orderly end", err)
	}
	if _, err := os.Stat(template); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the template with the secret is left (%v)", err)
	}
	if left := containersOf(t, dir); len(left) > 0 {
		t.Errorf("containers are left: %v", left)
	}
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range commands {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), template) {
			t.Errorf("a process is left: %q", line)
		}
	}
}
