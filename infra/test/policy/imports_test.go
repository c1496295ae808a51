package policy_test

import (
	"testing"

	"recordbridge/infra/local/template"
	"recordbridge/infra/test/policy"
)

// imports makes a package that imports others directly; they are all it links.
func imports(path string, others ...string) policy.Package {
	return policy.Package{ImportPath: path, Imports: others, Deps: others}
}

func TestAPackageImportsNoneAboveIt(t *testing.T) {
	t.Parallel()
	finds(t, policy.Layers([]policy.Package{
		imports("recordbridge/shared/fault", "errors"),
		imports("recordbridge/shared/flow", "recordbridge/shared/connection", "recordbridge/shared/fault"),
		imports("recordbridge/shared/smart", "recordbridge/shared/flow"),
		imports("recordbridge/shared/config/awssecret", "recordbridge/shared/secret"),
		imports("recordbridge/shared/ids", "recordbridge/shared/org"),
		imports("recordbridge/shared/export", "recordbridge/shared/smart", "recordbridge/shared/newcomer"),
		imports("recordbridge/shared/newcomer"),
		imports("recordbridge/shared/testkit", "recordbridge/shared/httpapi"),
		imports("recordbridge/shared/operator", "recordbridge/shared/smart/platform", "recordbridge/shared/smart/survey", "recordbridge/shared/store"),
		imports("recordbridge/shared/smart/survey", "recordbridge/shared/operator"),
	}),
		"recordbridge/shared/export: imports recordbridge/shared/newcomer, which is above it",
		"recordbridge/shared/export: imports recordbridge/shared/smart, which is above it",
		"recordbridge/shared/ids: imports recordbridge/shared/org, which is above it",
		"recordbridge/shared/newcomer: is in no layer of docs/architecture.md",
		"recordbridge/shared/operator: imports recordbridge/shared/smart/survey, which is above it",
		"recordbridge/shared/operator: imports recordbridge/shared/store, which is above it",
	)
}

func TestTheDomainLinksNoTransportEvenThroughOthers(t *testing.T) {
	t.Parallel()
	through := policy.Package{
		ImportPath: "recordbridge/shared/webhook", Imports: []string{"recordbridge/shared/ids"},
		Deps: []string{"recordbridge/shared/ids", "net/http", "net/url"},
	}
	finds(t, policy.Domain([]policy.Package{
		through,
		imports("recordbridge/shared/org", "github.com/aws/smithy-go", "net/netip"),
		imports("recordbridge/shared/tokens", "recordbridge/shared/logx"),
		imports("recordbridge/shared/export", "recordbridge/shared/logx"),
		imports("recordbridge/shared/smart", "net/http"),
	}),
		"recordbridge/shared/org: links github.com/aws/smithy-go: the domain knows no AWS",
		"recordbridge/shared/tokens: links recordbridge/shared/logx: what cannot log cannot leak",
		"recordbridge/shared/webhook: links net/http: the domain knows no transport",
	)
}

