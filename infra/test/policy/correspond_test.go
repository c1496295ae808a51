package policy_test

import (
	"testing"

	"recordbridge/infra/local/template"
	"recordbridge/infra/test/policy"
)

func TestFoldersCheckFindsMismatchWithTemplate(t *testing.T) {
	t.Parallel()
	tree := files(t, map[string]string{
		"functions/whole/bootstrap/main.go": "package main", "functions/whole/wiring/wiring.go": "package wiring",
		"functions/half/half.go": "package half",
	})
	got := policy.Folders(tree, []template.Function{
		{LogicalID: "WholeFunction", Folder: "whole"}, {LogicalID: "GoneFunction", Folder: "gone"},
	})
	finds(t, got,
		"GoneFunction: there is no folder functions/gone",
		"functions/half: bootstrap/main.go is missing",
		"functions/half: template.yaml has no such function",
		"functions/half: wiring is missing",
	)
}

func TestRoutesCheckFindsMismatchWithOpenAPI(t *testing.T) {
	t.Parallel()
	functions := []template.Function{
		{Folder: "getthing", Routes: []template.Route{{Method: "GET", Path: "/thing"}, {Method: "ANY", Path: "/thing"}}},
		{Folder: "putthing", Routes: []template.Route{{Method: "PUT", Path: "/thing"}, {Method: "GET", Path: "/hidden"}}},
		{Folder: "getsome", Routes: []template.Route{{Method: "GET", Path: "/some"}}},
		{Folder: "sandbox", Routes: []template.Route{{Method: "ANY", Path: "/sandbox/{proxy+}"}}},
	}
	got := policy.Routes(functions, []byte(`
paths:
  /thing:
    parameters: []
    get: {x-function: getthing}
    put: {x-function: getthing}
    delete: {x-function: getthing}
  /some:
    get: {x-function: getsome}
    patch: {x-function: getsome}
  /sandbox/{proxy}:
    get: {x-function: sandbox}
    post: {x-function: sandbox}
  /never:
    get: {x-function: sandbox}
`))
	finds(t, got,
		"docs/openapi.yaml: GET /never is not in template.yaml",
		"docs/openapi.yaml: PATCH /some is not in template.yaml",
		`docs/openapi.yaml: PUT /thing is served by putthing, but x-function says "getthing"`,
		"template.yaml: GET /hidden is not in docs/openapi.yaml",
	)
}

func TestRoutesCheckFindsInvalidYAML(t *testing.T) {
	t.Parallel()
	if got := policy.Routes(nil, []byte("paths: [")); len(got) != 1 {
		t.Errorf("got %v, want one finding", got)
	}
}

func TestEnvironmentsCheckFindsMismatchWithTemplate(t *testing.T) {
	t.Parallel()
	tree := files(t, map[string]string{
		"functions/a/wiring/wiring.go": "package wiring\n\ntype Environment struct {\n" +
			"\tTable string `env:\"TABLE,required\"`\n\tMissing string `env:\"MISSING\"`\n" +
			"\tEmpty string `env:\"EMPTY,required\"`\n\tOptional string `env:\"OPTIONAL\"`\n" +
			"\tOther string `json:\"other\"`\n}\n",
		"functions/b/wiring/wiring.go": "package wiring\n\nimport parts \"recordbridge/shared/wiring/edge\"\n\n" +
			"type Environment struct {\n\tparts.Keyed\n\tStray string `env:\"STRAY\"`\n}\n\ntype other struct {\n\tA string " +
			"`env:\"A\"`\n}\n",
		"shared/wiring/edge/edge.go": "package edge\n\ntype Limits struct {\n\tQuota int `env:\"QUOTA,required\"`\n}\n",
		"shared/wiring/edge/keyed.go": "package edge\n\ntype Keyed struct {\n\tLimits\n\tHashing string " +
			"`env:\"HASHING\"`\n}\n",
	})
	got := policy.Environments(tree, []template.Function{
		{
			LogicalID: "AFunction", Folder: "a",
			Environment: map[string]string{"TABLE": "t", "EMPTY": "", "OPTIONAL": "", "STRAY": "s"},
		},
		{LogicalID: "BFunction", Folder: "b", Environment: map[string]string{"STRAY": "s", "QUOTA": ""}},
	})
	finds(t, got,
		"AFunction: template.yaml sets STRAY, which the function does not read",
		"AFunction: the function reads MISSING, which template.yaml does not set",
		"AFunction: the function requires EMPTY, which is empty by default",
		"BFunction: the function reads HASHING, which template.yaml does not set",
		"BFunction: the function requires QUOTA, which is empty by default",
	)
}
