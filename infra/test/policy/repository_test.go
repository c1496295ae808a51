package policy_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"recordbridge/infra/deploy/samconfig"
	"recordbridge/infra/local/template"
	"recordbridge/infra/test/policy"
)

const root = "../../.."

// Inputs of the rules, each read only once.
var (
	tree = sync.OnceValues(func() (*policy.Tree, error) { return policy.ReadTree(os.DirFS(root)) })

	// packages does not use a test's context because its result outlives the first test that calls it.
	packages = sync.OnceValues(func() ([]policy.Package, error) {
		return policy.List(context.Background(), root)
	})

	stack = sync.OnceValues(func() (*policy.Stack, error) { return readStack(root + "/template.yaml") })

	resolved = sync.OnceValues(func() (*template.Template,
		error,
	) {
		return template.Load(root+"/template.yaml", everything())
	})
)

func readStack(file string) (*policy.Stack, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return policy.ParseStack(text)
}

// everything returns template options that include every function, including the sandbox.
func everything() template.Options {
	return template.Options{
		Parameters: map[string]string{"EnableSandbox": "true"}, BaseURL: "http://127.0.0.1:4566", StackName: "recordbridge",
	}
}

// rules maps each rule's description to a function that runs the rule.
type rules map[string]func() []policy.Finding

func TestRepositoryFollowsPolicy(t *testing.T) {
	t.Parallel()
	source, listed, s, functions := need(t, tree), need(t, packages), need(t, stack), need(t, resolved).Functions
	for _, group := range []rules{
		correspondence(source, s, functions), structure(source, listed, functions), documents(source), access(s, source),
		operation(s, source),
	} {
		for name, rule := range group {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for _, f := range rule() {
					t.Error(f)
				}
			})
		}
	}
}

// correspondence returns the rules that compare files. Function folders, template resources and OpenAPI routes must
// match. Tables and error codes must be documented, and functions must read the environment variables that the template
// sets.
func correspondence(source *policy.Tree, s *policy.Stack, functions []template.Function) rules {
	architecture, api := source.Text("docs/develop/architecture.md"), source.Text("docs/openapi.yaml")
	records := source.Text("shared/ui/dashboard/api/records.ts")
	return rules{
		"a function's folder is in the template":  func() []policy.Finding { return policy.Folders(source, functions) },
		"a function's routes are in the OpenAPI":  func() []policy.Finding { return policy.Routes(functions, api) },
		"a room names its packages":               func() []policy.Finding { return policy.Rooms(source) },
		"a table is a row in docs":                func() []policy.Finding { return policy.TableRows(s, architecture) },
		"a function reads what the template sets": func() []policy.Finding { return policy.Environments(source, functions) },
		"what the dashboard reads is described":   func() []policy.Finding { return policy.Records(records, api) },
		"error codes are documented":              func() []policy.Finding { return policy.ErrorCodes(source) },
	}
}

func structure(source *policy.Tree, listed []policy.Package, functions []template.Function) rules {
	return rules{
		"the domain knows no AWS and no HTTP": func() []policy.Finding { return policy.Domain(listed) },
		"no function imports another":         func() []policy.Finding { return policy.Boundaries(listed) },
		"lambdas link no test code":           func() []policy.Finding { return policy.Lambdas(listed) },
		"lambdas link the clients they use":   func() []policy.Finding { return policy.Clients(listed, functions) },
		"tables are constant":                 func() []policy.Finding { return policy.ConstantTables(source) },
		"no secret is opened into a text":     func() []policy.Finding { return policy.Revealed(source) },
	}
}

// documents returns the rules for documents, citations and public error messages.
func documents(source *policy.Tree) rules {
	return rules{
		"the version is the changelog's": func() []policy.Finding {
			return policy.Version(source.Text(".version"), source.Text("CHANGELOG.md"))
		},
		"words are plain":                func() []policy.Finding { return policy.Words(source) },
		"prose keeps to its columns":     func() []policy.Finding { return policy.LongLines(source) },
		"pages are short":                func() []policy.Finding { return policy.Pages(source) },
		"examples are short":             func() []policy.Finding { return policy.Examples(source) },
		"selected tests exist":           func() []policy.Finding { return policy.Selections(source) },
		"commands in documents exist":    func() []policy.Finding { return policy.Commands(source) },
		"decisions have date and status": func() []policy.Finding { return policy.Decisions(source) },
		"links lead somewhere":           func() []policy.Finding { return policy.Links(source) },
		"documents named in code exist":  func() []policy.Finding { return policy.Mentions(source) },
		"compatibility rows have tests":  func() []policy.Finding { return policy.Compatibility(source) },
		"safeguards have tests":          func() []policy.Finding { return policy.Evidence(source) },
		"citations can be looked up":     func() []policy.Finding { return policy.Citations(source) },
		"public texts are short ASCII":   func() []policy.Finding { return policy.PublicTexts(source) },
	}
}