func TestOnlyWiringChoosesAdapters(t *testing.T) {
	t.Parallel()
	finds(t, policy.Boundaries([]policy.Package{
		imports("recordbridge/functions/a/wiring", "recordbridge/functions/a", "recordbridge/shared/store", "github.com/aws/aws-sdk-go-v2/aws"),
		imports("recordbridge/functions/a/wiring", "recordbridge/shared/wiring/edge", "recordbridge/shared/config/awsparam"),
		imports("recordbridge/functions/a/bootstrap", "recordbridge/functions/a/wiring", "recordbridge/shared/wiring/outbound", "recordbridge/shared/lambdarun"),
		imports("recordbridge/shared/wiring/edge", "recordbridge/shared/store", "recordbridge/shared/config/awssecret", "github.com/aws/aws-sdk-go-v2/aws"),
		imports("recordbridge/shared/lambdarun", "recordbridge/shared/config", "recordbridge/shared/config/awssecret"),
		imports("recordbridge/functions/b/bootstrap", "recordbridge/shared/config", "recordbridge/shared/store"),
		imports("recordbridge/functions/b", "recordbridge/shared/wiring/edge"),
		imports("recordbridge/infra/local", "recordbridge/functions/a", "recordbridge/shared/store"),
		imports("recordbridge/shared/store/storetest", "recordbridge/shared/store"),
		imports("recordbridge/shared/lambdarun", "github.com/aws/aws-lambda-go/lambda"),
		imports("recordbridge/functions/a", "recordbridge/shared/store", "github.com/aws/smithy-go", "recordbridge/functions/b"),
		imports("recordbridge/functions/a/part", "recordbridge/shared/config", "recordbridge/functions/a"),
		imports("recordbridge/shared/httpapi", "recordbridge/shared/queue", "recordbridge/functions/a"),
		imports("recordbridge/shared/blob", "recordbridge/shared/store", "recordbridge/infra/local/aws"),
		imports("recordbridge/shared/smart", "github.com/aws/aws-sdk-go-v2/aws"),
	}),
		"recordbridge/functions/a/part: imports recordbridge/shared/config: only wiring picks an adapter",
		"recordbridge/functions/a: imports github.com/aws/smithy-go: only wiring and adapters touch AWS",
		"recordbridge/functions/a: imports recordbridge/functions/b: a function knows no other",
		"recordbridge/functions/a: imports recordbridge/shared/store: only wiring picks an adapter",
		"recordbridge/functions/b/bootstrap: imports recordbridge/shared/config: only wiring picks an adapter",
		"recordbridge/functions/b/bootstrap: imports recordbridge/shared/store: only wiring picks an adapter",
		"recordbridge/functions/b: imports recordbridge/shared/wiring/edge: only wiring picks an adapter",
		"recordbridge/shared/blob: imports recordbridge/infra/local/aws: infra is for laptops and tests",
		"recordbridge/shared/blob: imports recordbridge/shared/store: only wiring picks an adapter",
		"recordbridge/shared/httpapi: imports recordbridge/functions/a: nothing shared knows a function",
		"recordbridge/shared/httpapi: imports recordbridge/shared/queue: only wiring picks an adapter",
		"recordbridge/shared/lambdarun: imports recordbridge/shared/config/awssecret: only wiring picks an adapter",
		"recordbridge/shared/smart: imports github.com/aws/aws-sdk-go-v2/aws: only wiring and adapters touch AWS",
	)
}

func TestALambdaLinksTheClientsOfServicesThatItMayCall(t *testing.T) {
	t.Parallel()
	const service = "github.com/aws/aws-sdk-go-v2/service/"
	finds(t, policy.Clients([]policy.Package{
		imports("recordbridge/functions/a/bootstrap", service+"dynamodb", service+"dynamodb/types", service+"sqs", service+"sts",
			"recordbridge/shared/config/awsparam", "recordbridge/shared/config/awssecret"),
		imports("recordbridge/functions/a/wiring", service+"kms"),
	}, []template.Function{
		{LogicalID: "AFunction", Folder: "a", Statements: []template.Statement{{Actions: []string{"sqs:SendMessage"}}, {Actions: []string{"s3:GetObject"}}, {Actions: []string{"ssm:GetParameter"}}}},
		{LogicalID: "GoneFunction", Folder: "gone"},
	}),
		"AFunction: links the client of dynamodb, which it may not call",
		"AFunction: links the client of secretsmanager, which it may not call",
	)
}

func TestALambdaLinksNeitherEmulatorNorTestCode(t *testing.T) {
	t.Parallel()
	const bootstrap = "recordbridge/functions/a/bootstrap"
	finds(t, policy.Lambdas([]policy.Package{
		imports("recordbridge/functions/b/bootstrap", "net/http", "recordbridge/shared/store"),
		imports("recordbridge/infra/local", "testing", "html/template"),
		imports(bootstrap, "testing", "testing/fstest", "net/http/httptest", "html/template", "text/template",
			"recordbridge/infra/local/aws", "recordbridge/infra/local/faults", "recordbridge/shared/testkit/clock", "recordbridge/shared/store/storetest"),
	}),
		bootstrap+": links html/template",
		bootstrap+": links net/http/httptest",
		bootstrap+": links recordbridge/infra/local/aws",
		bootstrap+": links recordbridge/infra/local/faults",
		bootstrap+": links recordbridge/shared/store/storetest",
		bootstrap+": links recordbridge/shared/testkit/clock",
		bootstrap+": links testing",
		bootstrap+": links testing/fstest",
		bootstrap+": links text/template",
	)
}

func TestTheGoCommandListsEveryBootstrapWithWhatItLinks(t *testing.T) {
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

func TestAListOfNoModuleIsAnError(t *testing.T) {
	t.Parallel()
	if got, err := policy.List(t.Context(), t.TempDir()); err == nil {
		t.Errorf("got %v, want an error", got)
	}
}
