package policy_test

import (
	"context"
	"os"
	"sync"
	"testing"

	"recordbridge/infra/local/template"
	"recordbridge/infra/policy"
)

const root = "../.."

// What the rules judge is read once.
var (
	tree = sync.OnceValues(func() (*policy.Tree, error) { return policy.ReadTree(os.DirFS(root)) })

	// packages must outlive the first test that asks for them, so it takes no test's context.
	packages = sync.OnceValues(func() ([]policy.Package, error) {
		return policy.List(context.Background(), root)
	})

	stack = sync.OnceValues(func() (*policy.Stack, error) {
		text, err := os.ReadFile(root + "/template.yaml")
		if err != nil {
			return nil, err
		}
		return policy.ParseStack(text)
	})

	// resolved has every function: the sandbox too.
	resolved = sync.OnceValues(func() (*template.Template, error) {
		return template.Load(root+"/template.yaml", template.Options{
			Parameters: map[string]string{"EnableSandbox": "true"}, BaseURL: "http://127.0.0.1:4566", StackName: "recordbridge",
		})
	})
)

func TestTheRepositoryKeepsTheHouseRules(t *testing.T) {
	t.Parallel()
	source, listed, s := need(t, tree), need(t, packages), need(t, stack)
	functions := need(t, resolved).Functions
	rules := map[string]func() []policy.Finding{
		"a function's folder is in the template": func() []policy.Finding { return policy.Folders(source, functions) },
		"a function's routes are in the OpenAPI": func() []policy.Finding {
			return policy.Routes(functions, source.Text("docs/openapi.yaml"))
		},
		"a function's folder is a row in docs": func() []policy.Finding {
			return policy.FunctionTable(source.Functions(), source.Text("docs/architecture.md"))
		},
		"a function reads what the template sets": func() []policy.Finding { return policy.Environments(source, functions) },

		"imports go down the layers":          func() []policy.Finding { return policy.Layers(listed) },
		"the domain knows no AWS and no HTTP": func() []policy.Finding { return policy.Domain(listed) },
		"only wiring chooses adapters":        func() []policy.Finding { return policy.Boundaries(listed) },
		"lambdas link no test code":           func() []policy.Finding { return policy.Lambdas(listed) },

		"files are short":                 func() []policy.Finding { return policy.FileLengths(source) },
		"functions are short":             func() []policy.Finding { return policy.FunctionLengths(source) },
		"every package has one comment":   func() []policy.Finding { return policy.PackageComments(source) },
		"there is no init":                func() []policy.Finding { return policy.NoInit(source) },
		"no work is left unfinished":      func() []policy.Finding { return policy.NoMarkers(source) },
		"what is exported is used":        func() []policy.Finding { return policy.UnusedExports(source, excused()) },
		"error codes are documented":      func() []policy.Finding { return policy.ErrorCodes(source) },
		"public texts are short ASCII":    func() []policy.Finding { return policy.PublicTexts(source) },
		"the README starts with make":     func() []policy.Finding { return policy.ReadmeCommands(source) },
		"links lead somewhere":            func() []policy.Finding { return policy.Links(source) },
		"the Makefile has its targets":    func() []policy.Finding { return policy.MakeTargets(source, makeTargets()) },
		"the linters are not loosened":    func() []policy.Finding { return policy.Linters(source, linters(), exclusions()) },
		"the stack is small enough":       func() []policy.Finding { return policy.Size(s) },
		"permissions name what they give": func() []policy.Finding { return policy.Wildcards(s) },
		"nothing reads a whole table":     func() []policy.Finding { return policy.NoScan(s, source) },
		"tokens are for two functions":    func() []policy.Finding { return policy.Reserved(s, reserved()) },
		"queues are safe":                 func() []policy.Finding { return policy.Queues(s) },
		"buckets are safe":                func() []policy.Finding { return policy.Buckets(s) },
		"tables are safe":                 func() []policy.Finding { return policy.Tables(s, []string{"FlowTable", "SandboxTable"}) },
		"functions are limited":           func() []policy.Finding { return policy.Functions(s) },
	}
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range rule() {
				t.Error(f)
			}
		})
	}
}

// need gives what the rules are about, or ends the test.
func need[T any](t *testing.T, read func() (T, error)) T {
	t.Helper()
	v, err := read()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// makeTargets are what `make help` has to offer (issue 3).
func makeTargets() []string {
	return []string{"run", "test", "demo", "soak", "lint", "check", "build", "bench", "fmt", "clean", "help"}
}

// reserved tells who may touch what patients' tokens are made of (architecture section 6).
func reserved() map[string][]string {
	functions := []string{"CallbackFunction", "ExportWorkerFunction"}
	return map[string][]string{"TokensTable": functions, "TokensKey": functions}
}

// linters are those that stay enabled.
func linters() []string {
	return []string{
		"asasalint", "bodyclose", "contextcheck", "copyloopvar", "durationcheck", "errcheck", "errchkjson", "errorlint",
		"exhaustive", "fatcontext", "gocheckcompilerdirectives", "govet", "iotamixing", "makezero", "mirror", "nilerr",
		"nilnesserr", "noctx", "reassign", "recvcheck", "staticcheck", "unparam", "unused", "wastedassign",
		"asciicheck", "bidichk", "gosec", "nosprintfhostport",
		"containedctx", "depguard", "forbidigo", "gochecknoglobals", "gochecknoinits", "iface", "wrapcheck",
		"embeddedstructfieldcheck", "errname", "funcorder", "gocognit", "gocritic", "goprintffuncname", "ineffassign",
		"intrange", "misspell", "modernize", "nakedret", "nestif", "nolintlint", "perfsprint", "prealloc", "predeclared",
		"revive", "sloglint", "unconvert", "usestdlibvars", "exptostd",
		"testpackage", "thelper", "tparallel", "usetesting",
		"gofumpt", "gci",
	}
}

// exclusions are where linters may stay silent: tests are not production, and commands and infra hold the clock.
func exclusions() map[string][]string {
	return map[string][]string{
		`_test\.go`: {
			"forbidigo", "gochecknoglobals", "gocognit", "gosec", "noctx", "unparam", "wrapcheck",
		},
		`(bootstrap|infra)/`: {"forbidigo", "wrapcheck"},
	}
}

// excused are exported names that nothing outside tests uses from another package, each with its reason.
func excused() map[string]string {
	return map[string]string{
		"shared/catalog.EndpointSuspended": "a stored value that every reader compares against active",
		"shared/connection.Revoked":        "a stored value that every reader compares against authorized",
		"shared/org.Inactive":              "a stored value that every reader compares against active",
		"shared/config.LoadFrom":           "how tests of another package load an Environment",
		"shared/fhir.ErrInvalid":           "what errors.Is tells a parse failure by",
		"shared/org.ParsePrivateKey":       "the counterpart of NewPrivateKey",
		"shared/smart.AuthorizeURL":        "the protocol's own step, which Portal adapts to the domains",
		"shared/smart.Challenge":           "the protocol's own step, which Portal adapts to the domains",
		"shared/smart.NewClient":           "the protocol's own step, which Portal adapts to the domains",
		"shared/smart.NewReader":           "the protocol's own step, which Portal adapts to the domains",
		"shared/smart.NewVerifier":         "the protocol's own step, which Portal adapts to the domains",
	}
}