func access(s *policy.Stack, source *policy.Tree) rules {
	return rules{
		"each function has a role of its own":      func() []policy.Finding { return policy.Roles(s) },
		"the API invokes functions with routes":    func() []policy.Finding { return policy.Gateway(s) },
		"permissions name what they give":          func() []policy.Finding { return policy.Wildcards(s) },
		"permissions are on the template's things": func() []policy.Finding { return policy.OutsideTemplate(s) },
		"each secret is for its functions":         func() []policy.Finding { return policy.Reserved(s, reserved()) },
		"SECURITY.md lists who may open what": func() []policy.Finding {
			return policy.Custody(s,
				source.Text("SECURITY.md"))
		},
	}
}

// reservedInProd is the ReservedConcurrency of prod in samconfig.toml.
const reservedInProd = 50

func production(t *testing.T) []template.Function {
	t.Helper()
	prod, err := template.Load(root+"/template.yaml", template.Options{
		Parameters: map[string]string{"ReservedConcurrency": strconv.Itoa(reservedInProd)}, BaseURL: "http://127.0.0.1:1",
		StackName: "s",
	})
	if err != nil {
		t.Fatal(err)
	}
	return prod.Functions
}

func TestFiguresInDocumentsFollowTemplate(t *testing.T) {
	t.Parallel()
	for _, f := range policy.Figures(need(t, tree), need(t, stack), production(t), reservedInProd) {
		t.Error(f)
	}
	config, err := os.ReadFile(root + "/samconfig.toml")
	if err != nil || !strings.Contains(samconfig.Setting(string(config), "prod", "parameter_overrides"),
		fmt.Sprintf("ReservedConcurrency=%d", reservedInProd)) {
		t.Errorf("%v, samconfig.toml doesn't reserve %d", err, reservedInProd)
	}
}

// operation returns the rules for retention, limits and monitoring.
func operation(s *policy.Stack, source *policy.Tree) rules {
	return rules{
		"a release reaches everything":   func() []policy.Finding { return policy.Releases(s, patients()) },
		"queues outlast their consumers": func() []policy.Finding { return policy.Queues(s) },
		"the stack keeps its budget":     func() []policy.Finding { return policy.Budget(s) },
		"every alarm says what to do":    func() []policy.Finding { return policy.Alarms(s, source) },
		"every alarm has one row": func() []policy.Finding {
			return policy.AlarmRows(s,
				source.Text("docs/operate/alarms.md"))
		},
		"every metric is sent":           func() []policy.Finding { return policy.Metrics(s) },
		"everything is watched":          func() []policy.Finding { return policy.Watched(s) },
		"installs are pinned by content": func() []policy.Finding { return policy.Installs(source) },
	}
}

// need returns the result of read, or fails the test if read fails.
func need[T any](t *testing.T, read func() (T, error)) T {
	t.Helper()
	v, err := read()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// transformed is the environment variable that holds the path of the SAM-transformed template. The variable is set if
// .ci/run has transformed the template.
const transformed = "RECORDBRIDGE_TRANSFORMED"

func TestSAMAddsNoPermission(t *testing.T) {
	t.Parallel()
	file := os.Getenv(transformed)
	if file == "" {
		t.Skip("run .ci/transform template.yaml .ci/template/tested.json, then set " + transformed +
			" to a file with what it prints: SAM is not needed for the other tests")
	}
	s, err := readStack(file)
	if err != nil {
		t.Fatal(err)
	}
	added, err := policy.Transformed(need(t, resolved).Functions, file, everything())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range slices.Concat(
		added, policy.Roles(s), policy.Wildcards(s), policy.OutsideTemplate(s), policy.Reserved(s, reserved())) {
		t.Error(f)
	}
}

// built is the environment variable that .ci/run sets if `make build` ran before the tests.
const built = "RECORDBRIDGE_BUILT"

// TestTopLevelContainsNoBinary checks that the repository's top-level folder does not contain a binary. The go build
// command writes binaries to the top level, where they could be committed by accident. The test is not one of the
// policy rules because the rules' file tree excludes binaries.
func TestTopLevelContainsNoBinary(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			t.Errorf("%s is executable: remove it", entry.Name())
		}
	}
}

