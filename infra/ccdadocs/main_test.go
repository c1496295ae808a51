package main

import (
	"os"
	"strings"
	"testing"
)

const (
	repository = "../.."

	begin = "<!-- table "
	end   = "<!-- end -->"
)

func TestDocumentTablesAreUpToDate(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(repository + "/docs/reference/ccda-tables.md")
	if err != nil {
		t.Fatal(err)
	}
	renewed, err := renew(text, repository)
	if err != nil {
		t.Fatal(err)
	}
	if string(renewed) != string(text) {
		t.Error("make docs writes other tables into docs/reference/ccda-tables.md")
	}
	for _, name := range []string{
		"our resources", "public resources", "our omissions", "public omissions", "templates",
		"public templates without a rule",
	} {
		if !strings.Contains(string(text), begin+name+" -->\n|") &&
			!strings.Contains(string(text), begin+name+" -->\nNothing") {
			t.Errorf("docs/reference/ccda-tables.md has no table of %s", name)
		}
	}
}

// TestRuleTemplatesAreTested checks that each rule has a template that occurs in a test or in a project document.
func TestRuleTemplatesAreTested(t *testing.T) {
	t.Parallel()
	all, err := rules(repository)
	if err != nil || len(all) == 0 {
		t.Fatalf("%d rules, %v", len(all), err)
	}
	for _, r := range all {
		if len(r.tested) == 0 {
			t.Errorf("no test has %s, %v", r.name, r.roots)
		}
	}
}

func TestRenewFailsWhenTableGenerationFails(t *testing.T) {
	t.Parallel()
	for _, text := range []string{begin + "gone -->\n" + end, begin + "templates -->\n| a |\n", begin + "templates"} {
		if _, err := renew([]byte(text), repository); err == nil {
			t.Errorf("%q was renewed", text)
		}
	}
}

// TestRenewKeepsTablesWhenDocumentsAreMissing covers machines without the public documents.
func TestRenewKeepsTablesWhenDocumentsAreMissing(t *testing.T) {
	t.Parallel()
	text := "a\n" + begin + "public resources -->\n| kept |\n" + end + "\nb\n"
	if renewed, err := renew([]byte(text), t.TempDir()); err != nil || string(renewed) != text {
		t.Errorf("%q, %v", renewed, err)
	}
}
