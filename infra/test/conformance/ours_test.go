package main_test

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/test/conformance/corpus"
	"recordbridge/infra/test/conformance/replay"
)

// minScripts is the minimum number of scripts in the corpus. If fewer scripts were loaded, the corpus is incomplete.
const minScripts = 400

// TestEmbeddedAWSPassesConformanceScripts runs the corpus against the embedded AWS in virtual time. The corpus must
// cover every operation that production code calls and every error code that it handles.
func TestEmbeddedAWSPassesConformanceScripts(t *testing.T) {
	t.Parallel()
	scripts, err := corpus.Load(os.DirFS("scripts"))
	if err != nil {
		t.Fatal(err)
	}
	seen := &seen{outcomes: map[string]bool{}}
	t.Cleanup(func() { checkCoverage(t, len(scripts), seen) }) // runs after all scripts
	for _, script := range scripts {
		t.Run(script.ID, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { play(t, script, seen) })
		})
	}
}

func checkCoverage(t *testing.T, scripts int, seen *seen) {
	t.Helper()
	if seen.scripts != scripts {
		return // only part of the corpus was selected
	}
	if scripts < minScripts {
		t.Errorf("%d scripts, want at least %d", scripts, minScripts)
	}
	for _, name := range called(t) {
		if !seen.outcomes[name] {
			t.Errorf("no script performs %s with success", name)
		}
	}
	for _, code := range handled(t) {
		// A script's calls are sequential and therefore can't conflict. The tests of package ddb cover conflicts.
		if !seen.outcomes[code] && code != "TransactionConflict" && code != "TransactionConflictException" {
			t.Errorf("our code handles %s, and no script meets it", code)
		}
	}
}

func play(t *testing.T, script corpus.Script, seen *seen) {
	t.Helper()
	cloud, err := aws.New(aws.Options{Middleware: []wire.Middleware{seen.watch}})
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	err = replay.Play(t.Context(), replay.Target{
		Name: "ours", URL: "http://127.0.0.1:4566", AccessKey: "conformance", SecretKey: "local", Client: cloud,
		NewID: func() string { runs++; return "c" + strconv.Itoa(runs) + "test" },
	}, script)
	if difference, ok := errors.AsType[*replay.DifferenceError](err); ok {
		t.Errorf("ours differs: %v", difference)
	} else if err != nil {
		t.Error(err)
	}
	seen.finished()
}

// seen records outcomes across all scripts: the operation ("dynamodb.PutItem") of each successful call and the error
// code of each failed call.
type seen struct {
	mu       sync.Mutex
	scripts  int
	outcomes map[string]bool
}

func (s *seen) finished() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts++
}

var code = regexp.MustCompile(`(?:"__type":"(?:[^"#]*#)?|"Code":"|<Code>)(\w+)`)

func (s *seen) watch(next wire.Handler) wire.Handler {
	return func(w http.ResponseWriter, r *http.Request, c wire.Call) {
		watched := &watcher{ResponseWriter: w, status: http.StatusOK}
		next(watched, r, c)
		s.mu.Lock()
		defer s.mu.Unlock()
		if watched.status < http.StatusBadRequest {
			s.outcomes[c.Service+"."+c.Operation] = true
			return
		}
		for _, found := range code.FindAllSubmatch(watched.body.Bytes(), -1) {
			s.outcomes[string(found[1])] = true
		}
	}
}

// watcher records a response's status and, for an error, its body.
type watcher struct {
	http.ResponseWriter

	status int
	body   bytes.Buffer
}

func (w *watcher) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *watcher) Write(part []byte) (int, error) {
	if w.status >= http.StatusBadRequest {
		w.body.Write(part)
	}
	return w.ResponseWriter.Write(part)
}

var (
	input      = regexp.MustCompile(`\b(?:aws)?(dynamodb|sqs|s3|kms|ses|secretsmanager|ssm)\.(\w+)Input\{`)
	exception  = regexp.MustCompile(`\*?types\.(\w+(?:Exception|Exists|NotFound|NoSuch\w+))\b`)
	reasonCode = regexp.MustCompile(`"(ConditionalCheckFailed|TransactionConflict|NoSuch\w+|PreconditionFailed)"`)
	// handler matches an entry in the table that maps a service's operations to handlers.
	handler = regexp.MustCompile(`"([A-Z]\w+)":\s+(?:(?:operation|wire\.Typed)\(\w+|s|buckets|objects|uploads)\.[a-z]\w+`)
)

// productFolders lists the folders that call AWS: the product itself, and the tools that create and display its data.
func productFolders() []string {
	return []string{
		"shared", "functions", "infra/ctl", "infra/demo", "infra/local/console", "infra/local/provision",
		"infra/local/seed", "infra/local/triggers",
	}
}

// called lists the operations that production code calls, according to the SDK input types that it uses.
func called(t *testing.T) []string {
	t.Helper()
	return found(t, input, isProgram, operationOf, productFolders()...)
}

func operationOf(m []string) string { return m[1] + "." + m[2] }

// handled lists the AWS error codes that production code handles individually.
func handled(t *testing.T) []string {
	t.Helper()
	name := func(m []string) string { return m[1] }
	return append(found(t, exception, isProgram, name, productFolders()...),
		found(t, reasonCode, isProgram, name, productFolders()...)...)
}

// command matches a command of the AWS CLI in a runbook.
var command = regexp.MustCompile(`\baws (dynamodb|sqs|s3|kms|ses|secretsmanager|ssm) ([a-z-]+)`)

// operationOfCommand returns the operation of a command, such as kms.EnableKey for aws kms enable-key.
func operationOfCommand(m []string) string {
	var name strings.Builder
	for word := range strings.SplitSeq(m[2], "-") {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return m[1] + "." + name.String()
}

// TestEmulatorOmitsUnusedOperations enforces ADR 10: the emulator supports only operations that production code,
// end-to-end tests, drills or the commands of runbooks call.
func TestEmulatorOmitsUnusedOperations(t *testing.T) {
	t.Parallel()
	isGo := func(path string) bool { return strings.HasSuffix(path, ".go") }
	calls := found(t, input, isGo, operationOf, append(productFolders(), "infra/test/e2e", "infra/drill")...)
	isPage := func(path string) bool { return strings.HasSuffix(path, ".md") }
	calls = append(calls, found(t, command, isPage, operationOfCommand, "docs/operate")...)
	services := map[string]string{
		"dynamodb": "ddb", "sqs": "sqs", "s3": "s3", "kms": "kms", "ses": "ses", "secretsmanager": "secrets", "ssm": "ssm",
	}
	for service, folder := range services {
		name := func(m []string) string { return service + "." + m[1] }
		for _, operation := range found(t, handler, isProgram, name, "infra/local/aws/"+folder) {
			if !slices.Contains(calls, operation) {
				t.Errorf("%s is emulated and nothing calls it", operation)
			}
		}
	}
}

func isProgram(path string) bool {
	return strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
}

// found applies name to every match of pattern in the folders' files and returns the results. wanted selects the files
// to search.
func found(t *testing.T, pattern *regexp.Regexp, wanted func(path string) bool, name func([]string) string,
	folders ...string,
) []string {
	t.Helper()
	var names []string
	for _, folder := range folders {
		err := fs.WalkDir(os.DirFS("../../.."), folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !wanted(path) {
				return err
			}
			text, err := os.ReadFile("../../../" + path)
			for _, m := range pattern.FindAllStringSubmatch(string(text), -1) {
				names = append(names, name(m))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(names) == 0 {
		t.Fatalf("nothing in %v looks like %s any more", folders, pattern)
	}
	return names
}