func TestBinariesOfRepositoryAreSmall(t *testing.T) {
	t.Parallel()
	if os.Getenv(built) == "" {
		t.Skip("make build, then set " + built + "=1: binaries are measured where they were just built")
	}
	found, err := policy.Binaries(os.DirFS(root), need(t, resolved).Functions)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// patients returns the patient-facing functions that help to create a connection. If one of these functions fails, a
// sign-in is lost.
func patients() []string {
	return []string{
		"ConnectFunction", "ReconnectFunction", "CreateAttemptFunction", "GetAttemptFunction",
		"CallbackFunction",
	}
}

// reserved maps each token, key, secret and file to the functions that may access it (docs/develop/architecture.md,
// "Keys and secrets"). To give another function access, add the function here.
func reserved() map[string][]string {
	tokens := []string{
		"CallbackFunction", "ExportWorkerFunction", "RefreshWorkerFunction", "DeleteConnectionFunction", "EraserFunction",
		"RevokeVaultFunction", "TefcaWorkerFunction",
	}
	signers := []string{
		"CallbackFunction", "ExportWorkerFunction", "RefreshWorkerFunction", "JwksFunction",
		"IdentityFunction", "IdentityCallbackFunction",
	}
	return map[string][]string{
		"TokensTable": tokens,
		"TokensKey":   append(slices.Clone(tokens), "IdentityCallbackFunction"), // encrypts the verified identity
		"SecretsKey": {
			"DashboardDeliveriesFunction", "DashboardWebhooksFunction", "ConnectFunction", "ReconnectFunction",
			"CallbackFunction", "WebhookWorkerFunction",
			// Functions that use client secrets.
			"ExportWorkerFunction", "RefreshWorkerFunction", "IdentityFunction", "IdentityCallbackFunction",
			"DashboardSessionFunction", // for authenticator secrets
		},
		"ClientKeyRsa1": signers, "ClientKeyEc1": signers, "ClientKeyRsa2": signers, "ClientKeyEc2": signers,
		"ManifestKey1": {"ExportWorkerFunction", "JwksFunction"}, "ManifestKey2": {"ExportWorkerFunction", "JwksFunction"},
		"FilesKey": {"ExportWorkerFunction", "DownloadExportFunction", "TefcaWorkerFunction"},
		"KeyHashingSecret": {
			"DashboardConnectionsFunction", "DashboardCredentialsFunction", "DashboardSessionFunction", "CallbackFunction",
			"CreateExportFunction", "GetExportFunction", "DownloadExportFunction", "GetConnectionFunction",
			"DeleteConnectionFunction", "DeleteExportFilesFunction", "ListEventsFunction", "ExportCatalogFunction",
			"RevokeVaultFunction", "TefcaWorkerFunction",
		},
		"CursorSecret":   {"ListEventsFunction", "SearchCatalogFunction"},
		"TefcaSecretArn": {"TefcaWorkerFunction"},
		"DownloadSecret": {
			"GetExportFunction", "DownloadExportFunction", "ExportWorkerFunction", "ListEventsFunction",
			"WebhookWorkerFunction", "ExportCatalogFunction",
		},
		"ExportsBucket": {
			"ExportWorkerFunction", "DownloadExportFunction", "DeleteExportFilesFunction", "SweeperFunction",
			"EraserFunction",
		},
		"DocumentsBucket": {
			"ExportWorkerFunction", "DeleteConnectionFunction", "RefreshWorkerFunction", "EraserFunction",
			"RevokeVaultFunction", "TefcaWorkerFunction",
		},
		"WidgetBucket": {"WebFunction"},
		// The operator's command line also uses the audit table.
		"AuditTable": {
			"DashboardSessionFunction", "DashboardOrgFunction", "DashboardConnectionsFunction",
			"DashboardDeliveriesFunction", "DashboardWebhooksFunction", "DashboardCredentialsFunction",
			"EraserFunction", "DashboardMembersFunction",
		},
		"AlarmKey": nil,
	}
}
