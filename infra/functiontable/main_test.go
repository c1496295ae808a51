package main

import (
	"os"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
)

const repository = "../.."

func TestFunctionTableInDocumentIsUpToDate(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(repository + "/docs/develop/functions.md")
	expect.NoError(t, err)
	renewed, err := renew(text, repository)
	expect.NoError(t, err)
	if string(renewed) != string(text) {
		t.Error("docs/develop/functions.md is not what make docs writes")
	}
}

func TestFunctionTableContainsRoutesFilesAndPermissions(t *testing.T) {
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
		"| GET /bridge/fhir/ehi-export/{taskId} |",         // the method comes from OpenAPI; the template has ANY
		"| ExportQueue |", "| every 15m |", "| every 1m |", // triggers that are not routes
		"[connect/flow/complete.go](../../shared/connect/flow/complete.go)", // file of a function called by the handler
		// file used by a wiring package that several functions share
		"[manage/disconnect/disconnect.go](../../shared/manage/disconnect/disconnect.go)",
		"Tokens read, put, delete", "TokensKey seal", "SES send",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table does not contain %q", want)
		}
	}
}
