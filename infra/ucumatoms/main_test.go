package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRunGeneratesLookupFunctionsFromTable(t *testing.T) {
	t.Parallel()
	const table = `<?xml version="1.0" encoding="ascii"?>
<root xmlns="http://unitsofmeasure.org/ucum-essence" version="9.9" revision-date="2030-01-02">
<prefix Code="k" CODE="K"/><base-unit Code="m" CODE="M"/><unit Code="[x'y]" isMetric="yes"/>
<unit Code="''" isMetric="no"/></root>`
	file := filepath.Join(t.TempDir(), "essence.xml")
	if err := os.WriteFile(file, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run([]string{file}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"version 9.9 of 2030-01-02; DO NOT EDIT.", "\tcase \"k\":\n\t\treturn true\n",
		"\tcase \"m\", \"[x'y]\":\n\t\treturn true, true\n",
		"\tcase \"''\":\n\t\treturn true, false\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestRunRejectsFilesWithoutTable(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "other.xml")
	if err := os.WriteFile(file, []byte("<root/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {file}, {file + ".none"}} {
		if err := run(args, &bytes.Buffer{}); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}
