package policy_test

import (
	"strings"
	"testing"

	"recordbridge/infra/test/policy"
)

func TestErrorCodesCheckFindsInvalidAndUndocumentedCodes(t *testing.T) {
	t.Parallel()
	finds(t, policy.ErrorCodes(files(t, map[string]string{
		"shared/words/fault/fault.go": `package fault

type Kind string
type Code string

const Invalid Kind = "invalid"

const (
	CodeGood   Code = "svc_good"
	CodeAgain  Code = "svc_good"
	CodeForm   Code = "svc_Bad-Form"
	CodeBare   Code = "good"
	CodeHidden Code = "svc_hidden"
)
`,
		"docs/openapi.yaml": "enum: [svc_good, svc_unknown]\n# svc_unknown",
		"template.yaml":     `{"error":"svc_other"}`,
	})),
		"docs/openapi.yaml: svc_unknown is not a code of shared/words/fault",
		"shared/words/fault/fault.go:10: svc_good is given twice",
		`shared/words/fault/fault.go:11: "svc_Bad-Form" is not of the form svc_words`,
		`shared/words/fault/fault.go:12: "good" is not of the form svc_words`,
		"shared/words/fault/fault.go:13: svc_hidden is not in docs/openapi.yaml",
		"template.yaml: svc_other is not a code of shared/words/fault",
	)
}

func TestPublicTextsCheckFindsLongAndNonASCIITexts(t *testing.T) {
	t.Parallel()
	finds(t, policy.PublicTexts(files(t, map[string]string{
		"shared/a/a.go": `package a

import "recordbridge/shared/words/fault"

func f(name string) {
	_ = fault.BadRequest("Give a name.")
	_ = fault.BadRequest("Organisation’s")
	_ = fault.Missing("There is no " + name + " here…")
	_ = fault.New(fault.Gone, fault.CodeExportExpired, "Long ` + strings.Repeat("x", 196) + `")
	_ = fault.New(fault.Gone, fault.CodeExportExpired, "Fits ` + strings.Repeat("x", 195) + `")
	_ = errors.New("a cause may say “anything”")
}
`,
		"shared/a/a_test.go": "package a\n\nimport \"recordbridge/shared/words/fault\"\n\nvar _ = " +
			"fault.Missing(\"é\")\n",
		"shared/words/fault/fault.go": "package fault\n\nvar _ = New(Internal, CodeServerError, \"line\\nbreak\")\n",
	})),
		`shared/a/a.go:7: the public text "Organisation’s" is not ASCII`,
		`shared/a/a.go:8: the public text " here…" is not ASCII`,
		"shared/a/a.go:9: a public text of 201 characters, more than 200",
		`shared/words/fault/fault.go:3: the public text "line\nbreak" is not ASCII`,
	)
}
