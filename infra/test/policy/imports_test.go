package policy_test

import (
	"testing"

	"recordbridge/infra/local/template"
	"recordbridge/infra/test/policy"
)

// imports returns a package whose only dependencies are the given direct imports.
func imports(path string, others ...string) policy.Package {
	return policy.Package{ImportPath: path, Imports: others, Deps: others}
}

func TestDomainCheckFindsIndirectTransport(t *testing.T) {
	t.Parallel()
	through := policy.Package{
		ImportPath: "recordbridge/shared/webhook", Imports: []string{"recordbridge/shared/words/ids"},
		Deps: []string{"recordbridge/shared/words/ids", "net/http", "net/url"},
	}
	finds(t, policy.Domain([]policy.Package{
		through,
		imports("recordbridge/shared/words/org", "github.com/aws/smithy-go", "net/netip"),
		imports("recordbridge/shared/connect/tokens", "recordbridge/shared/words/logx"),
		imports("recordbridge/shared/export", "recordbridge/shared/words/logx"),
		imports("recordbridge/shared/adapters/smart", "net/http"),
		imports("recordbridge/shared/tefca/ihe", "net/http"),
		imports("recordbridge/shared/tefca/attempt", "net/http"),
	}),
		"recordbridge/shared/connect/tokens: links recordbridge/shared/words/logx: code that cannot log cannot leak",
		"recordbridge/shared/tefca/attempt: links net/http: the domain knows no HTTP",
		"recordbridge/shared/webhook: links net/http: the domain knows no HTTP",
		"recordbridge/shared/words/org: links github.com/aws/smithy-go: the domain knows no AWS",
	)
}

func TestBoundariesCheckFindsImportOfOtherFunction(t *testing.T) {
	t.Parallel()
	finds(t, policy.Boundaries([]policy.Package{
		imports("recordbridge/functions/a/wiring", "recordbridge/functions/a", "recordbridge/shared/adapters/store"),
		imports("recordbridge/functions/a/part", "recordbridge/functions/a"),
		imports("recordbridge/functions/a", "recordbridge/functions/b"),
		imports("recordbridge/infra/local", "recordbridge/functions/a"),
	}),
		"recordbridge/functions/a: imports recordbridge/functions/b: a function knows no other",
	)
}

func TestClientsCheckFindsUnneededSDKClients(t *testing.T) {
	t.Parallel()
	const service = "github.com/aws/aws-sdk-go-v2/service/"
	finds(t, policy.Clients([]policy.Package{
		imports("recordbridge/functions/a/bootstrap", service+"dynamodb", service+"dynamodb/types", service+"sqs",
			service+"sts",
			"recordbridge/shared/platform/config/awsparam", "recordbridge/shared/platform/config/awssecret"),
		imports("recordbridge/functions/a/wiring", service+"kms"),
	}, []template.Function{
		{LogicalID: "AFunction", Folder: "a", Statements: []template.Statement{
			{Actions: []string{"sqs:SendMessage"}},
			{Actions: []string{"s3:GetObject"}},
			{Actions: []string{"ssm:GetParameter"}},
		}},
		{LogicalID: "GoneFunction", Folder: "gone"},
	}),
		"AFunction: links the client of dynamodb, which it may not call",
		"AFunction: links the client of secretsmanager, which it may not call",
	)
}

func TestLambdasCheckFindsImportsOfEmulatorAndTestCode(t *testing.T) {
	t.Parallel()
	const bootstrap = "recordbridge/functions/a/bootstrap"
	finds(t, policy.Lambdas([]policy.Package{
		imports("recordbridge/functions/b/bootstrap", "net/http", "recordbridge/shared/adapters/store"),
		imports("recordbridge/infra/local", "testing", "html/template"),
		imports(bootstrap, "testing", "testing/fstest", "net/http/httptest", "html/template", "text/template",
			"recordbridge/infra/local/aws", "recordbridge/infra/local/faults", "recordbridge/infra/testkit/clock"),
	}),
		bootstrap+": links html/template",
		bootstrap+": links net/http/httptest",
		bootstrap+": links recordbridge/infra/local/aws",
		bootstrap+": links recordbridge/infra/local/faults",
		bootstrap+": links recordbridge/infra/testkit/clock",
		bootstrap+": links testing",
		bootstrap+": links testing/fstest",
		bootstrap+": links text/template",
	)
}

func TestListIncludesEveryBootstrapBinary(t *testing.T) {
	t.Parallel()
	linked := map[string]int{}
	for _, p := range need(t, packages) {
		linked[p.ImportPath] = len(p.Deps)
	}
	for _, folder := range need(t, tree).Functions() {
		if name := "recordbridge/functions/" + folder + "/bootstrap"; linked[name] < 100 {
			t.Errorf("%s links %d packages, too few to be true", name, linked[name])
		}
	}
}

func TestListFailsOutsideModule(t *testing.T) {
	t.Parallel()
	if got, err := policy.List(t.Context(), t.TempDir()); err == nil {
		t.Errorf("got %v, want an error", got)
	}
}

func TestConstantTablesCheckFindsChangedTable(t *testing.T) {
	t.Parallel()
	finds(t, policy.ConstantTables(files(t, map[string]string{
		"a/a.go": "package a\n\nvar (\n\tcodes = map[string]int{\"x\": 1}\n\tnames = []string{\"b\", \"a\"}\n)\n",
		"a/b.go": `package a

func reads() { names := append(names, codes["x"]); _ = names }
func sets() { codes["y"] = 2 }
func counts() { codes["x"]++ }
func replaces() { names = nil }
func sorts() { slices.Sort(names) }
func removes() { delete(codes, "x") }
`,
		"b/b.go": "package b\n\nfunc f() { codes := map[string]int{}; codes[\"x\"] = 1 }\n",
	})),
		"a/b.go:4: changes the table codes",
		"a/b.go:5: changes the table codes",
		"a/b.go:6: changes the table names",
		"a/b.go:7: changes the table names",
		"a/b.go:8: changes the table codes",
	)
}
