package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"recordbridge/infra/local/template"
	"recordbridge/infra/test/policy"
	"recordbridge/infra/testkit/expect"
)

const root = "../.."

// layered is the repository's file system with the generated files overlaid.
type layered struct {
	fs.FS

	written fstest.MapFS
}

func (l layered) Open(name string) (fs.File, error) {
	if f, err := l.written.Open(name); err == nil {
		return f, nil
	}
	return l.FS.Open(name)
}

// endpoints generates several endpoints in sequence and returns every file created or changed.
func endpoints(t *testing.T, names ...string) map[string][]byte {
	t.Helper()
	repository := layered{os.DirFS(root), fstest.MapFS{}}
	all := map[string][]byte{}
	for _, name := range names {
		e, err := newEndpoint(name, "GET", "/bridge/"+strings.ToLower(name), "key")
		expect.NoError(t, err)
		files, err := generate(repository, e)
		expect.NoError(t, err)
		for file, text := range files {
			all[file] = text
			repository.written[file] = &fstest.MapFile{Data: text}
		}
	}
	return all
}

// TestGeneratedEndpointPassesItsTests runs the generated tests with the go command's -overlay flag, without writing to
// the repository.
func TestGeneratedEndpointPassesItsTests(t *testing.T) {
	t.Parallel()
	const name = "readsomething"
	folder := t.TempDir()
	places := map[string]string{}
	for file, text := range endpoints(t, name) {
		if !strings.HasSuffix(file, ".go") {
			continue
		}
		at := filepath.Join(folder, strings.ReplaceAll(file, "/", "-"))
		expect.NoError(t, os.WriteFile(at, text, 0o600))
		place, err := filepath.Abs(filepath.Join(root, file))
		expect.NoError(t, err)
		places[place] = at
	}
	overlay, err := json.Marshal(map[string]any{"Replace": places})
	expect.NoError(t, err)
	file := filepath.Join(folder, "overlay.json")
	expect.NoError(t, os.WriteFile(file, overlay, 0o600))
	main, tests, function := filepath.Join(folder, "main"), filepath.Join(folder, "tests"), "./functions/"+name
	execute(t, root, "go", "build", "-overlay", file, "-o", main, function+"/bootstrap")
	execute(t, root, "go", "list", "-overlay", file, "-test", "-export", "./infra/test/e2e") // compiles without linking
	// The test uses -vet=off and -c, because go vet and a plain go test would require the folder to exist.
	execute(t, root, "go", "test", "-overlay", file, "-vet=off", "-c", "-o", tests, function)
	execute(t, folder, tests)
}

func execute(t *testing.T, folder, name string, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, arguments...)
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%s %v: %v\n%s", name, arguments, err, out)
	}
}

// TestGeneratedEndpointPassesPolicyChecks generates two endpoints because the first one fills the existing alarms.
func TestGeneratedEndpointPassesPolicyChecks(t *testing.T) {
	t.Parallel()
	files := endpoints(t, "ReadSomething", "listthings")
	file := filepath.Join(t.TempDir(), stackFile)
	expect.NoError(t, os.WriteFile(file, files[stackFile], 0o600))
	options := template.Options{Parameters: map[string]string{"EnableSandbox": "true"}, StackName: "s"}
	loaded, err := template.Load(file, options)
	expect.NoError(t, err)
	stack, err := policy.ParseStack(files[stackFile])
	expect.NoError(t, err)
	folders := make([]string, 0, len(loaded.Functions))
	for _, f := range loaded.Functions {
		folders = append(folders, f.Folder)
	}
	if !slices.Contains(folders, "readsomething") || !slices.Contains(folders, "listthings") {
		t.Errorf("functions: %v", folders)
	}
	tree := &policy.Tree{}
	for name, text := range files {
		if strings.HasPrefix(name, "functions/") {
			tree.Files = append(tree.Files, policy.File{Path: name, Text: text})
		}
	}
	for _, f := range slices.Concat(
		policy.Words(tree), policy.Routes(loaded.Functions, files[apiFile]), policy.Roles(stack), policy.Wildcards(stack),
		policy.OutsideTemplate(stack), policy.Gateway(stack), policy.Budget(stack),
		policy.Watched(stack), policy.Metrics(stack),
	) {
		t.Error(f)
	}
}

func TestGenerateAddsAlarmsWhenExistingOnesAreFull(t *testing.T) {
	t.Parallel()
	text := string(endpoints(t, "ReadSomething", "listthings")[stackFile])
	for _, kind := range []string{"Errors", "Throttles", "Duration"} {
		for group, want := range map[string]int{"Request": mostMetrics, "Request2": 1} {
			if got := strings.Count(block(text, group+kind+"Alarm"), "MetricStat:"); got != want {
				t.Errorf("%s%sAlarm: got %d metrics, want %d", group, kind, got, want)
			}
		}
	}
}

func TestGenerateRejectsExistingEndpoint(t *testing.T) {
	t.Parallel()
	for _, e := range []endpoint{
		{Folder: "getorg", Logical: "GetOrg", Path: "/bridge/something"},
		{Folder: "getsomething", Logical: "GetSomething", Path: "/bridge/org"},
		{Folder: "getwebhook", Logical: "GetWebhook", Path: "/bridge/something"}, // the dashboard's operation
	} {
		if _, err := generate(os.DirFS(root), e); !errors.Is(err, errTaken) {
			t.Errorf("%+v: got %v, want %v", e, err, errTaken)
		}
	}
}

func TestNewEndpointDerivesNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"getsomething": "GetSomething", "GetSomething": "GetSomething", "listThings": "ListThings",
		"ping": "Ping", "get": "Get",
	} {
		e, err := newEndpoint(name, "GET", "/bridge/x", "key")
		if err != nil || e.Logical != want || e.Folder != strings.ToLower(name) {
			t.Errorf("%s: got %+v, %v, want %s", name, e, err, want)
		}
	}
}

func TestNewEndpointRejectsUnsupportedInput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, method, path, access, want string }{
		{"", "GET", "/bridge/x", "key", "the name"},
		{"get-x", "GET", "/bridge/x", "key", "the name"},
		{"getx", "POST", "/bridge/x", "key", "only GET"},
		{"getx", "GET", "", "key", "the path"},
		{"getx", "GET", "bridge/x", "key", "the path"},
		{"getx", "GET", "/bridge/{id}", "key", "the path"},
		{"getx", "GET", "/bridge/x", "session", "only endpoints with an API key"},
	} {
		if _, err := newEndpoint(c.name, c.method, c.path, c.access); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}
