package main

import (
	"os"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
)

const repository = "../.."

func TestFunctionTableInArchitectureIsCurrent(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(repository + "/docs/develop/architecture.md")
	expect.NoError(t, err)
	renewed, err := renew(text, repository)
	expect.NoError(t, err)
	if string(renewed) != string(text) {
		t.Error("docs/develop/architecture.md is not what make docs writes")
	}
}

func TestFunctionTableNamesRoutesCodeAndPermissions(t *testing.T) {
	t.Parallel()
	table, err := functions(repository)
	expect.NoError(t, err)
	folders, err := os.ReadDir(repository + "/functions")
	expect.NoError(t, err)
	for _, f := range folders {
		if f.IsDir() && !strings.Contains(table, "| ["+f.Name()+"](../../functions/"+f.Name()+") |") {
			t.Errorf("the table has no row for %s", f.Name())
		}
	}
	for _, want := range []string{
		"| GET /bridge/fhir/ehi-export/{taskId} |",         // the OpenAPI method, not the template's ANY
		"| ExportQueue |", "| every 15m |", "| every 1m |", // other triggers
		"[connect/flow/complete.go](../../shared/connect/flow/complete.go)",               // named by the handler
		"[manage/disconnect/disconnect.go](../../shared/manage/disconnect/disconnect.go)", // by a part that wirings share
		"Tokens read, put, delete", "TokensKey seal", "SES send",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table does not contain %q", want)
		}
	}
}
